package proxy

// parseGemini parses a request to Gemini's generateContent, streamed or not. Its calls and results may have no ids; they
// are then matched by tool and order.
func parseGemini(b []byte) (*conversation, error) {
	c, top, err := newConversation(b)
	if err != nil {
		return nil, err
	}
	found, err := c.members(top, "contents", "systemInstruction", "tools")
	if err != nil {
		return nil, err
	}
	c.system = found[1]
	c.base = found[1].to - found[1].from + found[2].to - found[2].from
	err = c.items(found[0], func(content span) error {
		m, err := c.members(content, "role", "parts")
		if err != nil || m[1].to == 0 {
			return errShape
		}
		return c.items(m[1], func(part span) error { return c.geminiPart(part, m[0].text(b) == "model") })
	})
	if err != nil {
		return nil, err
	}
	c.name("")
	return c, nil
}

func (c *conversation) geminiPart(part span, model bool) error {
	found, err := c.members(part, "text", "functionCall", "functionResponse")
	if err != nil {
		return err
	}
	switch {
	case found[1].to > 0:
		return c.geminiCall(found[1])
	case found[2].to > 0:
		return c.geminiResponse(found[2])
	case found[0].to > 0 && model:
		c.speak(found[0])
	case found[0].to > 0:
		c.word(found[0])
	case model:
		c.answered(part.to - part.from)
	default:
		c.given(part.to - part.from)
	}
	return nil
}

func (c *conversation) geminiCall(call span) error {
	found, err := c.members(call, "id", "name", "args")
	if err != nil {
		return err
	}
	tool := found[1].text(c.body)
	if found[2].to == 0 {
		found[2] = span{call.from, call.to}
	}
	c.called(geminiID(found[0].text(c.body), tool), tool, found[2], false)
	return nil
}

// geminiResponse parses a result: an object with exactly one member that is a text.
func (c *conversation) geminiResponse(response span) error {
	found, err := c.members(response, "id", "response", "name")
	if err != nil || found[1].to == 0 || !found[1].isObject(c.body) {
		return errShape
	}
	r := &result{}
	err = c.fields(found[1], func(_ []byte, v span) error {
		if v.isString(c.body) {
			r.texts, r.at = append(r.texts, v), v
		}
		return nil
	})
	r.fixed = len(r.texts) != 1
	c.resulted(geminiID(found[0].text(c.body), found[2].text(c.body)), r)
	return err
}

// geminiID returns the id of a call, or a name for it if it has none.
func geminiID(id, tool string) string {
	if id == "" {
		return "#" + tool
	}
	return id
}
