package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// childMode is the environment variable that makes this test program the verb hook.
const childMode = "HOOK_TEST_CHILD"

func TestMain(m *testing.M) {
	patience, sessions.TailTime = time.Minute, time.Minute
	if os.Getenv(childMode) == "" {
		os.Exit(m.Run())
	}
	p := command.Process{Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(command.Verb(context.Background(), Command(p), p))
}

// world is a home directory with a transcript in which the agent says what it is looking for.
type world struct {
	t          *testing.T
	state      string
	transcript string
	env        []string
}

const question = "I look where openLedger counts retries."

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, state: t.TempDir()}
	w.transcript = filepath.Join(w.state, "session.jsonl")
	w.say(question)
	t.Cleanup(w.verify)
	return w
}

// verify checks that whatever the hooks recorded is what a machine can have done.
func (w *world) verify() {
	file := filepath.Join(w.state, "mcp-pruner", "hook-trace.jsonl")
	if _, err := os.Stat(file); err != nil {
		return
	}
	require.NoError(w.t, audit.Open([]string{file}, nil, func(files []*audit.Source) error {
		verified, err := audit.Verify(files, audit.Options{All: true})
		require.NoError(w.t, err)
		require.Empty(w.t, verified.Verdict().Problems)
		return nil
	}))
}

// say writes a transcript in which a command has run and the agent says what it looks for.
func (w *world) say(words string) { w.sayAfter(words, "Bash", false) }

// sayAfter writes a transcript in which the agent says what it looks for, after a call of a tool.
func (w *world) sayAfter(words, tool string, failed bool) {
	w.t.Helper()
	lines := []any{
		map[string]any{"type": "user", "sessionId": "s", "message": map[string]any{"role": "user", "content": "fix it"}},
		map[string]any{"type": "assistant", "sessionId": "s", "message": map[string]any{"id": "m0", "content": []any{
			map[string]any{"type": "tool_use", "id": "t0", "name": tool, "input": map[string]any{}},
		}}},
		map[string]any{"type": "user", "sessionId": "s", "message": map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": "t0", "content": "main", "is_error": failed},
		}}},
		map[string]any{"type": "assistant", "sessionId": "s", "message": map[string]any{"id": "m1", "content": []any{
			map[string]any{"type": "text", "text": words}, map[string]any{"type": "tool_use", "id": "t1", "name": "Read", "input": map[string]any{}},
		}}},
	}
	var text bytes.Buffer
	for _, line := range lines {
		b, err := json.Marshal(line)
		require.NoError(w.t, err)
		text.Write(append(b, '\n'))
	}
	require.NoError(w.t, os.WriteFile(w.transcript, text.Bytes(), 0o600))
}

// hook runs the verb on a message and returns its output.
func (w *world) hook(args []string, message any) string {
	w.t.Helper()
	in, ok := message.(string)
	if !ok {
		b, err := json.Marshal(message)
		require.NoError(w.t, err)
		in = string(b)
	}
	var stdout, stderr bytes.Buffer
	p := command.Process{Args: args, Env: append([]string{"XDG_STATE_HOME=" + w.state}, w.env...), Stdin: strings.NewReader(in), Stdout: &stdout, Stderr: &stderr}
	require.Equal(w.t, 0, command.Verb(context.Background(), Command(p), p))
	require.Empty(w.t, stderr.String())
	return stdout.String()
}

func (w *world) message(tool string, input, response any) map[string]any {
	return map[string]any{
		"session_id": "s", "transcript_path": w.transcript, "hook_event_name": "PostToolUse",
		"tool_name": tool, "tool_input": input, "tool_response": response, "tool_use_id": "t1",
	}
}

// source returns a program of which one function answers the question.
func source() string {
	var b strings.Builder
	b.WriteString("package store\n\n")
	for i := range 90 {
		fmt.Fprintf(&b, "// handler%d answers request kind %d.\nfunc handler%d(w writer, r *request) error {\n\tif r == nil {\n\t\treturn errNoRequest\n\t}\n\treturn w.write(%d)\n}\n\n", i, i, i, i)
		if i == 44 {
			b.WriteString("// openLedger opens the ledger and counts retries.\nfunc openLedger(path string) (*ledger, error) {\n\tretries := 0\n\tfor retries < 3 {\n\t\tretries++\n\t}\n\treturn &ledger{retries}, nil\n}\n\n")
		}
	}
	return b.String()
}

