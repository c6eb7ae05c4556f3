package wire

import (
	"errors"
	"net/url"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

var openai = &Provider{
	Name: "OpenAI", URL: &url.URL{Scheme: "https", Host: "api.openai.com"},
	headers: "Authorization: Bearer", prefixes: []string{"sk-"},
	roots: []string{"models", "files", "skills",
		"responses", "chat", "completions", "embeddings", "images", "audio", "videos", "moderations", "fine_tuning", "batches", "uploads",
		"vector_stores", "assistants", "threads", "realtime", "conversations", "evals", "graders", "containers", "chatkit", "organization", "memories", "alpha"},
	apis: []API{
		{Name: "openai-responses", suffix: "/responses", parse: parseResponses},
		{Name: "openai-chat", suffix: "/chat/completions", parse: parseChat},
	},
	refusal: func(_ int, kind, text string) any {
		return map[string]any{"error": map[string]any{"message": text, "type": kind, "param": nil, "code": nil}}
	},
}

// parseResponses parses a request to OpenAI's Responses API.
func parseResponses(c *Conversation, top span) error {
	found, err := c.Members(top, "input", "instructions", "tools", "prompt_cache_key", "model", "prompt_cache_retention")
	if err != nil {
		return err
	}
	c.system, c.base = found[1], []span{found[4], found[1], found[2]}
	c.Model = found[4].Text(c.Body)
	c.keeps(found[5])
	if found[0].To == 0 || !found[0].IsArray(c.Body) {
		return jsonspan.ErrShape // the input is a single string, without results
	}
	if err := c.messages(found[0], c.inputItem); err != nil {
		return err
	}
	c.Base += found[1].To - found[1].From + found[2].To - found[2].From // beside what is among the messages
	c.name(found[3].Text(c.Body))
	return nil
}

// keeps sets how long the cache keeps a request: up to an hour, or a day if the request asks for it.
func (c *Conversation) keeps(retention span) {
	if c.Life = LongLife; retention.Text(c.Body) == "24h" {
		c.Life = DayLife
	}
}

func (c *Conversation) inputItem(item span) error {
	found, err := c.Members(item, "type", "role", "content", "call_id", "name", "arguments", "output", "input", "tools")
	if err != nil {
		return err
	}
	role := found[1].Text(c.Body)
	switch kind := found[0].Text(c.Body); {
	case kind == "additional_tools" && found[8].To > 0: // in which newer models of Codex have all of them
		c.added = append(c.added, found[8])
		c.Base += item.To - item.From
	case kind == "function_call" && found[5].To > 0:
		c.called(found[3].Text(c.Body), found[4].Text(c.Body), found[5], true)
	case kind == "custom_tool_call" && found[7].To > 0:
		id := found[3].Text(c.Body)
		c.wroteText(id, c.use(id, found[4].Text(c.Body), found[7], true), found[7])
	case (kind == "function_call_output" || kind == "custom_tool_call_output") && found[6].To > 0:
		r, err := c.listed(found[6], "input_text", "output_text")
		if err != nil {
			return err
		}
		c.resulted(found[3].Text(c.Body), r)
	case role == "assistant":
		return c.words(found[2], c.speak)
	case saysItself(role):
		return errors.Join(c.tell(found[2]), c.words(found[2], c.word))
	case role != "":
		return c.words(found[2], c.word)
	default: // reasoning, searches and types added later belong to the model
		c.answered(item)
	}
	return nil
}

// parseChat parses a request to OpenAI's Chat Completions API.
func parseChat(c *Conversation, top span) error {
	found, err := c.Members(top, "messages", "tools", "prompt_cache_key", "model", "prompt_cache_retention")
	if err != nil {
		return err
	}
	c.Base, c.base = found[1].To-found[1].From, []span{found[3], found[1]}
	c.Model = found[3].Text(c.Body)
	c.keeps(found[4])
	if err := c.messages(found[0], c.chatMessage); err != nil {
		return err
	}
	c.name(found[2].Text(c.Body))
	return nil
}

func (c *Conversation) chatMessage(m span) error {
	found, err := c.Members(m, "role", "content", "tool_calls", "tool_call_id", "thinking_blocks", "reasoning_details")
	if err != nil {
		return err
	}
	for i, thinking := range found[4:] { // of Anthropic's models, in the forms of LiteLLM and OpenRouter
		if thinking.To-thinking.From > len("[]") && thinking.IsArray(c.Body) {
			c.think(thinking)
			c.Signs = c.Signs || i == 0
		}
	}
	switch found[0].Text(c.Body) {
	case "system", "developer":
		if c.Bare && len(c.Turns) == 1 && c.Last().Given == 0 { // LiteLLM puts what the client sent beside the messages first
			c.Base += found[1].To - found[1].From
			return c.tell(found[1])
		}
		return errors.Join(c.tell(found[1]), c.words(found[1], c.word))
	case "assistant":
		if err := c.words(found[1], c.speak); err != nil || found[2].To == 0 || !found[2].IsArray(c.Body) {
			return err
		}
		return c.Items(found[2], c.chatCall)
	case "tool":
		if found[1].To == 0 {
			return jsonspan.ErrShape
		}
		r, err := c.listed(found[1], "text", "text")
		if err != nil {
			return err
		}
		c.resulted(found[3].Text(c.Body), r)
		return nil
	}
	return c.words(found[1], c.word)
}

func (c *Conversation) chatCall(call span) error {
	found, err := c.Members(call, "id", "function")
	if err != nil || found[1].To == 0 || !found[1].IsObject(c.Body) {
		return jsonspan.ErrShape
	}
	f, err := c.Members(found[1], "name", "arguments")
	if err != nil || f[1].To == 0 {
		return jsonspan.ErrShape
	}
	c.called(found[0].Text(c.Body), f[0].Text(c.Body), f[1], true)
	return nil
}
