package gateway

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// catalog lists the servers' features beside tools, under the names and URIs by which they are offered.
type catalog struct {
	lists   map[string][]json.RawMessage // by the method that lists them
	prompts map[string]target            // by offered name
	own     map[string][]string          // servers that list a resource, or name it in a tool's _meta, by its own URI
	shapes  []shape
}

// target is a prompt of a server.
type target struct{ server, name string }

// shape is a template of a server's own URIs.
type shape struct {
	server  string
	matches *regexp.Regexp
}

// listMembers are the members of the results of listing methods.
var listMembers = map[string]string{"resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts"}

// add adds an entry with its name or URI changed. An entry without one is left out, because nobody could ask for it.
func (c *catalog) add(method string, raw json.RawMessage, member string, change func(string) string) {
	var members map[string]json.RawMessage
	var name string
	if json.Unmarshal(raw, &members) != nil || json.Unmarshal(members[member], &name) != nil || name == "" {
		return
	}
	members[member] = encoded(change(name))
	c.lists[method] = append(c.lists[method], encoded(members))
}

// listed notes that a server has a resource under its own URI.
func (c *catalog) listed(server, uri string) {
	if !slices.Contains(c.own[uri], server) {
		c.own[uri] = append(c.own[uri], server)
	}
}

// list returns the result of a method that lists something.
func (c *catalog) list(method string) json.RawMessage {
	entries := c.lists[method]
	if entries == nil {
		entries = []json.RawMessage{}
	}
	return encoded(map[string]any{listMembers[method]: entries})
}

// owners returns the servers that have a resource under its own URI.
func (c *catalog) owners(uri string) (servers []string) {
	if servers = c.own[uri]; len(servers) > 0 {
		return servers
	}
	seen := map[string]bool{}
	for _, s := range c.shapes {
		if !seen[s.server] && s.matches.MatchString(uri) {
			seen[s.server] = true
			servers = append(servers, s.server)
		}
	}
	return servers
}

// A longer template, and those of a server that are more than so many bytes, are listed and say of no URI whose it is: what matches
// them would take too long to make.
const (
	maxTemplate  = 4 << 10
	maxTemplates = 64 << 10
)

// owns reports whether a template says which URIs are its server's: it begins with a scheme. One that begins with an expression
// would match the URIs of all servers.
func owns(template string) bool {
	before, _, _ := strings.Cut(template, "{")
	return strings.Index(before, ":") > 0
}

// expression matches an expression of a URI template.
var expression = regexp.MustCompile(`\{([+#./;?&]?)[^{}]*\}`)

// shapeOf returns what matches the URIs of a template. It is wider than RFC 6570: the server decides in the end.
func shapeOf(template string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	at := 0
	for _, m := range expression.FindAllStringSubmatchIndex(template, -1) {
		b.WriteString(regexp.QuoteMeta(template[at:m[0]]))
		if m[2] == m[3] { // one segment
			b.WriteString(`[^/?#]*`)
		} else {
			b.WriteString(`.*`)
		}
		at = m[1]
	}
	b.WriteString(regexp.QuoteMeta(template[at:]) + "$")
	return regexp.MustCompile(b.String())
}
