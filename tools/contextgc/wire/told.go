package wire

// Told returns what the client itself says before the first answer: the texts of the system prompt, and messages of that role.
func (c *Conversation) Told() (texts []string) {
	note := func(v span) { texts = append(texts, v.Text(c.Body)) }
	switch {
	case c.system.To == 0:
	case c.system.IsObject(c.Body): // Gemini
		if found, err := c.Members(c.system, "parts"); err == nil {
			_ = c.words(found[0], note) // the request was parsed before
		}
	default:
		_ = c.words(c.system, note)
	}
	for _, v := range c.told {
		note(v)
	}
	return texts
}

// tell records words of the client itself in a message's content.
func (c *Conversation) tell(content span) error {
	if len(c.Turns) > 1 || len(c.Results) > 0 {
		return nil
	}
	return c.words(content, func(v span) { c.told = append(c.told, v) })
}

// saysItself reports whether messages of a role are the client's own and not the person's.
func saysItself(role string) bool { return role == "system" || role == "developer" }
