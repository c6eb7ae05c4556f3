package promptcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// prompt is a request as a cache sees it.
type prompt struct {
	model  string
	blocks []block
	marked bool // the cache keeps entries at marks only
}

// block is a tool, a part of the system prompt, or a part of a message.
type block struct {
	key        key // of all but its mark
	text       string
	tokens     int
	life       time.Duration // of the mark that it carries; 0: none
	unmarkable bool          // thinking, or an empty text
}

// api is the form of a request.
type api int

const (
	messages api = iota
	responses
	chat
	gemini
)

func form(path string) api {
	switch {
	case strings.Contains(path, "/messages"):
		return messages
	case strings.Contains(path, "/responses"):
		return responses
	case strings.Contains(path, "enerateContent"):
		return gemini
	}
	return chat
}

// order is that of the members of a request in the prompt.
var order = map[api][]string{
	messages: {"tools", "system", "messages"}, responses: {"tools", "instructions", "input"}, chat: {"tools", "messages"}, gemini: {"systemInstruction", "tools", "contents"},
}

func parse(path string, body []byte) (prompt, error) {
	all := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&all); err != nil {
		return prompt{}, fmt.Errorf("the request is no JSON object: %w", err)
	}
	of := form(path)
	p := prompt{marked: of == messages}
	if p.model, _ = all["model"].(string); of == gemini {
		_, p.model, _ = strings.Cut(path, "/models/")
		p.model, _, _ = strings.Cut(p.model, ":")
	}
	for _, name := range order[of] {
		for _, item := range list(all[name]) {
			p.take(name, item)
		}
	}
	if last := len(p.blocks) - 1; all["cache_control"] != nil && last >= 0 { // the API sets the mark itself
		p.blocks[last].life = lifeOf(all)
	}
	return p, nil
}

// list returns a value as a list; a text is a list of one.
func list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// take adds an item of a request: a message has blocks of its own.
func (p *prompt) take(name string, item any) {
	message, _ := item.(map[string]any)
	role, isMessage := message["role"].(string)
	if content, ok := message["content"]; isMessage && ok && content != nil && message["tool_calls"] == nil {
		for _, part := range list(content) {
			p.add(role, part)
		}
		return
	}
	p.add(name, item)
}

func (p *prompt) add(where string, v any) {
	if text, ok := v.(string); ok {
		v = map[string]any{"type": "text", "text": text}
	}
	b := block{}
	if m, ok := v.(map[string]any); ok {
		if m["cache_control"] != nil {
			b.life = lifeOf(m)
			m = maps.Clone(m)
			delete(m, "cache_control")
			v = m
		}
		kind, _ := m["type"].(string)
		b.unmarkable = strings.HasSuffix(kind, "thinking") || kind == "text" && m["text"] == ""
	}
	whole, _ := json.Marshal(v) // it was decoded
	b.key = sha256.Sum256(append([]byte(where+"\n"), whole...))
	var text strings.Builder
	texts(&text, v)
	b.text = text.String()
	p.blocks = append(p.blocks, b)
}

// lifeOf returns the lifetime that a mark asks for.
func lifeOf(marked map[string]any) time.Duration {
	mark, _ := marked["cache_control"].(map[string]any)
	if mark["ttl"] == "1h" {
		return tokens.CacheHour
	}
	return tokens.CacheLife
}

// texts writes the texts of a value. The model sees neither the names of members nor ids, and no signature.
func texts(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(v + "\n")
	case []any:
		for _, one := range v {
			texts(b, one)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "role" && name != "type" && name != "signature" && !strings.HasSuffix(name, "id") {
				texts(b, v[name])
			}
		}
	}
}
