package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// claude is Claude Code. Its PostToolUse hook replaces a result by updatedToolOutput, in the tool's own
// shape. A failed command triggers PostToolUseFailure instead, which cannot replace anything.
func claude() client {
	return client{name: "claude", read: readClaude, answer: answerClaude, other: rememberCompaction}
}

func readClaude(m map[string]any) (finished, bool) {
	if text(m, "hook_event_name") != "PostToolUse" {
		return finished{}, false
	}
	f := finished{
		session: text(m, "session_id"), cwd: text(m, "cwd"), transcript: text(m, "transcript_path"), agent: text(m, "agent_id"),
		id: text(m, "tool_use_id"), tool: text(m, "tool_name"), args: child(m, "tool_input"),
	}
	if f.agent != "" {
		f.transcript = agentTranscript(m, f)
	}
	ok := f.readOutput(m["tool_response"])
	return f, ok
}

// agentTranscript returns the path of a sub-agent's transcript, which is beside the session's.
func agentTranscript(m map[string]any, f finished) string {
	if path := text(m, "agent_transcript_path"); path != "" {
		return path
	}
	path := filepath.Join(strings.TrimSuffix(f.transcript, ".jsonl"), "subagents", "agent-"+filepath.Base(f.agent)+".jsonl")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return f.transcript
}

// readOutput extracts the text from a tool's own form of output.
func (f *finished) readOutput(response any) bool {
	kind := history.KindOf(f.tool)
	if strings.HasPrefix(f.tool, "mcp__") {
		if kind != history.Other {
			return false // this program's own server prunes its results itself
		}
		f.text = mcpText(response)
		return f.text != ""
	}
	r, _ := response.(map[string]any)
	switch kind {
	case history.Bash:
		f.text = text(r, "stdout")
		return text(r, "persistedOutputPath") == "" && r["isImage"] != true
	case history.Read:
		file := child(r, "file")
		f.text, f.first, f.numbered = text(file, "content"), integer(file, "startLine"), true
		return text(r, "type") == "text"
	case history.Grep:
		f.text = text(r, "content")
		return text(r, "mode") == "content"
	}
	return false
}

// mcpText returns the text of an MCP result that is a single text, else "".
func mcpText(response any) string {
	if s, ok := response.(string); ok {
		return s
	}
	if m, ok := response.(map[string]any); ok {
		response = m["content"]
	}
	blocks, _ := response.([]any)
	if len(blocks) != 1 {
		return ""
	}
	block, _ := blocks[0].(map[string]any)
	if text(block, "type") != "text" {
		return ""
	}
	return text(block, "text")
}

func answerClaude(message map[string]any, f finished, r *existing.Replacement, body existing.Body) ([]byte, error) {
	response := message["tool_response"]
	output := map[string]any{"hookEventName": "PostToolUse"}
	pruned := existing.Text(body, r.Cut, r.Way)
	switch shape, _ := response.(map[string]any); history.KindOf(f.tool) {
	case history.Bash:
		output["updatedToolOutput"] = with(shape, map[string]any{"stdout": pruned})
	case history.Grep:
		lines := strings.Count(pruned, "\n") + 1
		output["updatedToolOutput"] = with(shape, map[string]any{"content": pruned, "numLines": lines})
	case history.Read:
		main, note := existing.Split(body, r.Cut, r.Way)
		if main.From == 0 || !existing.NoteFits(note) {
			return nil, nil
		}
		file := with(child(shape, "file"), map[string]any{
			"content": strings.Join(body.Lines[main.From-1:main.To], "\n"), "numLines": main.To - main.From + 1, "startLine": body.First + main.From - 1,
		})
		output["updatedToolOutput"] = with(shape, map[string]any{"file": file})
		output["additionalContext"] = note
	default:
		if _, ok := response.(string); ok {
			output["updatedToolOutput"] = pruned
		} else {
			output["updatedToolOutput"] = []any{map[string]any{"type": "text", "text": pruned}}
		}
	}
	return json.Marshal(map[string]any{"hookSpecificOutput": output})
}

// with returns a copy of an object with some members replaced.
func with(object, members map[string]any) map[string]any {
	copied := maps.Clone(object)
	maps.Copy(copied, members)
	return copied
}

// maxReminded is the largest number of outputs that a reminder names.
const maxReminded = 8

// rememberCompaction marks a compaction in the ledger. After the compaction it names the largest outputs
// that were removed and can be recovered.
func rememberCompaction(ctx context.Context, m map[string]any, s state) []byte {
	kind := text(m, "hook_event_name")
	if kind != "PreCompact" && (kind != "SessionStart" || text(m, "source") != "compact") {
		return nil
	}
	store, err := ledger.Open(ctx, s.ledger, nil)
	if err != nil {
		return nil
	}
	defer func() { _ = store.Close() }() // the stored entries are complete by now
	session := contextgc.SessionID(text(m, "session_id"))
	if kind == "PreCompact" {
		mark := contextgc.Mark{Session: session, Kind: contextgc.Compacted, Detail: text(m, "trigger")}
		if cwd := text(m, "cwd"); cwd != "" {
			mark.Project = contextgc.ProjectOf(cwd)
		}
		_ = store.AddMark(ctx, mark) // a mark that cannot be stored is dropped
		return nil
	}
	went, err := store.List(ctx, contextgc.Filter{Session: session, Tier: contextgc.Stashed})
	went = slices.DeleteFunc(went, func(w contextgc.Segment) bool { return w.SupersededBy != "" })
	if err != nil || len(went) == 0 {
		return nil
	}
	slices.Reverse(went)
	slices.SortStableFunc(went, func(a, b contextgc.Segment) int { return b.Bytes - a.Bytes })
	went = went[:min(len(went), maxReminded)]
	return s.reminder(store.Name(), s.project(text(m, "cwd")), went)
}

// reminder names outputs of a project in a ledger by ids with which they can be recovered.
func (s state) reminder(file, project string, went []contextgc.Segment) []byte {
	index := archive.Index{State: s.dir}
	var named []string
	for _, w := range went {
		about := w.Tool + " " + w.Path
		if w.FirstLine > 0 {
			about += fmt.Sprintf(" %d-%d", w.FirstLine, w.LastLine)
		}
		id, err := index.Claim(archive.NewEntry(w.Hash, file, project, w.FirstLine))
		if err != nil {
			return nil
		}
		named = append(named, fmt.Sprintf("%s (%s, %.1f kB)", id, strings.TrimSpace(about), float64(w.Bytes)/1e3))
	}
	answer, err := json.Marshal(map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName":     "SessionStart",
		"additionalContext": "Whole outputs from before the compaction, recoverable with `" + s.wayBack("claude") + " ID`: " + strings.Join(named, ", "),
	}})
	if err != nil {
		return nil
	}
	return answer
}
