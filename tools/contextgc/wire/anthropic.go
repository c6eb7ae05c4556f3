package wire

import (
	"net/url"
	"regexp"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

var anthropic = &Provider{
	Name: "Anthropic", URL: &url.URL{Scheme: "https", Host: "api.anthropic.com"},
	headers: "anthropic-version or x-api-key", keyHeader: "X-Api-Key", beginning: "Anthropic-", prefixes: []string{"sk-ant-"},
	folders: []string{"api"}, // where Claude Code finds its account and settings
	roots: []string{"models", "files", "skills",
		"messages", "complete", "organizations", "code", "sessions", "session_ingress", "environments", "oauth", "agents", "memory_stores",
		"vaults", "mcp_servers", "tunnels", "deployments", "user_profiles", "dreams", "design", "ultrareview", "toolbox", "filestore", "privacy-consents"},
	apis: []API{
		{Name: "anthropic-messages", suffix: "/messages", parse: parseMessages},
		{Name: "anthropic-messages", suffix: "/messages/count_tokens", parse: parseMessages, Counts: true},
	},
}

// parseMessages parses a request to Anthropic's Messages API, or to its count_tokens.
func parseMessages(c *Conversation, top span) error {
	found, err := c.Members(top, "messages", "system", "tools", "metadata", "model", "cache_control")
	if err != nil {
		return err
	}
	c.system, c.base = found[1], []span{found[4], found[1], found[2]}
	c.Model, c.Signs = found[4].Text(c.Body), true
	c.Base = found[1].To - found[1].From + found[2].To - found[2].From
	c.Life = max(c.Life, ShortLife)
	if err := c.messages(found[0], c.message); err != nil {
		return err
	}
	c.marked(found[1])
	c.marked(found[2])
	c.auto = found[5]
	c.countMark(c.auto)
	c.name(c.userID(found[3]))
	return nil
}

// sessionIn matches the session id in the user_id that Claude Code sends: JSON in a string or, in earlier
// versions, words joined by underscores.
var sessionIn = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`session(?:_id"\s*:\s*"|_)([0-9A-Za-z-]{8,})`) })

// userID returns the session id from Claude Code's user_id, or "" if that names a person.
func (c *Conversation) userID(metadata span) string {
	if metadata.To == 0 {
		return ""
	}
	found, err := c.Members(metadata, "user_id")
	if err != nil || found[0].To == 0 {
		return ""
	}
	if m := sessionIn().FindStringSubmatch(found[0].Text(c.Body)); m != nil {
		return m[1]
	}
	return ""
}

func (c *Conversation) message(m span) error {
	found, err := c.Members(m, "role", "content")
	if err != nil || found[1].To == 0 {
		return jsonspan.ErrShape
	}
	content, role := found[1], found[0].Text(c.Body)
	model := role == "assistant"
	if saysItself(role) {
		if err := c.tell(content); err != nil {
			return err
		}
	}
	switch {
	case content.IsString(c.Body):
		if model {
			c.speak(content)
		} else {
			c.word(content)
		}
		c.addBlock(content, "text", `""`, span{}) // a string can carry no mark
		return nil
	case model:
		return c.answer(content)
	}
	return c.Items(content, c.givenBlock)
}

// answer parses the blocks of an answer. Thinking that is all of it cannot be left out: a message without content is refused.
func (c *Conversation) answer(content span) error {
	first, blocks := len(c.Results), 0
	err := c.Items(content, func(block span) error { blocks++; return c.answerBlock(block) })
	thoughts := 0
	for _, r := range c.Results[first:] {
		if r.Thought {
			thoughts++
		}
	}
	if thoughts == blocks {
		for _, r := range c.Results[first:] {
			r.Fixed = true
		}
	}
	return err
}

func (c *Conversation) answerBlock(block span) error {
	found, err := c.Members(block, "type", "text", "id", "name", "input", "signature", "data", "cache_control")
	if err != nil {
		return err
	}
	kind := found[0].Text(c.Body)
	switch {
	case kind == "text" && found[1].To > 0:
		c.speak(found[1])
	case kind == "tool_use" && found[4].To > 0:
		c.called(found[2].Text(c.Body), found[3].Text(c.Body), found[4], false)
	case kind == "thinking" && found[5].To > 0:
		c.thinks(block, found[5])
	case kind == "redacted_thinking" && found[6].To > 0:
		c.thinks(block, found[6])
	default: // block types added later
		if kind == "thinking" || kind == "redacted_thinking" {
			c.think(block)
		}
		c.answered(block)
	}
	c.addBlock(block, kind, string(found[1].Of(c.Body)), found[7])
	return nil
}

// imageBytes is the size of a text with as many tokens as an image has at most.
const imageBytes = 5000

func (c *Conversation) givenBlock(block span) error {
	found, err := c.Members(block, "type", "text", "tool_use_id", "content", "cache_control")
	if err != nil {
		return err
	}
	kind, mark := found[0].Text(c.Body), found[4]
	switch {
	case kind == "text" && found[1].To > 0:
		c.word(found[1])
	case kind == "tool_result" && found[3].To > 0:
		r, err := c.listed(found[3], "text", "text")
		if err != nil {
			return err
		}
		if mark.To == 0 {
			mark = r.mark
		}
		c.resulted(found[2].Text(c.Body), r)
	case kind == "image":
		c.given(block)
		c.Last().Given -= max(0, block.To-block.From-imageBytes)
	default: // block types added later
		c.given(block)
	}
	c.addBlock(block, kind, string(found[1].Of(c.Body)), mark)
	return nil
}
