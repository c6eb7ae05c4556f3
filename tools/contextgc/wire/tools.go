package wire

import (
	"maps"
	"slices"
)

// Tools returns the names of the tools that the model may call, those of a group with the group's name before them. Of messages
// without a request around them it returns those that have answered. fits chooses by the name and the parameters, which are those of
// the schema, or the arguments that an answered call had; nil if there are none to see, as for one of the API's own.
func (c *Conversation) Tools(fits func(name string, parameters []string) bool) (names []string) {
	add := func(name string, parameters []string) {
		if fits(name, parameters) {
			names = append(names, name)
		}
	}
	if len(c.base) == 0 {
		for _, r := range c.Results {
			add(r.Use.Tool, slices.Collect(maps.Keys(r.Use.Args)))
		}
		return names
	}
	for _, list := range append(c.base[len(c.base)-1:len(c.base):len(c.base)], c.added...) {
		if list.To > 0 && list.IsArray(c.Body) {
			c.toolsIn(list, "", add)
		}
	}
	return names
}

// parameters returns the names of what a tool's schema lets the model give it. found are the members of the tool that may be its schema.
func (c *Conversation) parameters(found []span) (names []string) {
	for _, schema := range found {
		if schema.To == 0 || !schema.IsObject(c.Body) {
			continue
		}
		names = []string{}
		if f, err := c.Members(schema, "properties"); err == nil && f[0].To > 0 {
			_ = c.Fields(f[0], func(name []byte, _ span) error { // what is no object has no members
				names = append(names, string(name))
				return nil
			})
		}
	}
	return names
}

// schemas are the members of a tool that may hold its schema, by API.
var schemas = []string{"input_schema", "parameters", "parametersJsonSchema"}

func (c *Conversation) toolsIn(list span, group string, add func(name string, parameters []string)) {
	_ = c.Items(list, func(tool span) error { // the request was parsed before; what is no tool has no name
		if !tool.IsObject(c.Body) {
			return nil
		}
		found, err := c.Members(tool, append([]string{"name", "type", "function", "functionDeclarations", "tools", "function_declarations"}, schemas...)...)
		if err != nil {
			return nil
		}
		name := found[0].Text(c.Body)
		switch {
		case found[2].To > 0 && found[2].IsObject(c.Body): // Chat Completions
			if f, err := c.Members(found[2], append([]string{"name"}, schemas...)...); err == nil {
				add(f[0].Text(c.Body), c.parameters(f[1:]))
			}
		case found[3].To > 0 && found[3].IsArray(c.Body): // Gemini
			c.toolsIn(found[3], group, add)
		case found[5].To > 0 && found[5].IsArray(c.Body): // the same as some of its libraries write it
			c.toolsIn(found[5], group, add)
		case found[4].To > 0 && found[4].IsArray(c.Body): // a namespace of Codex, whose own tools are in one without a name of its own
			group := name + "__"
			if name == "functions" {
				group = ""
			}
			c.toolsIn(found[4], group, add)
		case name != "":
			add(group+name, c.parameters(found[6:]))
		default: // one of the API's own, such as local_shell
			add(found[1].Text(c.Body), nil)
		}
		return nil
	})
}
