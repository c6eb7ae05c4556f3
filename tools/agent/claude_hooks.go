package agent

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// claudeHooks: a PostToolUse hook replaces a result by updatedToolOutput, in the tool's own shape. A failed command triggers
// PostToolUseFailure instead, which cannot replace anything.
var claudeHooks = Hooks{
	Events:  []Event{{"PostToolUse", "Bash|Read|Grep|mcp__.*", 5}, {"PreCompact", "", 5}, {"SessionStart", "compact", 5}},
	Enabled: []string{"enabledPlugins", "mcp-pruner@mcp-pruner"},
	Read:    readClaude,
	Answer:  answerClaude,
	Remind: func(text string) any {
		return map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "SessionStart", "additionalContext": text}}
	},
}

func readClaude(m Message, kind func(string) string) (Call, Occasion) {
	c := Call{
		Session: m.Text("session_id"), Folder: m.Text("cwd"), Transcript: m.Text("transcript_path"), Agent: m.Text("agent_id"),
		ID: m.Text("tool_use_id"), Tool: m.Text("tool_name"), Args: m.Child("tool_input"), Trigger: m.Text("trigger"),
	}
	switch event := m.Text("hook_event_name"); {
	case event == "PreCompact":
		return c, Compacting
	case event == "SessionStart" && m.Text("source") == "compact":
		return c, Compacted
	case event != "PostToolUse":
		return c, Unconcerned
	}
	if c.Agent != "" {
		c.Transcript = agentTranscript(m, c)
	}
	if !c.readOutput(m["tool_response"], kind(c.Tool)) {
		return c, Unconcerned
	}
	return c, ToolEnded
}

// agentTranscript returns the path of a sub-agent's transcript, which is beside the session's.
func agentTranscript(m Message, c Call) string {
	if path := m.Text("agent_transcript_path"); path != "" {
		return path
	}
	path := filepath.Join(strings.TrimSuffix(c.Transcript, ".jsonl"), "subagents", "agent-"+filepath.Base(c.Agent)+".jsonl")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return c.Transcript
}

// readOutput extracts the text from a tool's own form of output.
func (c *Call) readOutput(response any, kind string) bool {
	if strings.HasPrefix(c.Tool, "mcp__") {
		if kind != "other" {
			return false // this program's own server prunes its results itself
		}
		c.Text = mcpText(response)
		return c.Text != ""
	}
	object, _ := response.(map[string]any)
	r := Message(object)
	switch kind {
	case "bash":
		c.Text = r.Text("stdout")
		return r.Text("persistedOutputPath") == "" && r["isImage"] != true
	case "read":
		file := r.Child("file")
		c.Text, c.First, c.Numbered = file.Text("content"), file.Integer("startLine"), true
		return r.Text("type") == "text"
	case "grep":
		c.Text = r.Text("content")
		return r.Text("mode") == "content"
	}
	return false
}

func answerClaude(m Message, kind string, r Replacement) any {
	output := map[string]any{"hookEventName": "PostToolUse"}
	shape := m.Child("tool_response")
	switch kind {
	case "bash":
		output["updatedToolOutput"] = with(shape, map[string]any{"stdout": r.Text})
	case "grep":
		output["updatedToolOutput"] = with(shape, map[string]any{"content": r.Text, "numLines": strings.Count(r.Text, "\n") + 1})
	case "read":
		part, ok := r.Part()
		if !ok {
			return nil
		}
		file := with(shape.Child("file"), map[string]any{"content": part.Text, "numLines": part.Count, "startLine": part.First})
		output["updatedToolOutput"] = with(shape, map[string]any{"file": file})
		output["additionalContext"] = part.Note
	default:
		output["updatedToolOutput"] = []any{map[string]any{"type": "text", "text": r.Text}}
		if _, ok := m["tool_response"].(string); ok {
			output["updatedToolOutput"] = r.Text
		}
	}
	return map[string]any{"hookSpecificOutput": output}
}

// with returns a copy of an object with some members replaced.
func with(object Message, members map[string]any) map[string]any {
	copied := maps.Clone(map[string]any(object))
	maps.Copy(copied, members)
	return copied
}