func readResponse(content string, first int) map[string]any {
	n := strings.Count(content, "\n") + 1
	return map[string]any{"type": "text", "file": map[string]any{"filePath": "/r/store.go", "content": content, "numLines": n, "startLine": first, "totalLines": n}}
}

func hookOutput(t *testing.T, answer string) map[string]any {
	t.Helper()
	var m struct {
		Output map[string]any `json:"hookSpecificOutput"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &m), answer)
	require.Equal(t, "PostToolUse", m.Output["hookEventName"])
	return m.Output
}

func TestReadKeepsTrueNumbers(t *testing.T) {
	w := newWorld(t)
	content := source()
	lines := strings.Split(content, "\n")
	out := hookOutput(t, w.hook([]string{"claude"}, w.message("Read", map[string]any{"file_path": "/r/store.go"}, readResponse(content, 101))))
	file := child(child(out, "updatedToolOutput"), "file")
	kept := strings.Split(text(file, "content"), "\n")
	start := integer(file, "startLine")
	require.Equal(t, len(kept), integer(file, "numLines"))
	require.Less(t, len(kept), len(lines)/3)
	for i, line := range kept {
		require.Equal(t, lines[start-101+i], line, "the number the client writes is the line's own")
	}
	note := text(out, "additionalContext")
	require.Contains(t, note, "recover prn_")
	for _, line := range strings.Split(note, "\n")[1:] {
		var n int
		if _, err := fmt.Sscanf(line, "%d\t", &n); err == nil {
			require.Equal(t, lines[n-101], line[strings.IndexByte(line, '\t')+1:])
		}
	}
	require.Contains(t, text(file, "content")+note, "func openLedger")
	require.Equal(t, "/r/store.go", text(file, "filePath"))
}

func recoverVerb(t *testing.T, w *world, args ...string) (int, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := command.Process{Args: append([]string{"recover"}, args...), Env: []string{"XDG_STATE_HOME=" + w.state}, Stdout: &stdout, Stderr: &stderr}
	code := RunVerb(p)
	return code, stdout.String()
}

func TestWhatWasCutCanBeRecovered(t *testing.T) {
	w := newWorld(t)
	content := source()
	answer := w.hook([]string{"claude"}, w.message("Read", map[string]any{"file_path": "/r/store.go"}, readResponse(content, 101)))
	id := answer[strings.Index(answer, "prn_"):][:12]
	code, whole := recoverVerb(t, w, id)
	require.Equal(t, 0, code)
	require.Equal(t, content, whole)
	lines := strings.Split(content, "\n")
	code, some := recoverVerb(t, w, id, "--lines", "150-152")
	require.Equal(t, 0, code)
	require.Equal(t, strings.Join(lines[49:52], "\n")+"\n", some)
	code, some = recoverVerb(t, w, id, "--pattern", "^func openLedger")
	require.Equal(t, 0, code)
	require.Regexp(t, `^\d+:func openLedger`, some)
	for _, args := range [][]string{{"prn_00000000"}, {"../../etc/passwd"}, {id, "--lines", "1-2"}} {
		code, _ = recoverVerb(t, w, args...)
		require.Equal(t, 1, code, args)
	}
	for _, args := range [][]string{{}, {id, "--lines", "b"}, {id, "--lines", "9-3"}, {id, "--pattern", "("}} {
		code, _ = recoverVerb(t, w, args...)
		require.Equal(t, 2, code, args)
	}
}

// later lets so much time pass that nothing counts as brought back any more.
func (w *world) later() {
	w.t.Helper()
	require.NoError(w.t, os.RemoveAll(filepath.Join(w.state, "mcp-pruner", "printed")))
}

// What an agent brings back is not cut again: neither if its command says so, nor if only its text shows it.
func TestWhatWasBroughtBackStaysWhole(t *testing.T) {
	w := newWorld(t)
	ask := func(command, stdout string) string {
		return w.hook([]string{"claude"}, w.message("Bash", map[string]any{"command": command, "description": "which test failed and why"}, map[string]any{"stdout": stdout}))
	}
	answer := ask("go test ./...", failingTests())
	id := answer[strings.Index(answer, "prn_"):][:12]
	require.Empty(t, ask("/opt/mcp-pruner recover "+id, failingTests()))
	require.Empty(t, ask("cd /r && mcp-pruner recover "+id+" && go test ./other", failingTests()), "with another command's output")
	require.NotEmpty(t, ask("./again.sh", failingTests()))
	code, whole := recoverVerb(t, w, id)
	require.Equal(t, 0, code)
	require.Empty(t, ask("./again.sh", whole))
	require.Empty(t, ask("./again.sh", strings.TrimSpace(whole[:len(whole)/2])))
	require.NotEmpty(t, ask("./again.sh", whole[:len(whole)/2]+strings.ReplaceAll(whole, "Case", "Other")))
	codex := map[string]any{"session_id": "s", "hook_event_name": "PostToolUse", "model": "gpt-5", "tool_name": "mcp__ci__run", "tool_use_id": "c1",
		"tool_input": map[string]any{"command": "mcp-pruner recover " + id}, "tool_response": map[string]any{"content": []any{map[string]any{"type": "text", "text": whole}}}}
	w.env = []string{"MCP_PRUNER_OTHER_TOOLS=all"}
	require.Empty(t, w.hook([]string{"codex"}, codex))
}

// A call whose result was cut, and that is made again before anything has changed, comes whole.
func TestTheSameCallAgainComesWhole(t *testing.T) {
	for tool, c := range map[string]struct{ input, response map[string]any }{
		"Read": {map[string]any{"file_path": "/r/store.go"}, readResponse(source(), 1)},
		"Bash": {map[string]any{"command": "go test ./..."}, map[string]any{"stdout": failingTests()}},
	} {
		w := newWorld(t)
		first := w.hook([]string{"claude"}, w.message(tool, c.input, c.response))
		require.Contains(t, first, "recover prn_", tool)
		shown := "a part"
		if tool == "Bash" {
			shown = text(child(hookOutput(t, first), "updatedToolOutput"), "stdout")
		}
		for between, whole := range map[string]bool{
			`{"name":"Grep","input":{"pattern":"x"}}`:                                               true,
			`{"name":"Edit","input":{"file_path":"/r/store.go","old_string":"a","new_string":"b"}}`: false,
			`{"name":"Bash","input":{"command":"./generate.sh"}}`:                                   false,
		} {
			w.saidThen(question, tool, c.input, shown, between)
			m := w.message(tool, c.input, c.response)
			m["tool_use_id"] = "t3"
			answer := w.hook([]string{"claude"}, m)
			require.Equal(t, whole, answer == "", "%s, then %s: %s", tool, between, answer)
		}
	}
}

// saidThen writes a transcript with a call, its result as the model saw it, another call and the first call once more, without a
// result.
func (w *world) saidThen(words, tool string, input map[string]any, shown, between string) {
	w.t.Helper()
	w.say(words)
	before, err := os.ReadFile(w.transcript)
	require.NoError(w.t, err)
	first, err := json.Marshal(input)
	require.NoError(w.t, err)
	result, err := json.Marshal(shown)
	require.NoError(w.t, err)
	lines := strings.Replace(string(before), `"input":{},"name":"Read"`, fmt.Sprintf(`"input":%s,"name":%q`, first, tool), 1)
	use := func(message, id, call string) string {
		return fmt.Sprintf(`{"type":"assistant","sessionId":"s","message":{"id":%q,"content":[{"type":"tool_use","id":%q,%s]}}`+"\n", message, id, strings.TrimPrefix(call, "{"))
	}
	lines += `{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":` + string(result) + "}]}}\n" +
		use("m2", "t2", between) +
		`{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"done"}]}}` + "\n" +
		use("m3", "t3", fmt.Sprintf(`{"name":%q,"input":%s}`, tool, first))
	require.NoError(w.t, os.WriteFile(w.transcript, []byte(lines), 0o600))
}

