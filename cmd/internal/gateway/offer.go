package gateway

import "encoding/json"

// catalog returns the catalog of what is known of the servers now.
func (g *Gateway) catalog() *catalog {
	g.mu.Lock()
	there, version := g.offered, g.version
	g.mu.Unlock()
	if there != nil {
		return there
	}
	c := &catalog{lists: map[string][]json.RawMessage{}, prompts: map[string]target{}, own: map[string][]string{}}
	for _, s := range g.servers {
		offer, _, _ := s.Offer()
		names := g.names(s.Name())
		for _, raw := range offer.Resources {
			c.add("resources/list", raw, "uri", func(uri string) string {
				c.listed(s.Name(), uri)
				return names.URI(uri)
			})
		}
		for _, d := range offer.Tools { // of a tool's user interface
			for _, uri := range urisIn(d.More["_meta"]) {
				c.listed(s.Name(), uri)
			}
		}
		room := maxTemplates
		for _, raw := range offer.Templates {
			c.add("resources/templates/list", raw, "uriTemplate", func(uri string) string {
				if owns(uri) && len(uri) <= min(room, maxTemplate) {
					room -= len(uri)
					c.shapes = append(c.shapes, shape{s.Name(), shapeOf(uri)})
				}
				return names.URI(uri)
			})
		}
		for _, raw := range offer.Prompts {
			c.add("prompts/list", raw, "name", func(name string) string {
				offered := names.Prompt(name)
				c.prompts[offered] = target{s.Name(), name}
				return offered
			})
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.version == version {
		g.offered = c
	}
	return c
}
