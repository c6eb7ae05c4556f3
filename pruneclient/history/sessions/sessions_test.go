package sessions

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

const claudeTranscript = `{"type":"summary","summary":"x"}
{"type":"user","sessionId":"abc","message":{"role":"user","content":"find the bug"}}
{"type":"assistant","sessionId":"abc","message":{"id":"m1","role":"assistant","usage":{"input_tokens":5,"cache_creation_input_tokens":100,"cache_read_input_tokens":0,"output_tokens":1},"content":[{"type":"text","text":"I look."}]}}
{"type":"assistant","sessionId":"abc","message":{"id":"m1","role":"assistant","usage":{"input_tokens":5,"cache_creation_input_tokens":100,"cache_read_input_tokens":0,"output_tokens":9},"content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/a.go"}}]}}
{"type":"user","sessionId":"abc","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"1\tpackage a"}]}]}}
{"type":"assistant","isSidechain":true,"agentId":"x","sessionId":"abc","message":{"id":"m9","content":[{"type":"text","text":"aside"}]}}
{"type":"system","subtype":"compact_boundary","sessionId":"abc"}
{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"summary of all"}}
{"type":"assistant","sessionId":"abc","message":{"id":"m2","usage":{"input_tokens":7},"content":"done"}}
{"type":"assis`

const codexRollout = `{"type":"session_meta","payload":{"id":"cdx"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"run it"}]}}
{"type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"thinking"}]}}
{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"go test\"}","call_id":"c1"}}
{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":1000,"cached_input_tokens":600,"output_tokens":30}}}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"ok"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"passed"}]}}
`

func read(t *testing.T, name, content string) []Session {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	var got []Session
	require.NoError(t, ReadFile(context.Background(), file, func(s Session) error {
		got = append(got, s)
		return nil
	}))
	return got
}

func kinds(s Session) []Kind {
	var out []Kind
	for _, step := range s.Steps {
		out = append(out, step.Kind)
	}
	return out
}

func TestClaudeTranscript(t *testing.T) {
	got := read(t, "abc.jsonl", claudeTranscript)
	require.Len(t, got, 1)
	s := got[0]
	require.Equal(t, "abc", s.ID)
	require.Equal(t, []Kind{User, Call, Say, Use, Result, Compact, Call, Say}, kinds(s))
	require.Equal(t, &Usage{Input: 5, CacheWrite: 100, Output: 9}, s.Steps[1].Usage, "the last line of an answer has its final count")
	require.Equal(t, "Read", s.Steps[4].Tool)
	require.Equal(t, "/a.go", s.Steps[4].Args["file_path"])
	require.Equal(t, "1\tpackage a", s.Steps[4].Out)
	require.True(t, s.Measured())
}

func TestCodexRollout(t *testing.T) {
	got := read(t, "rollout.jsonl", codexRollout)
	require.Len(t, got, 1)
	s := got[0]
	require.Equal(t, "cdx", s.ID)
	require.Equal(t, []Kind{User, Call, Say, Use, Result, Call, Say}, kinds(s))
	require.Equal(t, &Usage{Input: 400, CacheRead: 600, Output: 30}, s.Steps[1].Usage)
	require.Equal(t, "ok", s.Steps[4].Out)
	require.False(t, s.Measured(), "the last call has no count")
}

func TestCollectionArgumentsMayBeText(t *testing.T) {
	got := read(t, "c.jsonl", `{"id":"x","src":"t","steps":[{"k":"call"},{"k":"use","tool":"bash","args":"{\"command\":\"ls\"}"}]}`+"\n")
	require.Equal(t, "ls", got[0].Steps[1].Args["command"])
}

func TestNoSessionIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.jsonl")
	require.NoError(t, os.WriteFile(file, []byte("not json\n"), 0o600))
	require.Error(t, ReadFile(context.Background(), file, func(Session) error { return nil }))
}