// failingTests returns the log of a test run with one failure.
func failingTests() string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "=== RUN   TestCase%d\n--- PASS: TestCase%d (0.00s)\n", i, i)
		if i == 150 {
			b.WriteString("=== RUN   TestLedger\n    ledger_test.go:42: openLedger: want 3 retries, got 4\n--- FAIL: TestLedger (0.01s)\n")
		}
	}
	return b.String() + "FAIL\nFAIL\tstore\t0.210s\n"
}

func TestBashKeepsItsShape(t *testing.T) {
	w := newWorld(t)
	response := map[string]any{"stdout": failingTests(), "stderr": "warning: x", "interrupted": false, "isImage": false}
	out := hookOutput(t, w.hook([]string{"claude"}, w.message("Bash", map[string]any{"command": "go test ./...", "description": "which test failed and why"}, response)))
	shape := child(out, "updatedToolOutput")
	require.Contains(t, text(shape, "stdout"), "want 3 retries, got 4")
	require.Equal(t, "warning: x", shape["stderr"])
	require.Equal(t, false, shape["interrupted"])
	require.Contains(t, strings.SplitN(text(shape, "stdout"), "\n", 2)[0], "recover prn_")
}

// matches returns the output of a search for retries.
func matches() string {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "internal/other/file%d.go:%d:\tlog.Printf(\"some unrelated message about retries %d\")\n", i, i+3, i)
	}
	return b.String() + "internal/store/ledger.go:12:func openLedger(path string) { // counts retries"
}

