package proxy

// parseGemini parses a request to Gemini's generateContent, streamed or not. Its tool results may have no
// ids; they are then distinguished by position.
func parseGemini(b []byte) (*conversation, error) {
	c, top, err := newConversation(b)
	if err != nil {
		return nil, err
	}
	found, err := c.members(top, "contents", "systemInstruction", "tools")
	if err != nil {
		return nil, err
	}
	c.base = found[1].to - found[1].from + found[2].to - found[2].from
	var open []string // ids generated for calls without one, in order
	err = c.items(found[0], func(content span) error {
		m, err := c.members(content, "role", "parts")
		if err != nil || m[1].to == 0 {
			return errShape
		}
		if m[0].text(b) == "model" {
			open = nil
		}
		return c.items(m[1], func(part span) error { return c.geminiPart(part, m[0].text(b) == "model", &open) })
	})
	if err != nil {
		return nil, err
	}
	c.name("")
	return c, nil
}

func (c *conversation) geminiPart(part span, model bool, open *[]string) error {
	found, err := c.members(part, "text", "functionCall", "functionResponse")
	if err != nil {
		return err
	}
	switch {
	case found[1].to > 0:
		return c.geminiCall(found[1], open)
	case found[2].to > 0:
		return c.geminiResponse(found[2], open)
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

func (c *conversation) geminiCall(call span, open *[]string) error {
	found, err := c.members(call, "id", "name", "args")
	if err != nil {
		return err
	}
	id, tool := found[0].text(c.body), found[1].text(c.body)
	if id == "" {
		id = c.anonymous(tool)
		*open = append(*open, id)
	}
	if found[2].to == 0 {
		found[2] = span{call.from, call.to}
	}
	c.called(id, tool, found[2], false)
	return nil
}

// geminiResponse parses a result: an object with exactly one member that is a text.
func (c *conversation) geminiResponse(response span, open *[]string) error {
	found, err := c.members(response, "id", "response")
	if err != nil || found[1].to == 0 || !found[1].isObject(c.body) {
		return errShape
	}
	id := found[0].text(c.body)
	if id == "" && len(*open) > 0 {
		id, *open = (*open)[0], (*open)[1:]
	}
	r := &result{}
	err = c.fields(found[1], func(_ []byte, v span) error {
		if v.isString(c.body) {
			r.texts, r.at = append(r.texts, v), v
		}
		return nil
	})
	r.fixed = len(r.texts) != 1
	c.resulted(id, r)
	return err
}
