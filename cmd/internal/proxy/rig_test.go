package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// upstream is a model API that records the requests it gets.
type upstream struct {
	*httptest.Server
	mu     sync.Mutex
	bodies [][]byte
	heads  []http.Header
	answer http.HandlerFunc // nil: answers with an empty object
}

func newUpstream(t testing.TB) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		u.mu.Lock()
		u.bodies, u.heads = append(u.bodies, body), append(u.heads, r.Header.Clone())
		answer := u.answer
		u.mu.Unlock()
		if answer == nil {
			_, _ = io.WriteString(w, `{}`)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) last() []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bodies[len(u.bodies)-1]
}

// lastUnpacked returns the last body without its compression.
func (u *upstream) lastUnpacked() []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	return unpacked(u.bodies[len(u.bodies)-1], encodingOf(u.heads[len(u.heads)-1]))
}

// patience is how long a request and the store wait in tests. It is longer than any test takes, so that no result depends
// on the machine's speed: a request that waited longer would pass through whole.
const patience = time.Hour

// rig is a proxy in front of an upstream.
type rig struct {
	up     *upstream
	proxy  *httptest.Server
	engine *clearing.Engine
	store  contextgc.Ledger
	now    time.Time
	mu     sync.Mutex // the server goes on after an answer
	events []string
	seen   []*states.Delivery
	usages []contextgc.Usage

	server *server
	runs   *clearing.Runs
	trace  *trace.File // of the runs
	traced string      // its name
}

func (r *rig) Answering(*states.Delivery) {}
func (r *rig) Ended(d *states.Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, d)
}

func newRig(t testing.TB, file string, mode Policy) *rig {
	t.Helper()
	r := &rig{up: newUpstream(t), now: time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)}
	var err error
	r.store, err = store.OpenLedger(store.LedgerFile{File: file, Patience: patience})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.store.Close() })
	emit := func(e fsm.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e.Name)
	}
	r.traced = filepath.Join(t.TempDir(), "trace.jsonl")
	r.trace, err = trace.Open(r.traced, trace.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.trace.Close() })
	r.runs = clearing.NewRuns(emit, r.trace, "test", r.clock)
	r.engine = &clearing.Engine{Store: r.store, Index: clearing.Files{Index: recovery.Index{State: t.TempDir()}}, Machine: existing.Machine{Emit: emit, Observers: []states.Observer{r}},
		Runs: r.runs, Policy: contextgc.DefaultPolicy(), Clears: mode != Prune, Prunes: mode != GC, Now: r.clock, Hurry: patience}
	to, err := url.Parse(r.up.URL)
	require.NoError(t, err)
	s := newServer(to, r.runs, emit)
	r.engine.Report = func(err error) { s.health.failed(nil, err) }
	s.work.Store(&work{engine: r.engine, feed: func(*wire.Conversation, string) {}, usage: func(u contextgc.Usage) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.usages = append(r.usages, u)
	}})
	s.health.retry = 0
	s.patience = patience
	r.server = s
	r.proxy = httptest.NewServer(s)
	t.Cleanup(func() { r.proxy.Close(); s.feeding.Wait() }) // what is stored after an answer would stand in a folder that goes
	return r
}

// post sends a body and returns the body that the upstream got.
func (r *rig) post(t *testing.T, path string, body []byte) []byte {
	t.Helper()
	res, err := http.Post(r.proxy.URL+path, "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	_, err = io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return r.up.last()
}

// logged returns the names of the events so far.
func (r *rig) logged() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// advance moves the clock on.
func (r *rig) advance(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

func database(t *testing.T) string { return filepath.Join(t.TempDir(), "ledger.db") }

// output returns the output of the nth tool call.
func output(n int) string {
	return strings.Repeat(fmt.Sprintf("line of the output of call %d, \"quoted\" <and> ünlike others\n", n), 120)
}

// The tools that the clients offer, in the forms of their APIs.
var (
	claudeTools = []any{map[string]any{"name": "Bash"}, map[string]any{"name": "Write"}, marked("A"), marked("B"), map[string]any{"name": "C"}}
	chatTools   = []any{map[string]any{"type": "function", "function": map[string]any{"name": "bash"}}}
	geminiTools = []any{map[string]any{"functionDeclarations": []any{map[string]any{"name": "run_shell_command"}}}}
)

// marked returns a tool with a mark for the cache.
func marked(name string) any {
	return map[string]any{"name": name, "cache_control": map[string]any{"type": "ephemeral"}}
}

// full returns a body of claudeHistory with four marks, so that it comes back as it is where nothing goes.
func full(body []byte) []byte {
	return bytes.Replace(body, []byte(`{"name":"C"}`), []byte(`{"cache_control":{"type":"ephemeral"},"name":"C"}`), 1)
}

// The histories of four clients with the same n calls: one command each, with its output.

func claudeHistory(n int) []byte {
	m := []any{map[string]any{"role": "user", "content": "fix the bug"}}
	for i := range n {
		id := fmt.Sprintf("toolu_%d", i)
		m = append(m,
			map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "thinking", "thinking": "hm", "signature": "c2ln"},
				map[string]any{"type": "text", "text": fmt.Sprintf("Step %d.", i)},
				map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": fmt.Sprintf("run %d", i)}}}},
			map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "tool_result", "tool_use_id": id, "content": []any{map[string]any{"type": "text", "text": output(i)}}}}})
	}
	last := m[len(m)-1].(map[string]any)
	if blocks, ok := last["content"].([]any); ok {
		blocks[len(blocks)-1].(map[string]any)["cache_control"] = map[string]any{"type": "ephemeral"}
	}
	return ordered("model", "claude-opus-5", "stream", true, "system", strings.Repeat("You are an agent. ", 2000), "tools", claudeTools, "messages", m)
}

