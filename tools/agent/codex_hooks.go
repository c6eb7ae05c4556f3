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
	Note:    "Codex runs new hooks only after you trust them: start codex and open /hooks.",
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

// codexHead matches what Codex says before all of a command's output that has ended: in any order, but each a line of its own.
var codexHead = sync.OnceValue(func() *regexp.Regexp {
	const more = `(?:(?:Chunk ID|Wall time|Original token count|Total output lines): [^\n]*\n)*`
	return regexp.MustCompile(`\A` + more + `(?:Process exited with code|Exit code:) (-?\d{1,9})\n` + more + `Output:\n`)
})

// CodexExit returns the exit status that stands before a command's output, as Codex shows it to its model. Versions 0.139 to 0.142 write
// it nowhere else.
func CodexExit(output string) (status int, ok bool) {
	m := codexHead().FindStringSubmatch(output)
	if m == nil {
		return 0, false
	}
	status, err := strconv.Atoi(m[1])
	return status, err == nil
}

// CodexCode is Codex's tool that runs code of the model, which can run commands.
const CodexCode = "exec"

// CodexWaits is Codex's tool that writes to a command that goes on, or waits for its output.
const CodexWaits = "write_stdin"

// CodexCode is Codex's tool that runs code, which calls the other tools.
const CodexCode = "exec"

// calledFromCode reports whether a call was made by code that the model wrote, by the call's id: the model's own calls have
// another beginning. Which models write code is no matter of their names, and changes with their settings. A call without an
// id may be one of them.
func calledFromCode(id string) bool { return id == "" || strings.HasPrefix(id, "exec-") }