func TestGrepAndMCPResultsKeepTheirShape(t *testing.T) {
	w := newWorld(t)
	response := map[string]any{"mode": "content", "numFiles": 0, "filenames": []any{}, "content": matches(), "numLines": 201}
	if answer := w.hook([]string{"claude"}, w.message("Grep", map[string]any{"pattern": "retries"}, response)); answer != "" {
		shape := child(hookOutput(t, answer), "updatedToolOutput")
		require.Contains(t, text(shape, "content"), "func openLedger")
		require.Equal(t, strings.Count(text(shape, "content"), "\n")+1, integer(shape, "numLines"))
	}
	page := w.message("mcp__docs__page", map[string]any{"name": "ledger"}, []any{map[string]any{"type": "text", "text": source()}})
	require.Empty(t, w.hook([]string{"claude"}, page), "another server's result stays whole")
	w.env = []string{"MCP_PRUNER_OTHER_TOOLS=docs"}
	answer := w.hook([]string{"claude"}, page)
	blocks, ok := hookOutput(t, answer)["updatedToolOutput"].([]any)
	require.True(t, ok)
	require.Contains(t, text(blocks[0].(map[string]any), "text"), "func openLedger")
}

// A result of one line, such as the JSON of an MCP server, is never replaced by a marker.
func TestOneLineOfJSONStays(t *testing.T) {
	w := newWorld(t)
	w.env = []string{"MCP_PRUNER_OTHER_TOOLS=tracker"}
	for _, words := range []string{question, "Let me list the open issues.", "check the pull requests"} {
		w.say(words)
		for _, record := range []string{
			`{"id":4711,"title":"the queue is empty","state":"open","labels":["bug"],"body":"it happened twice"},`,
			`{"uid":"45_181","role":"link","name":"Charles Babbage","url":"https://example.org/wiki/Charles_Babbage"},`,
		} {
			list := "[" + strings.Repeat(record, 200) + "{}]"
			answer := w.hook([]string{"claude"}, w.message("mcp__tracker__list", map[string]any{"state": "open"}, []any{map[string]any{"type": "text", "text": list}}))
			require.NotContains(t, answer, "[0 of")
		}
	}
}

// TestOwnServerIsNotPrunedAgain checks, in each client's form of a tool's name, that a result of this program's own
// server stays as the server sent it.
func TestOwnServerIsNotPrunedAgain(t *testing.T) {
	w := newWorld(t)
	w.env = []string{"MCP_PRUNER_OTHER_TOOLS=all"}
	blocks := []any{map[string]any{"type": "text", "text": failingTests()}}
	for _, tool := range []string{"read", "bash", "recover_text", "sing"} {
		require.Empty(t, w.hook([]string{"claude"}, w.message("mcp__pruner__"+tool, map[string]any{"command": "go test"}, blocks)), tool)
		codex := w.message("mcp__pruner__"+tool, map[string]any{"command": "go test"}, map[string]any{"content": blocks})
		require.Empty(t, w.hook([]string{"codex"}, codex), tool)
		opencode := map[string]any{"tool": "pruner_" + tool, "callID": "c", "sessionID": "s", "output": failingTests(), "said": []any{"which test failed and why"}}
		require.Empty(t, w.hook([]string{"opencode"}, opencode), tool)
		gemini := map[string]any{"hook_event_name": "AfterTool", "tool_name": "mcp_pruner_" + tool, "tool_response": map[string]any{"llmContent": failingTests()}}
		require.Empty(t, w.hook([]string{"gemini", "--replace"}, gemini), tool)
	}
	w.say("I look which test failed and why.")
	require.NotEmpty(t, w.hook([]string{"claude"}, w.message("mcp__ci__log", map[string]any{}, blocks)), "but another server's")
}

