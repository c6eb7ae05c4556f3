package agent

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// codexHooks: a PostToolUse hook that "blocks" replaces the result by its reason. In code mode the model gets that as an
// error, so models that work in code mode are left alone.
var codexHooks = Hooks{
	Events:  []Event{{Name: "PostToolUse", Matcher: "Bash|mcp__.*", Timeout: 5}},
	Note:    "Codex runs new hooks only after you trust them: start codex and open /hooks.",
	Longest: 9_500, // it cuts longer texts and writes them to a file
	Others:  []string{"mcp__*"},
	Read:    readCodex,
	Answer: func(_ Message, _ string, r Replacement) any {
		return map[string]any{"decision": "block", "reason": r.Text}
	},
}

func readCodex(m Message, kind func(string) string) (Call, Occasion) {
	if m.Text("hook_event_name") != "PostToolUse" || codeMode(m.Text("model")) {
		return Call{}, Unconcerned
	}
	c := Call{
		Session: m.Text("session_id"), Folder: m.Text("cwd"), Transcript: m.Text("transcript_path"),
		ID: m.Text("tool_use_id"), Tool: m.Text("tool_name"), Args: m.Child("tool_input"), Text: mcpText(m["tool_response"]),
	}
	c.Clipped = strings.Contains(c.Text, "Warning: truncated output (original token count") // the transcript has more of it
	is := kind(c.Tool)
	c.Statusless = is == "bash"
	if c.Text == "" || is != "bash" && is != "other" {
		return c, Unconcerned
	}
	return c, ToolEnded
}

// codexProcess matches what Codex says of a command before its output: that it goes on, under a number, or that it ended.
var codexProcess = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:.*\n){0,4}Process (?:running with session ID (\d+)|exited with code )`)
})

// CodexProcess returns the number of the command whose output so far is given, if it goes on, and whether it ended. Codex
// runs its hook for a command once it has ended, also if that is seen by write_stdin, and names the command.
func CodexProcess(output string) (number string, ended bool) {
	m := codexProcess().FindStringSubmatch(output)
	if m == nil {
		return "", false
	}
	return m[1], m[1] == ""
}

// CodexWaits is Codex's tool that writes to a command that goes on, or waits for its output.
const CodexWaits = "write_stdin"

// modelVersion matches the version in a model's name, such as gpt-5.6-codex.
var modelVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^gpt-(\d+)(?:\.(\d+))?`) })

// codeMode reports whether a model calls its tools from code, as gpt-5.6 and later do.
func codeMode(model string) bool {
	v := modelVersion().FindStringSubmatch(model)
	if v == nil {
		return false
	}
	major, _ := strconv.Atoi(v[1])
	minor, _ := strconv.Atoi(v[2]) // 0 if there is none
	return major > 5 || major == 5 && minor >= 6
}
