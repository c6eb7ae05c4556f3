package gateway

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// maxGiven is the number of URIs that are remembered. A long one counts once more for each KiB, and one of more than maxGivenURI
// bytes is not remembered.
const (
	maxGiven    = 4096
	maxGivenURI = 64 << 10
)

// given remembers which servers gave a client which URI in a result. Results are passed on unchanged, so that a link in one
// has the server's own URI, and the client reads it from that server, whatever the URI looks like.
type given struct {
	mu    sync.Mutex
	gifts map[givenKey][]gift
	order map[giver][]gift // oldest first
	sizes map[giver]int    // of what is in order
	size  int              // of all
}

// givenKey has a URI in a form that stays the same where a client normalizes the URI before it asks for it.
type givenKey struct {
	holder any
	uri    string
}

type giver struct {
	holder any
	server string
}

// gift is a URI as a server gave it.
type gift struct{ server, uri string }

func (g gift) size() int { return 1 + len(g.uri)>>10 }

// normalized returns one form of all spellings that a client may make of a URI, and of some more.
func normalized(uri string) string {
	if plain, err := url.PathUnescape(uri); err == nil {
		uri = plain
	}
	return path.Clean(strings.ToLower(uri))
}

// note notes the URIs in parts of a result.
func (g *given) note(holder any, server string, parts ...json.RawMessage) {
	for _, raw := range parts {
		for _, uri := range urisIn(raw) {
			g.add(holder, gift{server, uri})
		}
	}
}

// urisIn returns the URIs of resources in a value, however deep they are in it: members named uri, and in the _meta of tools and
// results also resourceUri and ui/resourceUri. A value of more than a million parts has none.
func urisIn(raw json.RawMessage) (uris []string) {
	// The name of a member may have escapes: \u0075 is a u.
	if !slices.ContainsFunc([]string{`uri"`, `Uri"`, `\u004`, `\u005`, `\u006`, `\u007`}, func(mark string) bool { return bytes.Contains(raw, []byte(mark)) }) {
		return nil
	}
	for _, v := range jsonspan.Find(raw) { // not decoded: a server's list of a million objects would take a gigabyte
		name, value := v.Name(raw), raw[v.Start:v.End]
		if value[0] == '"' && len(value) > 2 && (name == "uri" || strings.HasSuffix(name, "resourceUri")) {
			uris = append(uris, jsonspan.Unquote(value[1:len(value)-1]))
		}
	}
	return uris
}

// add remembers a gift. When there are too many, the oldest of the client's server that gave the most is forgotten, so that no
// server makes those of another forgotten.
func (g *given) add(holder any, one gift) {
	if len(one.uri) > maxGivenURI {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gifts == nil {
		g.gifts, g.order, g.sizes = map[givenKey][]gift{}, map[giver][]gift{}, map[giver]int{}
	}
	key, from := givenKey{holder, normalized(one.uri)}, giver{holder, one.server}
	if slices.Contains(g.gifts[key], one) {
		return
	}
	for g.size+one.size() > maxGiven {
		g.forget()
	}
	g.gifts[key] = append(g.gifts[key], one)
	g.order[from] = append(g.order[from], one)
	g.sizes[from] += one.size()
	g.size += one.size()
}

// forget forgets one gift. g.mu is locked.
func (g *given) forget() {
	var most giver
	for from, size := range g.sizes {
		if size > g.sizes[most] {
			most = from
		}
	}
	oldest := g.order[most][0]
	g.sizes[most] -= oldest.size()
	g.size -= oldest.size()
	if g.order[most] = g.order[most][1:]; len(g.order[most]) == 0 {
		delete(g.order, most)
		delete(g.sizes, most)
	}
	key := givenKey{most.holder, normalized(oldest.uri)}
	if g.gifts[key] = slices.DeleteFunc(g.gifts[key], func(other gift) bool { return other == oldest }); len(g.gifts[key]) == 0 {
		delete(g.gifts, key)
	}
}

// by returns the servers that gave a client a URI, or one in another spelling.
func (g *given) by(holder any, uri string) (servers []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	gifts := g.gifts[givenKey{holder, normalized(uri)}]
	for _, one := range gifts {
		if one.uri == uri {
			servers = append(servers, one.server)
		}
	}
	if len(servers) > 0 {
		return servers
	}
	for _, one := range gifts {
		if !slices.Contains(servers, one.server) {
			servers = append(servers, one.server)
		}
	}
	return servers
}
