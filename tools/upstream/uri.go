package upstream

import "strings"

// Names are the names and URIs under which a server's prompts, resources and tasks are offered. They follow the rule of
// its tools' names: each begins with the part that stands for the server, and none depends on other servers.
type Names struct{ naming }

// NamesOf returns the names of a server. With bare set, for the only server of a gateway, everything keeps its
// name but what clients or this program's own tools forbid; with exact set, all of it.
func NamesOf(s Server, bare, exact bool) Names { return Names{s.naming(bare, exact)} }

// Prompt returns the name of a prompt.
func (n Names) Prompt(name string) string { return n.tool(name) }

// HasTool reports whether a tool of the server may have the name. Tools of other servers never have it.
func (n Names) HasTool(name string) bool {
	return n.bare || name == n.prefix || strings.HasPrefix(name, n.prefix+"_")
}

// URI returns the URI of a resource, or a template: everything+demo://item/1 for demo://item/1 of the server everything.
// Ids of tasks have the same form.
func (n Names) URI(uri string) string {
	if n.bare {
		return uri
	}
	return n.scheme() + uri
}

// Original returns the server's own URI for one that URI returned. ok is false for all others.
func (n Names) Original(exposed string) (uri string, ok bool) {
	if n.bare {
		return exposed, true
	}
	scheme := n.scheme()
	if len(exposed) < len(scheme) || !strings.EqualFold(exposed[:len(scheme)], scheme) { // no server's part has capitals, and clients may change them
		return "", false
	}
	return exposed[len(scheme):], true
}

// scheme returns what stands before a server's URIs. A scheme begins with a letter and may have "." and "+", which no
// server's part has, so that no two servers have the same and what follows the first "+" is the original.
func (n Names) scheme() string {
	if c := n.prefix[0]; c >= '0' && c <= '9' {
		return "x." + n.prefix + "+"
	}
	return n.prefix + "+"
}
