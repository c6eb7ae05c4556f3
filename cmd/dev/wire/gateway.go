package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
)

// nouns and actions name the tools of the server behind the gateway, such as create_issue.
var (
	nouns   = []string{"issue", "order", "page", "user"}
	actions = []string{"create", "get", "list", "update", "delete"}
)

// newOther serves another MCP server, whose answers depend only on the call.
func newOther() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion, Name string
				Arguments             object
			}
		}
		if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answer := object{"jsonrpc": "2.0", "id": m.ID}
		switch m.Method {
		case "initialize":
			answer["result"] = object{"protocolVersion": m.Params.ProtocolVersion, "capabilities": object{"tools": object{}}, "instructions": "Ask for pages by name.",
				"serverInfo": object{"name": "other", "version": "1"}}
		case "tools/list":
			answer["result"] = object{"tools": otherTools()}
		case "tools/call":
			answer["result"] = otherResult(m.Params.Name, m.Params.Arguments)
			if m.Params.Name == "delete_user" {
				delete(answer, "result")
				answer["error"] = object{"code": -32050, "message": "users stay", "data": object{"asked": m.Params.Arguments}}
			}
		default:
			answer["error"] = object{"code": -32601, "message": "no such method"}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, encode(answer))
	}))
}

func otherTools() (all []any) {
	for _, noun := range nouns {
		for _, action := range actions {
			all = append(all, object{
				"name": action + "_" + noun, "description": "Use it to " + action + " one " + noun + ". It checks the rights of the caller first and writes a line to the journal.",
				"inputSchema": object{"type": "object", "required": []any{"name"}, "properties": object{
					"name":  object{"type": "string", "description": "The name of the " + noun + " as the list shows it.", "maxLength": 200},
					"limit": object{"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
					"body":  object{"type": "object", "properties": object{"title": object{"type": "string"}, "labels": object{"type": "array", "items": object{"type": "string"}}}}}},
				"annotations": object{"readOnlyHint": action == "get" || action == "list"},
			})
		}
	}
	return all
}

func otherResult(tool string, args object) object {
	text := encode(args)
	switch {
	case strings.HasPrefix(tool, "list"):
		text = strings.Repeat("an entry of the list that says nothing\n", 400) + "the entry about refunds\n"
	case strings.HasPrefix(tool, "update"):
		return object{"isError": true, "content": []any{object{"type": "text", "text": "nobody may update it"}}}
	case strings.HasPrefix(tool, "get"):
		return object{"structuredContent": args, "_meta": object{"x": 1}, "content": []any{object{"type": "text", "text": text},
			object{"type": "image", "data": "AAAA", "mimeType": "image/png"}}}
	}
	return object{"content": []any{object{"type": "text", "text": text}}}
}

// gateway plays a client's share of the calls, half of them in each form.
func (s *stand) gateway(c client) (all []exchange, err error) {
	n := s.size.tools / len(clients)
	if n == 0 {
		return nil, nil
	}
	config, mapping := filepath.Join(s.dir, "servers.json"), filepath.Join(s.dir, "map.json")
	if err := os.WriteFile(config, []byte(encode(object{"mcpServers": object{"other": object{"type": "http", "url": s.other.URL}}})), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(mapping, []byte(`{"servers":{"other":{"prune_over":2000}}}`), 0o600); err != nil {
		return nil, err
	}
	i := len(c.name) // so that clients make different calls
	for _, mode := range []string{"group", "trim", "auto"} {
		p, err := s.serve([]string{"PRUNER_URL=embedded", "MCP_PRUNER_LOG_LEVEL=error"}, "gateway", "--mode", mode, "--map", mapping, config)
		if err != nil {
			return nil, err
		}
		t := talk{process: p, client: c.name, masker: newMasker()}
		t.exchange(t.request("initialize", object{"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": c.name, "version": "1"}}), true)
		t.exchange(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, false)
		t.exchange(t.request("tools/list", object{}), true)
		for range (n + 2) / 3 {
			t.exchange(t.otherCall(mode, i), true)
			i++
		}
		all = append(all, t.all...)
		if err := p.end(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// otherCall returns the ith call, in the names of one form. Some are wrong.
func (t *talk) otherCall(mode string, i int) string {
	noun, action := nouns[i/len(actions)%len(nouns)], actions[i%len(actions)]
	args := object{"name": fmt.Sprintf("%s %d", noun, i), "context_focus_question": "what is said about refunds"}
	switch i % 8 {
	case 5:
		delete(args, "name")
	case 6:
		args["limit"] = "many"
	case 7:
		action = "help"
	}
	if mode == "group" {
		args["action"] = action
		return t.call("other_"+noun, args)
	}
	return t.call("other_"+action+"_"+noun, args)
}
