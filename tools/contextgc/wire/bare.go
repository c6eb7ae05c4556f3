package wire

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// ParseMessages parses a list of messages in the form of Anthropic's Messages API, or of OpenAI's Responses or Chat Completions, which
// a gateway sends without the request around them. It returns nil for a list without calls: there is nothing to replace in it. room is
// that of [Memory.Parse].
func ParseMessages(list []byte, model string, room func(values int) error) (*Conversation, error) {
	c, top, err := newConversation(list)
	if err == nil && room != nil {
		err = room(c.Values(top))
	}
	if err != nil {
		return nil, err
	}
	item, err := c.form(top)
	if err != nil || item == nil {
		return nil, err
	}
	c.Bare, c.Model = true, model
	if m, known := tokens.ModelOf(model); known && m.Provider == anthropic.Name {
		c.Life = ShortLife // also of Chat Completions, which LiteLLM makes of it; a mark may raise it
	}
	if err := c.Items(top, item); err != nil {
		return nil, err
	}
	name := c.beginning()   // a system prompt before it may change
	if len(c.Results) > 0 { // many sessions begin with the same words
		name = sha256.Sum256(append(name[:], c.Results[0].ID...))
	}
	c.Session = "conv_" + hex.EncodeToString(name[:8])
	return c, nil
}

// form returns what parses one message of a list, by the first call or result in it; nil: there is none.
func (c *Conversation) form(list span) (item func(span) error, err error) {
	err = c.Items(list, func(m span) error {
		if !m.IsObject(c.Body) {
			return jsonspan.ErrShape
		}
		found, err := c.Members(m, "type", "role", "tool_calls", "content")
		if err != nil || item != nil {
			return err
		}
		switch kind := found[0].Text(c.Body); {
		case kind == "function_call" || kind == "custom_tool_call" || kind == "function_call_output" || kind == "custom_tool_call_output":
			item, c.Life = c.inputItem, LongLife
		case found[2].To > 0 && found[2].IsArray(c.Body) || found[1].Text(c.Body) == "tool":
			item, c.Life = c.chatMessage, LongLife
		case found[3].To > 0 && found[3].IsArray(c.Body):
			return c.Items(found[3], func(block span) error {
				if !block.IsObject(c.Body) {
					return nil
				}
				of, err := c.Members(block, "type")
				if kind := of[0].Text(c.Body); err == nil && (kind == "tool_use" || kind == "tool_result") {
					item, c.Life, c.Signs = c.message, ShortLife, true
				}
				return err
			})
		}
		return nil
	})
	return item, err
}
