package results

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// shown returns the result as the client shows it to its model.
func (s *Sample) shown() string {
	lines := strings.Split(strings.TrimSuffix(s.text, "\n"), "\n")
	var b strings.Builder
	switch kind := s.call().Kind; {
	case s.client == "claude" && kind == history.Read:
		for i, line := range lines {
			fmt.Fprintf(&b, "%d\t%s\n", s.first+i, line)
		}
		return strings.TrimSuffix(b.String(), "\n")
	case s.client == "opencode" && kind == history.Read:
		last := s.first + len(lines) - 1
		fmt.Fprintf(&b, "<path>%s</path>\n<type>file</type>\n<content>\n", s.call().File)
		for i, line := range lines {
			fmt.Fprintf(&b, "%d: %s\n", s.first+i, line)
		}
		fmt.Fprintf(&b, "\n(End of file - total %d lines)\n</content>", last)
		return b.String()
	case s.client == "gemini" && kind == history.Bash:
		fmt.Fprintf(&b, "Output: %s", s.text)
		if s.exit != 0 {
			fmt.Fprintf(&b, "\nExit Code: %d", s.exit)
		}
		return b.String() + "\nProcess Group PGID: 4711"
	case s.client == "gemini" && kind == history.Other:
		return "<untrusted_context>\n" + strings.TrimSuffix(s.text, "\n") + "\n</untrusted_context>"
	}
	return s.text
}

// sent returns the result as it stands in the client's request to its model's API. Codex puts a head before the text
// that its hooks do not see.
func (s *Sample) sent() string {
	if s.client != "codex" || s.call().Kind != history.Bash {
		return s.shown()
	}
	return fmt.Sprintf("Chunk ID: 5f1c02\nWall time: 1.2345 seconds\nProcess exited with code %d\nOriginal token count: %d\nOutput:\n%s",
		s.exit, len(s.text)/4, s.text)
}

// object is a JSON object.
type object = map[string]any

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps, slices and strings only
	}
	return string(b)
}

// Event returns what the client tells its hook.
func (s *Sample) Event(transcript string) string {
	m := object{
		"session_id": "s", "cwd": "/shop", "transcript_path": transcript, "hook_event_name": "PostToolUse",
		"tool_name": s.tool, "tool_input": s.args, "tool_use_id": "t1",
	}
	blocks := []any{object{"type": "text", "text": s.text}}
	switch kind := s.call().Kind; s.client {
	case "claude":
		n := strings.Count(strings.TrimSuffix(s.text, "\n"), "\n") + 1
		switch kind {
		case history.Bash:
			m["tool_response"] = object{"stdout": s.text, "stderr": "", "interrupted": false, "isImage": false}
		case history.Grep:
			m["tool_response"] = object{"mode": "content", "numFiles": 0, "filenames": []any{}, "content": s.text, "numLines": n}
		case history.Read:
			m["tool_response"] = object{"type": "text", "file": object{"filePath": s.call().File, "content": strings.TrimSuffix(s.text, "\n"),
				"numLines": n, "startLine": s.first, "totalLines": s.first + n - 1}}
		default:
			m["tool_response"] = blocks
		}
	case "codex":
		m["turn_id"], m["model"], m["tool_response"] = "turn1", "gpt-5.5", s.text
		if kind == history.Other {
			m["tool_response"] = object{"content": blocks}
		}
	case "gemini":
		m["hook_event_name"], m["tool_response"] = "AfterTool", object{"llmContent": s.shown(), "returnDisplay": ""}
	case "opencode":
		m = object{"sessionID": "s", "directory": "/shop", "callID": "t1", "tool": s.tool, "args": s.args, "output": s.shown(), "exit": s.exit,
			"prompt": s.prompt, "said": []any{s.words}, "ran": []any{"bash"}}
	}
	return encode(m)
}