func responsesHistory(n int) []byte {
	in := []any{map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": "fix the bug"}}}}
	for i := range n {
		id := fmt.Sprintf("call_%d", i)
		in = append(in,
			map[string]any{"type": "reasoning", "encrypted_content": "xx"},
			map[string]any{"type": "function_call", "call_id": id, "name": "exec_command", "arguments": fmt.Sprintf(`{"cmd":"run %d"}`, i)},
			map[string]any{"type": "function_call_output", "call_id": id, "output": output(i)})
	}
	return ordered("model", "gpt", "stream", true, "instructions", strings.Repeat("You are an agent. ", 2000), "tools", []any{map[string]any{"type": "function", "name": "exec_command"}}, "input", in)
}

func chatHistory(n int) []byte {
	m := []any{map[string]any{"role": "system", "content": strings.Repeat("You are an agent. ", 2000)}, map[string]any{"role": "user", "content": "fix the bug"}}
	for i := range n {
		id := fmt.Sprintf("call_%d", i)
		m = append(m,
			map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": id, "type": "function",
				"function": map[string]any{"name": "bash", "arguments": fmt.Sprintf(`{"command":"run %d"}`, i)}}}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": output(i)})
	}
	return ordered("model", "any", "tools", chatTools, "messages", m)
}

func geminiHistory(n int) []byte {
	c := []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "fix the bug"}}}}
	for i := range n {
		c = append(c,
			map[string]any{"role": "model", "parts": []any{map[string]any{"functionCall": map[string]any{"name": "run_shell_command",
				"args": map[string]any{"command": fmt.Sprintf("run %d", i)}}}}},
			map[string]any{"role": "user", "parts": []any{map[string]any{"functionResponse": map[string]any{"name": "run_shell_command",
				"response": map[string]any{"output": output(i)}}}}})
	}
	return ordered("systemInstruction", map[string]any{"parts": []any{map[string]any{"text": strings.Repeat("You are an agent. ", 2000)}}}, "tools", geminiTools, "contents", c)
}

// oneCall returns a request to Anthropic's API of a session with one call and its output.
func oneCall(words, id, tool, command, output string) []byte {
	return encoded(map[string]any{"tools": []any{map[string]any{"name": tool}, map[string]any{"name": "Bash"}}, "messages": []any{
		map[string]any{"role": "user", "content": words},
		map[string]any{"role": "assistant", "content": []any{
			map[string]any{"type": "text", "text": "Let me see which test fails and why."},
			map[string]any{"type": "tool_use", "id": id, "name": tool, "input": map[string]any{"command": command}}}},
		map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": output}}},
	}})
}

// passed is the output of 900 packages' tests, of which one says something else.
func passed(module, failure string) string {
	lines := make([]string, 900)
	for i := range lines {
		lines[i] = fmt.Sprintf("ok  \t%s/number%d\t0.%02ds", module, i, i%60)
	}
	lines[700] = failure
	return strings.Join(lines, "\n")
}

// ordered encodes an object with its members in the given order, as clients send them.
func ordered(pairs ...any) []byte {
	out := []byte("{")
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, encoded(pairs[i])...), ':'), encoded(pairs[i+1])...)
	}
	return append(out, '}')
}

func encoded(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(out.Bytes())
}

var apis = map[string]struct {
	path    string
	history func(int) []byte
}{
	"anthropic": {"/v1/messages", claudeHistory},
	"responses": {"/v1/responses", responsesHistory},
	"chat":      {"/v1/chat/completions", chatHistory},
	"gemini":    {"/v1beta/models/gemini-3-pro:streamGenerateContent", geminiHistory},
}

var anyMark = regexp.MustCompile(`,?"cache_control":\{"type":"ephemeral"\},?`)

// withoutMarks returns a body without marks for the cache, which move.
func withoutMarks(body []byte) []byte { return anyMark.ReplaceAll(body, nil) }

// common is how many bytes two texts have in common at their beginnings.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	part, _, _ := strings.Cut(rest, to)
	return part
}

// original returns the text that the first replacement in a request names.
// filesOf returns an engine's index of originals.
func filesOf(e *clearing.Engine) recovery.Index { return e.Index.(clearing.Files).Index }

func original(t *testing.T, index recovery.Index, sent string) string {
	t.Helper()
	_, rest, _ := strings.Cut(sent, "mcp-pruner recover ")
	e, err := index.Find(rest[:12])
	require.NoError(t, err)
	text, _, err := ledger.Original(t.Context(), index, e.Project, rest[:12])
	require.NoError(t, err)
	return text
}

// recorded verifies a trace and returns its records.
func recorded(t *testing.T, file string) (records []trace.Record) {
	t.Helper()
	require.NoError(t, audit.Open([]string{file}, nil, func(sources []*audit.Source) error {
		found, err := audit.Verify(sources, audit.Options{All: true})
		require.NoError(t, err)
		assert.True(t, found.Verdict().OK, "%v", found.Verdict().Problems)
		return nil
	}))
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	decoder := trace.NewDecoder()
	for line := range bytes.Lines(raw) {
		var r trace.Record
		require.NoError(t, decoder.Decode(bytes.TrimSuffix(line, []byte("\n")), &r))
		records = append(records, r)
	}
	return records
}