// A line of a collection that cannot be read is named, and the sessions after it are read.
func TestBadLinesAreNamedAndSkipped(t *testing.T) {
	session := func(id string) string {
		return `{"id":"` + id + `","src":"claude","steps":[{"k":"call","usage":{"input_tokens":1}}]}` + "\n"
	}
	text := session("a") + "{\n\n" + `{"steps":[]}` + "\n" + session("b") + `{"id":"c","steps":3}` + "\n" + session("d") + strings.Repeat("x\n", 4)
	var ids []string
	err := Read(t.Context(), "some.jsonl", strings.NewReader(text), func(s Session) error {
		ids = append(ids, s.ID)
		return nil
	})
	require.Equal(t, []string{"a", "b", "d"}, ids)
	for _, want := range []string{"some.jsonl: lines that cannot be read: line 2: no transcript of ", "; line 4: a session has an id and steps; line 6: json: ", "; line 8: ", "and 2 more"} {
		require.ErrorContains(t, err, want)
	}
}

// A line that is too long loses itself only.
func TestLinesThatAreTooLong(t *testing.T) {
	long := strings.Repeat("x", 40)
	for text, want := range map[string][]string{
		"":                           nil,
		"a":                          {"1 a"},
		"a\n\n b \n":                 {"1 a", "3 b"},
		"a\n" + long + "\nb\n":       {"1 a", "2 too long", "3 b"},
		long:                         {"1 too long"},
		long[:29] + "\n" + long[:30]: {"1 " + long[:29], "2 " + long[:30]},
		long[:30] + "\r\nb":          {"1 too long", "2 b"}, // the line's end counts
	} {
		var got []string
		lines := lineReader{in: bufio.NewReaderSize(strings.NewReader(text), 16), max: 30}
		require.NoError(t, lines.each(t.Context(), func(n int, line []byte) error {
			if line == nil {
				line = []byte("too long")
			}
			got = append(got, fmt.Sprintf("%d %s", n, line))
			return nil
		}))
		require.Equal(t, want, got, "%q", text)
	}
}

func TestFilesOfAFolder(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "p")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for _, name := range []string{"b.jsonl", "a.jsonl.gz", "c.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	files, err := Files([]string{filepath.Join(home, ".claude", "projects")})
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "a.jsonl.gz"), filepath.Join(dir, "b.jsonl")}, files)
}

// A count may come before or after the results of its call, a repeated one counts nothing, and a call without results ends
// with its count.
func TestUsageOfCodex(t *testing.T) {
	count := func(input, total int) string {
		return fmt.Sprintf(`{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":%d},"total_token_usage":{"input_tokens":%d}}}}`, input, total)
	}
	const (
		meta   = `{"type":"turn_context","payload":{"model":"gpt-5.5"}}`
		call   = `{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c"}}`
		output = `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"ok"}}`
		words  = `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}}`
	)
	lines := []string{meta, call, output, count(10, 10), count(10, 10), call, count(20, 30), output, words, count(30, 60), words, count(40, 100), count(40, 100)}
	var inputs []int
	require.NoError(t, Read(t.Context(), "r.jsonl", strings.NewReader(`{"type":"session_meta","payload":{"id":"s"}}`+"\n"+strings.Join(lines, "\n")), func(s Session) error {
		require.True(t, s.Measured())
		require.Equal(t, "gpt-5.5", s.Model())
		for _, step := range s.Steps {
			if step.Kind == Call {
				inputs = append(inputs, step.Usage.Input)
			}
		}
		return nil
	}))
	require.Equal(t, []int{10, 20, 30, 40}, inputs)
}

// A count of Codex with a login names the plan that pays, one with an API key has no limits, or none of a plan.
func TestPlanOfCodex(t *testing.T) {
	for limits, plan := range map[string]bool{`{"limit_id":"codex","plan_type":"plus"}`: true, `{"plan_type":null}`: false, "null": false} {
		text := `{"type":"session_meta","payload":{"id":"s"}}` + "\n" + `{"type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":` + limits + `}}`
		require.NoError(t, Read(t.Context(), "r.jsonl", strings.NewReader(text), func(s Session) error {
			require.Equal(t, plan, s.Plan, limits)
			return nil
		}))
	}
}

