package agent

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// claudeTimeout is the number of seconds that Claude Code waits for a hook, in its settings and in the plugin.
const claudeTimeout = 5

// claudeHooks: a PostToolUse hook replaces a result by updatedToolOutput, in the tool's own shape. A failed command triggers
// PostToolUseFailure instead, which cannot replace anything.
var claudeHooks = Hooks{
	Events: []Event{
		{Name: "PostToolUse", Matcher: "Bash|PowerShell|Read|Grep|mcp__.*", Was: "Bash|Read|Grep|mcp__.*", Timeout: claudeTimeout},
		{Name: "PostToolUseFailure", Matcher: "Bash|PowerShell", Was: "Bash", Timeout: claudeTimeout},
		{Name: "PreCompact", Timeout: claudeTimeout}, {Name: "SessionStart", Matcher: "startup|resume|clear|compact", Was: "compact", Timeout: claudeTimeout},
		{Name: "Stop", Timeout: claudeTimeout},
	},
	Enabled: []string{"enabledPlugins", "mcp-pruner@mcp-pruner"},
	Others:  []string{"mcp__*"},
	Read:    readClaude,
	Answer:  answerClaude,
	Remind: func(text string) any {
		return map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "SessionStart", "additionalContext": text}}
	},
	Add: func(text string) any {
		return map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PostToolUseFailure", "additionalContext": text}}
	},
	Tell:    systemMessage,
	Prelude: "CLAUDE_ENV_FILE",
	Running: claudeRunning,
}

// systemMessage is an answer whose text the client shows to its user and not to its model.
func systemMessage(text string) any { return map[string]any{"systemMessage": text} }

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
	case event == "SessionStart":
		return c, Started
	case event == "Stop":
		return c, TurnEnded
	case event != "PostToolUse" && event != "PostToolUseFailure":
		return c, Unconcerned
	}
	c.SpillIn = claudeResults(c)
	if c.Agent != "" {
		c.Role, c.Parent = m.Text("agent_type"), c.Transcript
		c.Transcript = agentTranscript(m, c)
	}
	if m.Text("hook_event_name") == "PostToolUseFailure" {
		if c.Shown = claudeEnds(m.Text("error")); c.Shown == nil || kind(c.Tool) != "bash" {
			return c, Unconcerned
		}
		return c, ToolFailed
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
		c.Text, c.Spill = r.Text("stdout"), r.Text("persistedOutputPath")
		return r["isImage"] != true
	case "read":
		file := r.Child("file")
		c.Text, c.First, c.Numbered = file.Text("content"), file.Integer("startLine"), true
		c.Unchanged = r.Text("type") == "file_unchanged" && r.Text("source") == "" // else it stands in the prompt
		return r.Text("type") == "text" || c.Unchanged
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
		output["updatedToolOutput"] = without(with(shape, map[string]any{"stdout": r.Text}), "persistedOutputPath", "persistedOutputSize")
	case "grep":
		output["updatedToolOutput"] = with(shape, map[string]any{"content": r.Text, "numLines": strings.Count(r.Text, "\n") + 1})
	case "read":
		part, ok := r.Part()
		if !ok {
			return nil
		}
		file := map[string]any{"totalLines": part.First + part.Count - 1} // it is missing where the client says that nothing has changed
		maps.Copy(file, shape.Child("file"))
		maps.Copy(file, map[string]any{"content": part.Text, "numLines": part.Count, "startLine": part.First})
		output["updatedToolOutput"] = with(shape, map[string]any{"type": "text", "file": file})
		if part.Note != "" {
			output["additionalContext"] = part.Note
		}
	default:
		output["updatedToolOutput"] = []any{map[string]any{"type": "text", "text": r.Text}}
		if _, ok := m["tool_response"].(string); ok {
			output["updatedToolOutput"] = r.Text
		}
	}
	return map[string]any{"hookSpecificOutput": output}
}

// claudeResults returns the folder with the session's long results, which is beside its transcript. "" means that the
// transcript is not named after the session.
func claudeResults(c Call) string {
	folder, ok := strings.CutSuffix(c.Transcript, ".jsonl")
	if !ok || c.Session == "" || filepath.Base(folder) != c.Session {
		return ""
	}
	return filepath.Join(folder, "tool-results")
}

// claudeCut matches the text that Claude Code writes in place of the middle of a failed command's output.
var claudeCut = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\s*\.\.\. \[\d+ characters truncated\] \.\.\.\s*`)
})

// claudeEnds returns what Claude Code shows of the output of a failed command, or nil if it shows all of it.
func claudeEnds(text string) *Ends {
	if _, output, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(text, "Exit code ") {
		text = output
	}
	at := claudeCut().FindStringIndex(text)
	if at == nil {
		return nil
	}
	return &Ends{text[:at[0]], text[at[1]:]}
}

// claudeRunning: Claude Code lets a command write to TMPDIR/claude-UID/PROJECT/SESSION/tasks/ID.output, and removes the file
// when the command has failed, before it runs a hook.
func claudeRunning(path string) (session string, ok bool) {
	tasks := filepath.Dir(path)
	if filepath.Ext(path) != ".output" || filepath.Base(tasks) != "tasks" {
		return "", false
	}
	return filepath.Base(filepath.Dir(tasks)), true
}

// with returns a copy of an object with some members replaced.
func with(object Message, members map[string]any) map[string]any {
	copied := maps.Clone(map[string]any(object))
	maps.Copy(copied, members)
	return copied
}

// without removes members of an object.
func without(object map[string]any, names ...string) map[string]any {
	for _, name := range names {
		delete(object, name)
	}
	return object
}

// ClaudeUnchanged are the beginnings of what Claude Code shows its model, up to some version between 2.1.219 and 2.1.329, where a
// Read asks for the lines that the latest Read of the file has shown, and the file's time has not changed.
var ClaudeUnchanged = []string{"File unchanged since last read.", "Wasted call \u2014 file unchanged since your last Read."}
