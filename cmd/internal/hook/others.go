package hook

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
)

// codexShows is the number of bytes of a hook's text that Codex shows. It cuts longer texts and writes them
// to a file.
const codexShows = 9_500

// codex is Codex: a PostToolUse hook that "blocks" replaces the result by its reason. In code mode the
// model gets that as an error, so models that work in code mode are left alone.
func codex() client {
	return client{name: "codex", read: readCodex, answer: func(_ map[string]any, _ finished, r *existing.Replacement, body existing.Body) ([]byte, error) {
		pruned := existing.Text(body, r.Cut, r.Way)
		if len(pruned) > codexShows {
			return nil, nil
		}
		return json.Marshal(map[string]any{"decision": "block", "reason": pruned})
	}}
}

func readCodex(m map[string]any) (finished, bool) {
	if text(m, "hook_event_name") != "PostToolUse" || codeMode(text(m, "model")) {
		return finished{}, false
	}
	f := finished{
		session: text(m, "session_id"), cwd: text(m, "cwd"), transcript: text(m, "transcript_path"),
		id: text(m, "tool_use_id"), tool: text(m, "tool_name"), args: child(m, "tool_input"),
	}
	if s, ok := m["tool_response"].(string); ok {
		f.text = s
	} else {
		f.text = mcpText(m["tool_response"])
	}
	if strings.Contains(f.text, "Warning: truncated output (original token count") {
		return finished{}, false // Codex has already cut it, so that the whole cannot be recovered
	}
	kind := history.KindOf(f.tool)
	f.statusless = kind == history.Bash
	return f, f.text != "" && (kind == history.Bash || kind == history.Other)
}

// modelVersion matches the version in a model's name, such as gpt-5.6-codex.
var modelVersion = regexp.MustCompile(`^gpt-(\d+)(?:\.(\d+))?`)

// codeMode reports whether a model calls its tools from code, as gpt-5.6 and later do.
func codeMode(model string) bool {
	v := modelVersion.FindStringSubmatch(model)
	if v == nil {
		return false
	}
	major, _ := strconv.Atoi(v[1])
	minor, _ := strconv.Atoi(v[2]) // 0 if there is none
	return major > 5 || major == 5 && minor >= 6
}

// gemini is Gemini CLI: an AfterTool hook that denies replaces the result, but the model sees an error.
// Therefore results are replaced only if the user enabled it.
func gemini(replaceErrors bool) client {
	return client{
		name: "gemini",
		read: func(message map[string]any) (finished, bool) {
			if !replaceErrors {
				return finished{}, false
			}
			return readGemini(message)
		},
		answer: func(_ map[string]any, _ finished, r *existing.Replacement, body existing.Body) ([]byte, error) {
			return json.Marshal(map[string]any{"decision": "deny", "reason": existing.Text(body, r.Cut, r.Way)})
		},
	}
}

func readGemini(m map[string]any) (finished, bool) {
	if text(m, "hook_event_name") != "AfterTool" {
		return finished{}, false
	}
	f := finished{session: text(m, "session_id"), cwd: text(m, "cwd"), tool: text(m, "tool_name"), args: child(m, "tool_input")}
	response := child(m, "tool_response")
	if response["error"] != nil {
		return finished{}, false
	}
	f.text = text(response, "llmContent")
	return f, f.text != ""
}

// opencode is opencode: its plugin sends the call's data and replaces the result by the answer's output.
func opencode() client {
	return client{name: "opencode", read: readOpencode, other: clearOpencode, answer: func(_ map[string]any, _ finished, r *existing.Replacement, body existing.Body) ([]byte, error) {
		return json.Marshal(map[string]any{"output": existing.Text(body, r.Cut, r.Way)})
	}}
}

// clearOpencode answers the plugin printed by "mcp-pruner gc settings --for opencode". The answer holds the
// replacements of old results by call id.
func clearOpencode(ctx context.Context, m map[string]any, s state) []byte {
	if text(m, "event") != "messages" {
		return nil
	}
	messages, err := json.Marshal(m["messages"])
	if err != nil {
		return nil
	}
	store, err := ledger.Open(ctx, s.ledger, nil)
	if err != nil {
		return nil
	}
	defer func() { _ = store.Close() }() // the decisions are stored by now
	records := openRecords(s.dir)
	defer records.close()
	e := &clearing.Engine{
		Store: store, Index: archive.Index{State: s.dir}, Machine: existing.Machine{Emit: records.emit, Observers: records.observers},
		Runs: clearing.NewRuns(records.emit, nil, "", s.now), Back: s.wayBack, Policy: planner.DefaultPolicy(), Clears: true, Now: s.now,
	}
	outputs, err := e.Opencode(ctx, text(m, "directory"), text(m, "sessionID"), messages)
	if err != nil || len(outputs) == 0 {
		return nil
	}
	answer, err := json.Marshal(map[string]any{"outputs": outputs})
	if err != nil {
		return nil
	}
	return answer
}

func readOpencode(m map[string]any) (finished, bool) {
	f := finished{
		session: text(m, "sessionID"), cwd: text(m, "directory"), id: text(m, "callID"), tool: text(m, "tool"), args: child(m, "args"), text: text(m, "output"),
	}
	if _, told := m["exit"].(float64); told && f.text != "" && history.KindOf(f.tool) == history.Bash {
		f.text = existing.WithStatus(integer(m, "exit"), f.text) // opencode shows its model no status
	}
	if said, ok := m["said"].([]any); ok {
		for _, s := range said {
			if one, ok := s.(string); ok {
				f.said = append(f.said, one)
			}
		}
	}
	f.prompt = text(m, "prompt")
	return f, f.text != ""
}
