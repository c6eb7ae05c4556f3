package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// codexHooks: a PostToolUse hook that "blocks" replaces the result by its reason. Code that calls a tool gets that as an
// error instead, so calls made from code are left alone.
var codexHooks = Hooks{
	Events:  []Event{{Name: "PostToolUse", Matcher: "Bash|mcp__.*", Timeout: 5}},
	Note:    "Codex runs new hooks only after you trust them: start codex, which asks, or open /hooks there.",
	Trusted: codexTrusts,
	Longest: 9_500, // it cuts longer texts and writes them to a file
	Others:  []string{"mcp__*"},
	Read:    readCodex,
	Answer: func(_ Message, _ string, r Replacement) any {
		return map[string]any{"decision": "block", "reason": r.Text}
	},
}

// codexTrusts: by /hooks Codex notes the hash of each hook that it may run, as canonical JSON, under the hook's place.
func codexTrusts(settings map[string]any, file, event string, n int, entry map[string]any) bool {
	list, _ := entry["hooks"].([]any)
	if len(list) != 1 {
		return false
	}
	only, _ := list[0].(map[string]any)
	one := maps.Clone(only)
	if one == nil {
		return false
	}
	one["async"] = only["async"] == true
	name := strings.ToLower(capital().ReplaceAllString(event, "${1}_$2"))
	identity := map[string]any{"event_name": name, "hooks": []any{one}}
	if entry["matcher"] != nil {
		identity["matcher"] = entry["matcher"]
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(identity) != nil {
		return false
	}
	hash := fmt.Sprintf("sha256:%x", sha256.Sum256(bytes.TrimSpace(text.Bytes())))
	noted := memberOf(settings, "hooks", "state", fmt.Sprintf("%s:%s:%d:0", file, name, n))
	return noted["trusted_hash"] == hash && noted["enabled"] != false
}

// capital matches where a word of an event's name ends.
var capital = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([a-z])([A-Z])`) })

func readCodex(m Message, kind func(string) string) (Call, Occasion) {
	if m.Text("hook_event_name") != "PostToolUse" || calledFromCode(m.Text("tool_use_id")) {
		return Call{}, Unconcerned
	}
	c := Call{
		Session: m.Text("session_id"), Folder: m.Text("cwd"), Transcript: m.Text("transcript_path"),
		ID: m.Text("tool_use_id"), Tool: m.Text("tool_name"), Args: m.Child("tool_input"), Text: mcpText(m["tool_response"]),
	}
	c.Clipped = strings.Contains(c.Text, "Warning: truncated output (original token count") // the transcript has more of it
	is := kind(c.Tool)
	_, told := CodexExit(c.Text)
	c.Statusless = is == "bash" && !told
	if c.Text == "" || is != "bash" && is != "other" {
		return c, Unconcerned
	}
	return c, ToolEnded
}

// CodexHead is the expression for what Codex writes before an output: "Command: ..." in versions before 0.120, "Chunk ID: 9014a9",
// "Wall time: ...", "Process exited with code 3", "Original token count: ...", "Output:".
const CodexHead = `\A(?:Command: (?s:.+?)\n(?:Chunk ID: [^\n]*\n))?(?:(?:Chunk ID|Wall time|Exit code|Original token count|Total output lines): [^\n]*\n` +
	`|Process (?:exited|running) with [^\n]*\n)+Output:\n`

// The head of an output, and what it says of the command: that it goes on, under a number, or that it ended.
var (
	codexHead    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(CodexHead) })
	codexProcess = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:Process running with session ID (\d+)|(?:Process exited with code|Exit code:) (-?\d{1,9}))$`)
	})
)

// codexEnd returns the number of the command that goes on, or its exit status. Both are "" if the output says neither.
func codexEnd(output string) (number, status string) {
	lines := codexProcess().FindAllStringSubmatch(codexHead().FindString(output[:min(len(output), 4096)]), -1)
	if len(lines) == 0 {
		return "", ""
	}
	last := lines[len(lines)-1] // the command, which stands before it, may have such lines
	return last[1], last[2]
}

// CodexProcess returns the number of the command whose output so far is given, if it goes on, and whether it ended. Codex
// runs its hook for a command once it has ended, also if that is seen by write_stdin, and names the command.
func CodexProcess(output string) (number string, ended bool) {
	number, status := codexEnd(output)
	return number, status != ""
}

// CodexExit returns the exit status that stands before a command's output, as Codex shows it to its model. Versions 0.130 to 0.142 write
// it nowhere else.
func CodexExit(output string) (status int, ok bool) {
	_, text := codexEnd(output)
	status, err := strconv.Atoi(text)
	return status, err == nil
}

// CodexCode is Codex's tool that runs code of the model, which can run commands.
const CodexCode = "exec"

// CodexWaits is Codex's tool that writes to a command that goes on, or waits for its output.
const CodexWaits = "write_stdin"

// calledFromCode reports whether a call was made by code that the model wrote, by the call's id: the model's own calls have
// another beginning. Which models write code is no matter of their names, and changes with their settings. A call without an
// id may be one of them.
func calledFromCode(id string) bool { return id == "" || strings.HasPrefix(id, "exec-") }
