package wire

import (
	"net/http"
	"net/url"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
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
func parseGemini(c *Conversation, top span) error {
	found, err := c.Members(top, "contents", "systemInstruction", "tools")
	if err != nil {
		return err
	}
	c.system, c.base = found[1], []span{found[1], found[2]}
	c.Model = "gemini" // which one stands in the path
	c.Life = LongLife
	c.Base = found[1].To - found[1].From + found[2].To - found[2].From
	err = c.messages(found[0], func(content span) error {
		m, err := c.Members(content, "role", "parts")
		if err != nil || m[1].To == 0 {
			return jsonspan.ErrShape
		}
		return c.Items(m[1], func(part span) error { return c.geminiPart(part, m[0].Text(c.Body) == "model") })
	})
	if err != nil {
		return err
	}
	c.name("")
	return nil
}

func (c *Conversation) geminiPart(part span, model bool) error {
	found, err := c.Members(part, "text", "functionCall", "functionResponse")
	if err != nil {
		return err
	}
	switch {
	case found[1].To > 0:
		return c.geminiCall(found[1])
	case found[2].To > 0:
		return c.geminiResponse(found[2])
	case found[0].To > 0 && model:
		c.speak(found[0])
	case found[0].To > 0:
		c.word(found[0])
	case model:
		c.answered(part)
	default:
		c.given(part)
	}
	return nil
}

func (c *Conversation) geminiCall(call span) error {
	found, err := c.Members(call, "id", "name", "args")
	if err != nil {
		return err
	}
	tool := found[1].Text(c.Body)
	if found[2].To == 0 {
		found[2] = call
	}
	c.called(geminiID(found[0].Text(c.Body), tool), tool, found[2], false)
	return nil
}

// geminiResponse parses a result: an object with exactly one member that is a text.
func (c *Conversation) geminiResponse(response span) error {
	found, err := c.Members(response, "id", "response", "name")
	if err != nil || found[1].To == 0 || !found[1].IsObject(c.Body) {
		return jsonspan.ErrShape
	}
	r := &Result{}
	err = c.Fields(found[1], func(_ []byte, v span) error {
		if v.IsString(c.Body) {
			r.texts, r.at = append(r.texts, v), v
		}
		return nil
	})
	r.Fixed = len(r.texts) != 1
	c.resulted(geminiID(found[0].Text(c.Body), found[2].Text(c.Body)), r)
	return err
}

// geminiID returns the id of a call, or a name for it if it has none.
func geminiID(id, tool string) string {
	if id == "" {
		return "#" + tool
	}
	return id
}