func TestAttachmentsOfClaudeCode(t *testing.T) {
	for attachment, want := range map[string]Step{
		`{"type":"skill_listing","skills":[{"name":"a","text":"first"},{"name":"b"}]}`:    {Kind: Attach, Type: "skill_listing", Text: "a\nfirst\nb"},
		`{"type":"skill_listing","content":"- a: first","names":["a"],"skillCount":1}`:    {Kind: Attach, Type: "skill_listing", Text: "- a: first"},
		`{"type":"agent_listing_delta","addedTypes":["a"],"addedLines":["- a: x","- b"]}`: {Kind: Attach, Type: "agent_listing_delta", Text: "- a: x\n- b"},
	} {
		e, err := claudeFormat.decode([]byte(`{"type":"attachment","sessionId":"s","attachment":` + attachment + `}`))
		require.NoError(t, err)
		for range 2 { // a transcript is read from its end, and its lines more than once
			r := claudeFormat.reader("")
			r.entry(e)
			require.Equal(t, []Step{want}, r.read().Steps)
		}
	}
}

// Where and when a session began, and with which version, stands in the first lines that say so.
func TestOriginOfASession(t *testing.T) {
	began := time.Date(2026, 2, 13, 10, 0, 0, 0, time.UTC)
	claude := `{"type":"user","sessionId":"abc","cwd":"/r","version":"2.1.49","timestamp":"2026-02-13T10:00:00Z","message":{"role":"user","content":"hi"}}
{"type":"assistant","cwd":"/r/sub","timestamp":"2026-02-13T11:00:00Z","message":{"id":"m1","content":"hello"}}`
	codex := `{"type":"session_meta","payload":{"id":"c","cwd":"/r","cli_version":"0.140.0","timestamp":"2026-02-13T10:00:00Z"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}}`
	for text, version := range map[string]string{claude: "2.1.49", codex: "0.140.0"} {
		s := read(t, "a.jsonl", text)[0]
		require.Equal(t, []any{"/r", version, began}, []any{s.Project, s.Version, s.Begun})
	}
	day := began.Truncate(24 * time.Hour)
	for text, want := range map[string]time.Time{
		`{"id":"x","src":"a/b","when":"2026-02-13","version":"2.1.49","steps":[{"k":"call"}]}`: day,
		`{"id":"2026-02-13-x","src":"a/b","version":"2.1.49","steps":[{"k":"call"}]}`:          day,
		`{"id":"x","src":"a/b","when":"","version":"2.1.49","steps":[{"k":"call"}]}`:           {},
	} {
		s := read(t, "a.jsonl", text)[0]
		require.Equal(t, []any{"a/b", "2.1.49", want}, []any{s.Project, s.Version, s.Begun})
	}
}

// TestCodexWaitsForACommand: the call that sees the end of a command is one of that command, as Codex tells its hook; one
// that sees it go on is another tool.
func TestCodexWaitsForACommand(t *testing.T) {
	var lines strings.Builder
	lines.WriteString(`{"type":"session_meta","payload":{"id":"s"}}` + "\n")
	call := func(id, name, args, output string) {
		fmt.Fprintf(&lines, `{"type":"response_item","payload":{"type":"function_call","name":%q,"arguments":%q,"call_id":%q}}`+"\n", name, args, id)
		fmt.Fprintf(&lines, `{"type":"response_item","payload":{"type":"function_call_output","call_id":%q,"output":%q}}`+"\n", id, output)
	}
	const goesOn = "Chunk ID: 1\nWall time: 1.0 seconds\nProcess running with session ID 57957\nOriginal token count: 0\nOutput:\n"
	const ended = "Chunk ID: 2\nWall time: 1.0 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nProcess running with session ID 9\n"
	call("a", "exec_command", `{"cmd":"make test"}`, goesOn)
	call("b", "write_stdin", `{"session_id":57957,"chars":""}`, goesOn)
	call("c", "write_stdin", `{"session_id":57957,"chars":""}`, ended)
	call("d", "write_stdin", `{"session_id":9,"chars":""}`, ended)
	var commands []string
	var kinds []history.Kind
	for _, step := range read(t, "rollout.jsonl", lines.String())[0].Steps {
		if step.Kind == Result {
			parsed := history.ParseCall(step.Tool, step.Args)
			commands, kinds = append(commands, parsed.Command), append(kinds, parsed.Kind)
		}
	}
	require.Equal(t, []string{"make test", "", "make test", ""}, commands)
	require.Equal(t, []history.Kind{history.Bash, history.Other, history.Bash, history.Other}, kinds)
}