// Transcript returns the session up to the call as the client writes it. A command has run in it, so that the agent can follow the
// way back.
func (s *Sample) Transcript() string {
	var lines []any
	switch s.client {
	case "claude":
		lines = []any{
			object{"type": "user", "sessionId": "s", "message": object{"role": "user", "content": s.prompt}},
			object{"type": "assistant", "sessionId": "s", "message": object{"id": "m0", "content": []any{
				object{"type": "tool_use", "id": "t0", "name": "Bash", "input": object{"command": "true"}}}}},
			object{"type": "user", "sessionId": "s", "message": object{"role": "user", "content": []any{
				object{"type": "tool_result", "tool_use_id": "t0", "content": ""}}}},
		}
		for _, message := range s.write() {
			lines = append(lines, object{"type": message["role"], "sessionId": "s", "message": message})
		}
		lines = append(lines,
			object{"type": "assistant", "sessionId": "s", "message": object{"id": "m1", "content": []any{
				object{"type": "text", "text": s.words}, object{"type": "tool_use", "id": "t1", "name": s.tool, "input": s.args}}}})
	case "codex":
		item := func(payload object) object { return object{"type": "response_item", "payload": payload} }
		lines = []any{
			object{"type": "session_meta", "payload": object{"id": "s"}},
			item(object{"type": "message", "role": "user", "content": []any{object{"type": "input_text", "text": s.prompt}}}),
			item(object{"type": "function_call", "call_id": "t0", "name": "exec_command", "arguments": `{"cmd":"true"}`}),
			item(object{"type": "function_call_output", "call_id": "t0", "output": "Process exited with code 0\nOutput:\n"}),
			item(object{"type": "message", "role": "assistant", "content": []any{object{"type": "output_text", "text": s.words}}}),
			item(object{"type": "function_call", "call_id": "t1", "name": s.tool, "arguments": encode(s.args)}),
			object{"type": "event_msg", "payload": object{"type": "exec_command_end", "call_id": "t1", "exit_code": s.exit}},
		}
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(encode(line) + "\n")
	}
	return b.String()
}

// write returns the messages of Claude Code by which the agent wrote a file before the call, if it did.
func (s *Sample) write() []object {
	file, text, ok := strings.Cut(s.written, "\n")
	if !ok {
		return nil
	}
	return []object{
		{"role": "assistant", "content": []any{object{"type": "tool_use", "id": "tw", "name": "Write", "input": object{"file_path": file, "content": text}}}},
		{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": "tw", "content": "File created successfully at: " + file}}},
	}
}

// Request returns the body of the client's next request to its model's API, and the request's path.
func (s *Sample) Request() (path, body string) {
	switch s.client {
	case "claude":
		messages := []any{object{"role": "user", "content": s.prompt}}
		for _, message := range s.write() {
			messages = append(messages, message)
		}
		messages = append(messages,
			object{"role": "assistant", "content": []any{object{"type": "text", "text": s.words},
				object{"type": "tool_use", "id": "t1", "name": s.tool, "input": s.args}}},
			object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": "t1", "content": s.sent()}}})
		return "/v1/messages", encode(object{"model": "claude", "max_tokens": 100, "tools": []any{object{"name": "Bash"}}, "messages": messages})
	case "codex":
		return "/v1/responses", encode(object{"model": "gpt-5.5", "tools": []any{object{"type": "function", "name": "exec_command"}}, "input": []any{
			object{"type": "message", "role": "user", "content": []any{object{"type": "input_text", "text": s.prompt}}},
			object{"type": "message", "role": "assistant", "content": []any{object{"type": "output_text", "text": s.words}}},
			object{"type": "function_call", "call_id": "t1", "name": s.tool, "arguments": encode(s.args)},
			object{"type": "function_call_output", "call_id": "t1", "output": s.sent()},
		}})
	case "gemini":
		return "/v1beta/models/gemini-3-pro:generateContent", encode(object{"tools": []any{object{"functionDeclarations": []any{object{"name": "run_shell_command"}}}}, "contents": []any{
			object{"role": "user", "parts": []any{object{"text": s.prompt}}},
			object{"role": "model", "parts": []any{object{"text": s.words}, object{"functionCall": object{"name": s.tool, "args": s.args}}}},
			object{"role": "user", "parts": []any{object{"functionResponse": object{"name": s.tool, "response": object{"output": s.sent()}}}}},
		}})
	}
	return "/v1/chat/completions", encode(object{"model": "any", "tools": []any{object{"type": "function", "function": object{"name": "bash"}}}, "messages": []any{
		object{"role": "user", "content": s.prompt},
		object{"role": "assistant", "content": s.words, "tool_calls": []any{object{"id": "t1", "type": "function",
			"function": object{"name": s.tool, "arguments": encode(s.args)}}}},
		object{"role": "tool", "tool_call_id": "t1", "content": s.sent()},
	}})
}
