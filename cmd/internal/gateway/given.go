package gateway

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
)

// maxGiven is the number of URIs that are remembered.
const maxGiven = 4096

// given remembers which servers gave a client which URI in a result. Results are passed on unchanged, so that a link in one
// has the server's own URI, and the client reads it from that server, whatever the URI looks like.
type given struct {
	mu    sync.Mutex
	gifts map[givenKey][]gift
	order map[giver][]gift // oldest first
	count int
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
// results also resourceUri and ui/resourceUri.
func urisIn(raw json.RawMessage) (uris []string) {
	// The name of a member may have escapes: \u0075 is a u.
	if !slices.ContainsFunc([]string{`uri"`, `Uri"`, `\u004`, `\u005`, `\u006`, `\u007`}, func(mark string) bool { return bytes.Contains(raw, []byte(mark)) }) {
		return nil
	}
	var whole any
	if json.Unmarshal(raw, &whole) != nil {
		return nil
	}
	var visit func(value any)
	visit = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, v := range value {
				visit(v)
			}
		case map[string]any:
			for name, v := range value {
				if uri, ok := v.(string); ok && uri != "" && (name == "uri" || strings.HasSuffix(name, "resourceUri")) {
					uris = append(uris, uri)
				}
				visit(v)
			}
		}
	}
	visit(whole)
	return uris
}

// add remembers a gift. When there are too many, the oldest of the client's server that gave the most is forgotten, so that no
// server makes those of another forgotten.
func (g *given) add(holder any, one gift) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gifts == nil {
		g.gifts, g.order = map[givenKey][]gift{}, map[giver][]gift{}
	}
	key, from := givenKey{holder, normalized(one.uri)}, giver{holder, one.server}
	if slices.Contains(g.gifts[key], one) {
		return
	}
	if g.count == maxGiven {
		g.forget()
	}
	g.gifts[key] = append(g.gifts[key], one)
	g.order[from] = append(g.order[from], one)
	g.count++
}

// forget forgets one gift. g.mu is locked.
func (g *given) forget() {
	var most giver
	for from, gifts := range g.order {
		if len(gifts) > len(g.order[most]) {
			most = from
		}
	}
	oldest := g.order[most][0]
	if g.order[most] = g.order[most][1:]; len(g.order[most]) == 0 {
		delete(g.order, most)
	}
	key := givenKey{most.holder, normalized(oldest.uri)}
	if g.gifts[key] = slices.DeleteFunc(g.gifts[key], func(other gift) bool { return other == oldest }); len(g.gifts[key]) == 0 {
		delete(g.gifts, key)
	}
	g.count--
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
