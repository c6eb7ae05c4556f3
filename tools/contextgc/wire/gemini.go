package wire

import (
	"net/http"
	"net/url"
)

var gemini = &Provider{
	Name: "Gemini", URL: &url.URL{Scheme: "https", Host: "generativelanguage.googleapis.com"},
	headers: "x-goog-api-key or ?key=", keyHeader: "X-Goog-Api-Key", keyQuery: "key", prefixes: []string{"AIza", "AQ.", "ya29."},
	folders: []string{"v1beta", "v1alpha", "upload", "download"},
	apis: []API{
		{Name: "gemini", suffix: ":generateContent", parse: parseGemini},
		{Name: "gemini", suffix: ":streamGenerateContent", parse: parseGemini},
		{Name: "gemini", suffix: ":countTokens", parse: parseGemini, Counts: true},
	},
	refusal: func(status int, _, text string) any {
		code := "FAILED_PRECONDITION"
		if status >= http.StatusInternalServerError {
			code = "UNAVAILABLE"
		}
		return map[string]any{"error": map[string]any{"code": status, "message": text, "status": code}}
	},
}

// parseGemini parses a request to Gemini's generateContent, streamed or not. Its calls and results may have no ids; they
// are then matched by tool and order.
func parseGemini(b []byte) (*Conversation, error) {
	c, top, err := newConversation(b)
	if err != nil {
		return nil, err
	}
	found, err := c.members(top, "contents", "systemInstruction", "tools")
	if err != nil {
		return nil, err
	}
	c.system, c.base = found[1], []span{found[1], found[2]} // the model stands in the path
	c.Life = LongLife
	c.Base = found[1].to - found[1].from + found[2].to - found[2].from
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

func (c *Conversation) geminiPart(part span, model bool) error {
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
		c.answered(part)
	default:
		c.given(part)
	}
	return nil
}

func (c *Conversation) geminiCall(call span) error {
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
func (c *Conversation) geminiResponse(response span) error {
	found, err := c.members(response, "id", "response", "name")
	if err != nil || found[1].to == 0 || !found[1].isObject(c.body) {
		return errShape
	}
	r := &Result{}
	err = c.fields(found[1], func(_ []byte, v span) error {
		if v.isString(c.body) {
			r.texts, r.at = append(r.texts, v), v
		}
		return nil
	})
	r.Fixed = len(r.texts) != 1
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
