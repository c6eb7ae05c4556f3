package tooltest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Stand-ins for Anthropic's API make its documented check of thinking: a block is bound to everything before it in the request it
// was the answer to. Allowed are cache marks in other places, and leaving out thinking, the oldest first.

// SignThinking returns the signature of the thinking that begins the answer to a request.
func SignThinking(request []byte) (string, error) {
	p, err := readPrompt(request)
	if err != nil {
		return "", err
	}
	return p.sign(), nil
}

// CheckThinking checks each block of thinking in a request. If one is bound to something else than what stands before it, the
// message is the error of the API. Where the request asks for that, such blocks are dropped instead, and it returns their number.
func CheckThinking(request []byte) (dropped int, message string) {
	p, err := readPrompt(request)
	if err != nil {
		return 0, err.Error()
	}
	if p.drops {
		return len(p.wrong), ""
	}
	if len(p.wrong) > 0 {
		return 0, p.wrong[0] + ": thinking block is bound to a different conversation: what precedes it was changed"
	}
	return 0, ""
}

// prompt is what a request has so far.
type prompt struct {
	before []byte // without thinking and cache marks
	last   string // signature of the latest block of thinking
	wrong  []string
	drops  bool
}

func (p *prompt) sign() string {
	sum := sha256.Sum256(p.before)
	after := sha256.Sum256([]byte(p.last))
	return hex.EncodeToString(sum[:16]) + "." + hex.EncodeToString(after[:8])
}

// fits reports whether a block of thinking may stand here. The first one may have lost those before it.
func (p *prompt) fits(signature string) bool {
	want := p.sign()
	if p.last == "" {
		want, _, _ = strings.Cut(want, ".")
		signature, _, _ = strings.Cut(signature, ".")
	}
	return signature == want
}

func readPrompt(request []byte) (*prompt, error) {
	var body struct {
		System, Tools any
		Messages      []struct {
			Role    string
			Content any
		}
		Thinking struct {
			Binding struct {
				Behavior string `json:"prefix_mismatch_behavior"`
			} `json:"block_binding"`
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(request))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		return nil, err
	}
	p := &prompt{drops: body.Thinking.Binding.Behavior == "drop_block"}
	for _, block := range blocks(body.System) {
		if text, _ := block["text"].(string); !strings.HasPrefix(text, "x-anthropic-billing-header") {
			p.add("system", block)
		}
	}
	p.add("tools", map[string]any{"tools": unmarked(body.Tools)})
	for i, m := range body.Messages {
		for j, block := range blocks(m.Content) {
			if block["type"] != "thinking" && block["type"] != "redacted_thinking" {
				p.add(m.Role, block)
				continue
			}
			signature, _ := block["signature"].(string)
			if !p.fits(signature) {
				p.wrong = append(p.wrong, fmt.Sprintf("messages.%d.content.%d", i, j))
				continue // those after a dropped one do not fit either, or begin anew
			}
			p.last = signature
		}
	}
	return p, nil
}

func (p *prompt) add(role string, block map[string]any) {
	content, _ := json.Marshal(block) // it was decoded; the order of its members is gone
	p.before = append(append(append(p.before, role...), content...), '\n')
}

// blocks returns a content as a list of blocks without cache marks.
func blocks(content any) (list []map[string]any) {
	if text, ok := content.(string); ok {
		return []map[string]any{{"type": "text", "text": text}}
	}
	items, _ := content.([]any)
	for _, item := range items {
		if block, ok := unmarked(item).(map[string]any); ok {
			list = append(list, block)
		}
	}
	return list
}

// unmarked returns a value without cache marks. The content of a result is a list of blocks.
func unmarked(v any) any {
	switch v := v.(type) {
	case []any:
		list := slices.Clone(v)
		for i := range list {
			list[i] = unmarked(list[i])
		}
		return list
	case map[string]any:
		block := maps.Clone(v)
		delete(block, "cache_control")
		if block["type"] == "tool_result" {
			block["content"] = blocks(block["content"])
		}
		return block
	}
	return v
}
