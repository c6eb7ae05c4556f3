package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// row is a message in the form of Chat Completions, in which LiteLLM shows every request to an engine, and what it came from.
type row struct {
	message map[string]any
	content any              // as it came
	write   func(answer any) // puts the content that came back in its place; nil: LiteLLM has no place for it
}

// body is a request as values. LiteLLM writes its own JSON.
type body map[string]any

func (b body) list(name string) (all []map[string]any) {
	list, _ := b[name].([]any)
	for _, m := range list {
		if one, ok := m.(map[string]any); ok {
			all = append(all, one)
		}
	}
	return all
}

// rows returns what LiteLLM shows: the system prompt, then the messages, whatever the client's API.
func (b body) rows() []row {
	all := []row{}
	add := func(message map[string]any, write func(any)) {
		all = append(all, row{message, message["content"], write})
	}
	for _, name := range []string{"system", "instructions"} {
		if b[name] != nil {
			add(map[string]any{"role": "system", "content": b[name]}, func(answer any) { b[name] = answer })
		}
	}
	for _, item := range b.list("input") {
		switch item["type"] {
		case "function_call":
			add(chatCall(item["call_id"], item["name"], item["arguments"]), nil)
		case "function_call_output":
			add(map[string]any{"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]}, func(answer any) { item["output"] = answer })
		default:
			add(map[string]any{"role": item["role"], "content": words(item["content"])}, nil)
		}
	}
	for _, m := range b.list("messages") {
		blocks := body(m).list("content")
		if len(blocks) == 0 {
			add(m, func(answer any) { m["content"] = answer })
		}
		for _, block := range blocks {
			switch block["type"] {
			case "tool_use":
				input, _ := json.Marshal(block["input"])
				add(chatCall(block["id"], block["name"], string(input)), nil)
			case "tool_result":
				message := map[string]any{"role": "tool", "tool_call_id": block["tool_use_id"], "content": block["content"]}
				if mark := block["cache_control"]; mark != nil {
					message["cache_control"] = mark
				}
				add(message, func(answer any) { block["content"] = answer })
			case "thinking":
				add(map[string]any{"role": "assistant", "content": "", "thinking_blocks": []any{block}}, nil)
			default:
				add(map[string]any{"role": m["role"], "content": []any{block}}, nil)
			}
		}
	}
	return all
}

func chatCall(id, name, arguments any) map[string]any {
	function := map[string]any{"name": name, "arguments": arguments}
	return map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": function}}}
}

// words returns the content of a message of the Responses API as one of Chat Completions has it.
func words(content any) any {
	var all []any
	for _, block := range (body{"": content}).list("") {
		all = append(all, map[string]any{"type": "text", "text": block["text"]})
	}
	return all
}

// throughLiteLLM returns a request with the messages that the proxy made of its own, and with LiteLLM's tool if a hash is among them.
func (g *gateway) throughLiteLLM(ctx context.Context, raw []byte) ([]byte, error) {
	b := body{}
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, err
	}
	rows := b.rows()
	before := make([]any, len(rows))
	for i, r := range rows {
		before[i] = r.message
	}
	model, _ := b["model"].(string)
	came := []byte(encode(before))
	answer, err := g.ask(ctx, came, model)
	if err != nil {
		return nil, err
	}
	if err := checkMessages(came, answer); err != nil {
		return nil, err
	}
	var after []map[string]any
	if err := json.Unmarshal(answer, &after); err != nil {
		return nil, err
	}
	if len(after) != len(rows) {
		return nil, fmt.Errorf("%d messages became %d", len(rows), len(after))
	}
	found, err := takeBack(rows, after)
	if err != nil {
		return nil, err
	}
	if len(found) != len(hashes.FindAll(answer, -1)) {
		return nil, errors.New("a hash stands where LiteLLM does not look for it")
	}
	if len(found) > 0 {
		tools, _ := b["tools"].([]any)
		b["tools"] = append(tools, map[string]any{"name": "headroom_retrieve", "description": "Retrieve original content that was compressed."})
	}
	return []byte(encode(b)), g.retrieve(ctx, came, found)
}

// takeBack puts the returned contents into the request, and returns the hashes in them. LiteLLM looks for hashes in contents that
// are strings, and in text blocks. A request to the Responses API keeps the model's reasoning only if nothing but contents changed.
func takeBack(rows []row, after []map[string]any) (found []string, err error) {
	for i, r := range rows {
		content := after[i]["content"]
		changed := encode(r.content) != encode(content)
		if r.message["content"] = content; encode(r.message) != encode(after[i]) || changed && r.write == nil {
			return nil, fmt.Errorf("a message is not one that LiteLLM takes back: %.200s", encode(after[i]))
		}
		if changed {
			r.write(content)
		}
		texts := []byte(encode(content))
		if blocks := body(after[i]).list("content"); blocks != nil {
			texts = nil
			for _, block := range blocks {
				texts = append(texts, encode(block["text"])...)
			}
		}
		for _, m := range hashes.FindAllSubmatch(bytes.TrimSpace(texts), -1) {
			found = append(found, string(m[1]))
		}
	}
	return found, nil
}