// TestNothingIsPrinted lists the cases in which a result stays unchanged.
func TestNothingIsPrinted(t *testing.T) {
	w := newWorld(t)
	read := func(input map[string]any) map[string]any { return w.message("Read", input, readResponse(source(), 1)) }
	file := map[string]any{"file_path": "/r/store.go"}
	for name, message := range map[string]any{
		"broken JSON":        "{",
		"not an object":      "[1]",
		"empty":              "",
		"another event":      map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Read"},
		"unknown tool":       w.message("Sing", file, map[string]any{"text": source()}),
		"unknown shape":      w.message("Read", file, map[string]any{"type": "image"}),
		"no response":        w.message("Read", file, nil),
		"small":              w.message("Read", file, readResponse("package x\n", 1)),
		"narrow range":       read(map[string]any{"file_path": "/r/store.go", "offset": 5, "limit": 40}),
		"our own server":     w.message("mcp__pruner__read", file, source()),
		"an image from MCP":  w.message("mcp__x__y", file, []any{map[string]any{"type": "image", "data": "x"}}),
		"output in a file":   w.message("Bash", map[string]any{"command": "x"}, map[string]any{"stdout": failingTests(), "persistedOutputPath": "/tmp/x"}),
		"file names only":    w.message("Grep", map[string]any{"pattern": "x"}, map[string]any{"mode": "files_with_matches", "filenames": []any{"a"}, "content": matches()}),
		"a failed command":   map[string]any{"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "error": "Exit code 1\n" + failingTests()},
		"a notebook or such": w.message("NotebookEdit", file, map[string]any{"x": 1}),
	} {
		t.Run(name, func(t *testing.T) { require.Empty(t, w.hook([]string{"claude"}, message)) })
	}
}

func TestWhatIsAboutToBeEditedStays(t *testing.T) {
	w := newWorld(t)
	w.say("Now I update store.go so that openLedger counts to five.")
	answer := w.hook([]string{"claude"}, w.message("Read", map[string]any{"file_path": "/r/store.go"}, readResponse(source(), 1)))
	require.Contains(t, answer, `func openLedger(path string) (*ledger, error) {\n\tretries := 0\n\tfor retries \u003c 3 {\n\t\tretries++\n\t}\n`)
}

// TestALateTranscript checks that a hook waits for a call that is not in the transcript yet, at most for lateBy, and does
// not wait where the call itself says what it is for or the result stays whole anyway.
func TestALateTranscript(t *testing.T) {
	defer func(before func(time.Duration)) { pause = before }(pause)
	w := newWorld(t)
	var waited time.Duration
	pause = func(d time.Duration) { waited += d }
	late := func(tool string, input map[string]any, response any) (answer string) {
		waited = 0
		m := w.message(tool, input, response)
		m["tool_use_id"] = "t2"
		return w.hook([]string{"claude"}, m)
	}
	log := map[string]any{"stdout": failingTests()}
	require.NotEmpty(t, late("Bash", map[string]any{"command": "go test"}, log))
	require.Equal(t, lateBy, waited)
	require.NotEmpty(t, late("Bash", map[string]any{"command": "go test", "description": "which test failed and why"}, log))
	require.Zero(t, waited, "the description is the question")
	require.Empty(t, late("Read", map[string]any{"file_path": "/r/store.go", "limit": 50.0}, readResponse(source(), 1)))
	require.Zero(t, waited, "a narrow range")
	require.Empty(t, late("mcp__docs__page", map[string]any{}, []any{map[string]any{"type": "text", "text": source()}}))
	require.Zero(t, waited, "another server's")

	pause = func(d time.Duration) {
		waited += d
		lines, err := os.ReadFile(w.transcript)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(w.transcript, []byte(strings.ReplaceAll(string(lines), `"t1"`, `"t2"`)+"\n"), 0o600))
	}
	require.NotEmpty(t, late("Bash", map[string]any{"command": "go test"}, log))
	require.Equal(t, lookAgain, waited, "until the call is there")

	// In front of a session's first call there may be no file yet.
	text, err := os.ReadFile(w.transcript)
	require.NoError(t, err)
	require.NoError(t, os.Remove(w.transcript))
	pause = func(d time.Duration) {
		waited += d
		require.NoError(t, os.WriteFile(w.transcript, text, 0o600))
	}
	require.NotEmpty(t, late("Bash", map[string]any{"command": "go test"}, log))
	require.Equal(t, lookAgain, waited, "until the file is there")
}

