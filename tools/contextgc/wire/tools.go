package wire

// Tools returns the names of the tools that the model may call, those of a group with the group's name before them. Of messages
// without a request around them it returns those that have answered.
func (c *Conversation) Tools() (names []string) {
	if len(c.base) == 0 {
		for _, r := range c.Results {
			names = append(names, r.Use.Tool)
		}
		return names
	}
	if tools := c.base[len(c.base)-1]; tools.To > 0 && tools.IsArray(c.Body) {
		c.toolsIn(tools, "", &names)
	}
	for _, tools := range c.added {
		if tools.IsArray(c.Body) {
			c.toolsIn(tools, "", &names)
		}
	}
	return names
}

// toolsIn adds the names of a list of tools.
func (c *Conversation) toolsIn(list span, group string, names *[]string) {
	_ = c.Items(list, func(tool span) error { // the request was parsed before; what is no tool has no name
		if !tool.IsObject(c.Body) {
			return nil
		}
		found, err := c.Members(tool, "name", "type", "function", "functionDeclarations", "tools", "function_declarations")
		if err != nil {
			return nil
		}
		name := found[0].Text(c.Body)
		switch {
		case found[2].To > 0 && found[2].IsObject(c.Body): // Chat Completions
			if f, err := c.Members(found[2], "name"); err == nil {
				*names = append(*names, f[0].Text(c.Body))
			}
		case found[3].To > 0 && found[3].IsArray(c.Body): // Gemini
			c.toolsIn(found[3], group, names)
		case found[5].To > 0 && found[5].IsArray(c.Body): // the same as some of its libraries write it
			c.toolsIn(found[5], group, names)
		case found[4].To > 0 && found[4].IsArray(c.Body): // a namespace of Codex, whose own tools are in one without a name of its own
			group := name + "__"
			if name == "functions" {
				group = ""
			}
			c.toolsIn(found[4], group, names)
		case name != "":
			*names = append(*names, group+name)
		default: // one of the API's own, such as local_shell
			*names = append(*names, found[1].Text(c.Body))
		}
		return nil
	})
}
