package wire

// listed parses a result that is a string or a list of blocks. A list is replaced as a whole by one block
// of the given type, unless it contains something that must stay.
func (c *Conversation) listed(content span, texts ...string) (*Result, error) {
	if content.IsString(c.Body) {
		return &Result{texts: []span{content}, at: content}, nil
	}
	r := &Result{at: content, list: true, block: texts[0], Fixed: !content.IsArray(c.Body)}
	if r.Fixed {
		return r, nil
	}
	err := c.Items(content, func(block span) error {
		found, err := c.Members(block, "type", "text", "cache_control")
		if err != nil {
			return err
		}
		kind := found[0].Text(c.Body)
		if kind != texts[0] && kind != texts[1] || found[1].To == 0 || found[2].To > 0 {
			if r.Fixed = true; found[2].To > 0 {
				r.mark = found[2]
				c.lives(r.mark)
			}
			return nil
		}
		r.texts = append(r.texts, found[1])
		return nil
	})
	return r, err
}

// words parses a message's content: a string, or a list of which only the texts count.
func (c *Conversation) words(content span, note func(span)) error {
	if content.To == 0 {
		return nil
	}
	if !content.IsArray(c.Body) {
		note(content)
		return nil
	}
	return c.Items(content, func(block span) error {
		found, err := c.Members(block, "text", "cache_control")
		if err == nil && found[0].To > 0 {
			note(found[0])
			c.lives(found[1])
		}
		return err
	})
}