func TestMissingTranscriptAndStateAreNoFault(t *testing.T) {
	w := newWorld(t)
	m := w.message("Bash", map[string]any{"command": "go test", "description": "which test failed"}, map[string]any{"stdout": failingTests()})
	m["transcript_path"] = filepath.Join(w.state, "none.jsonl")
	require.NotEmpty(t, w.hook([]string{"claude"}, m), "the description is question enough")
	blocked := filepath.Join(w.state, "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	w.state = blocked // nothing can be stored below a file
	require.Empty(t, w.hook([]string{"claude"}, m), "what cannot be stored is not cut")
}

// TestReminderAfterCompaction checks that every result a hook received is in the ledger, and that a
// reminder after a compaction names it with the command that recovers it.
func TestReminderAfterCompaction(t *testing.T) {
	w := newWorld(t)
	w.hook([]string{"claude"}, w.message("Read", map[string]any{"file_path": "/r/store.go"}, readResponse(source(), 1)))
	plain := strings.Repeat("{\"id\":4711,\"title\":\"the queue is empty\",\"state\":\"open\"}\n", 80)
	require.Empty(t, w.hook([]string{"claude"}, w.message("Bash", map[string]any{"command": "cat issues.jsonl"}, map[string]any{"stdout": plain})))
	start := map[string]any{"hook_event_name": "SessionStart", "source": "compact", "session_id": "s", "transcript_path": w.transcript}
	require.Empty(t, w.hook([]string{"claude"}, start), "nothing is out of the context")
	require.Empty(t, w.hook([]string{"claude"}, map[string]any{"hook_event_name": "PreCompact", "session_id": "s", "trigger": "auto"}))
	answer := w.hook([]string{"claude"}, start)
	require.Contains(t, answer, fmt.Sprintf("Read /r/store.go, %.1f kB", float64(len(source()))/1e3))
	for name, want := range map[string]string{"Read": source(), "Bash": plain} {
		id := regexp.MustCompile(`(prn_[0-9a-f]{8}) \(` + name).FindStringSubmatch(answer)
		require.NotNil(t, id, answer)
		code, text := recoverVerb(t, w, id[1])
		require.Zero(t, code)
		require.Equal(t, want, text, "the exact text")
	}
	w.sayAfter("Let me look.", "Edit", false)
	require.Empty(t, w.hook([]string{"claude"}, start), "no command can be run")
	w.sayAfter("Let me look.", "mcp__pruner__read", false)
	require.Contains(t, w.hook([]string{"claude"}, start), "recoverable with `mcp__pruner__read file_path ID`: prn_")
	w.say("Let me look.")
	start["session_id"] = "other"
	require.Empty(t, w.hook([]string{"claude"}, start))
}

// TestALongResultLeftWholeIsRecorded: no message of ours carries a result that stays, but the client's own does.
func TestALongResultLeftWholeIsRecorded(t *testing.T) {
	w := newWorld(t)
	w.say("done")
	lines := strings.Repeat("{\"id\":4711,\"title\":\"the queue is empty\",\"state\":\"open\"}\n", 80)
	require.Empty(t, w.hook([]string{"claude"}, w.message("Bash", map[string]any{"command": "cat issues.jsonl"}, map[string]any{"stdout": lines})))
	require.FileExists(t, filepath.Join(w.state, "mcp-pruner", "hook-trace.jsonl"), "it went through the machine")
}

// TestRecordsSayHook checks that each result that went through the machine has a record with the transport
// "hook".
func TestRecordsSayHook(t *testing.T) {
	w := newWorld(t)
	require.NotEmpty(t, w.hook([]string{"claude"}, w.message("Read", map[string]any{"file_path": "/r/store.go"}, readResponse(source(), 1))))
	text, err := os.ReadFile(filepath.Join(w.state, "mcp-pruner", "hook-trace.jsonl"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"transport":"hook"`)
	require.Regexp(t, `"tokens":\{"raw":[1-9]\d{2,},"sent":[1-9]\d+,`, string(text), "what the model was sent, not nothing")
	require.Contains(t, string(text), `"outcome":"responded"`)
}

func TestUnknownClientIsAUsageError(t *testing.T) {
	var stdout, stderr bytes.Buffer
	p := command.Process{Args: []string{"emacs"}, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
	require.Equal(t, 2, command.Verb(context.Background(), Command(p), p))
}

func text(m map[string]any, name string) string          { return agent.Message(m).Text(name) }
func child(m map[string]any, name string) map[string]any { return agent.Message(m).Child(name) }
func integer(m map[string]any, name string) int          { return agent.Message(m).Integer(name) }
