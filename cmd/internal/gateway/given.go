package gateway

import (
	"bytes"
	"encoding/json"
	"sync"
)

// maxGiven is the number of URIs that are remembered.
const maxGiven = 4096

// given remembers which server gave a client which URI in a result. Results are passed on unchanged, so that a link in one
// has the server's own URI, and the client reads it from that server.
type given struct {
	mu      sync.Mutex
	servers map[givenKey]string // "": several
	order   []givenKey
}

type givenKey struct {
	holder any
	uri    string
}

// note notes the URIs in the content of a result.
func (g *given) note(holder any, server string, content []json.RawMessage) {
	for _, raw := range content {
		if !bytes.Contains(raw, []byte(`"uri"`)) {
			continue
		}
		var block struct {
			URI      string `json:"uri"`
			Resource struct {
				URI string `json:"uri"`
			} `json:"resource"`
		}
		if json.Unmarshal(raw, &block) != nil {
			continue
		}
		for _, uri := range []string{block.URI, block.Resource.URI} {
			if uri != "" {
				g.add(givenKey{holder, uri}, server)
			}
		}
	}
}

func (g *given) add(key givenKey, server string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if before, there := g.servers[key]; there {
		if before != server {
			g.servers[key] = ""
		}
		return
	}
	if len(g.order) == maxGiven {
		delete(g.servers, g.order[0])
		g.order = append(g.order[:0], g.order[1:]...)
	}
	g.servers[key] = server
	g.order = append(g.order, key)
}

// by returns the server that gave a client a URI. known is false if none did, server is "" if several did.
func (g *given) by(holder any, uri string) (server string, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	server, known = g.servers[givenKey{holder, uri}]
	return server, known
}
