package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-pruner/fsm"
	"mcp-pruner/fsm/event"
	"mcp-pruner/fsm/trace"
	"mcp-pruner/states"
	"mcp-pruner/states/audit"
	"mcp-pruner/tools/contextgc"
	"mcp-pruner/tools/contextgc/planner"
)

// upstream is a model API that records the requests it gets.
type upstream struct {
	*httptest.Server
	mu     sync.Mutex
	bodies [][]byte
	heads  []http.Header
	answer http.HandlerFunc // nil: answers with an empty object
}

func newUpstream(t *testing.T) *upstream {
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

// rig is a proxy in front of an upstream.
type rig struct {
	up     *upstream
	proxy  *httptest.Server
	engine *engine
	store  *contextgc.Store
	now    time.Time
	mu     sync.Mutex
	events []string
	seen   []*states.Delivery
	usages []usage

	server  *server
	runs    *runs
	records []trace.Record // of finished runs
}

func (r *rig) Answering(*states.Delivery) {}
func (r *rig) Ended(d *states.Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, d)
}

func newRig(t *testing.T, file string, mode policy) *rig {
	t.Helper()
	r := &rig{up: newUpstream(t), now: time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)}
	var err error
	r.store, err = contextgc.Open(contextgc.StoreSettings{File: file})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.store.Close() })
	machine, err := fsm.Compile(fsm.RequestTable())
	require.NoError(t, err)
	emit := func(e event.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e.Name)
	}
	r.runs = newRuns(emit, func(one *trace.Record) { r.records = append(r.records, *one) }, func() time.Time { return r.now })
	q := &requests{machine: machine, observers: []states.Observer{r}, runs: r.runs}
	r.engine = &engine{store: r.store, policy: planner.DefaultPolicy(), clears: mode != policyPrune, prunes: mode != policyGC,
		replace: q.replace, now: func() time.Time { return r.now }}
	to, err := url.Parse(r.up.URL)
	require.NoError(t, err)
	s := newServer(to, r.engine, r.runs, emit)
	s.usage = func(u usage) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.usages = append(r.usages, u)
	}
	s.patience = time.Minute // long enough for a slow machine
	r.server = s
	r.proxy = httptest.NewServer(s)
	t.Cleanup(r.proxy.Close)
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

func database(t *testing.T) string { return filepath.Join(t.TempDir(), "ledger.db") }

// output returns the output of the nth tool call.
func output(n int) string {
	return strings.Repeat(fmt.Sprintf("line of the output of call %d, \"quoted\" <and> ünlike others\n", n), 120)
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
	return ordered("model", "claude", "stream", true, "system", strings.Repeat("You are an agent. ", 2000), "messages", m)
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
	return ordered("model", "gpt", "stream", true, "instructions", strings.Repeat("You are an agent. ", 2000), "input", in)
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
	return ordered("model", "any", "messages", m)
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
	return ordered("systemInstruction", map[string]any{"parts": []any{map[string]any{"text": strings.Repeat("You are an agent. ", 2000)}}}, "contents", c)
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

// In sessions of 60 calls, each request starts with the bytes of the previous one, except where old results
// are cleared, and the total shrinks considerably.
func TestSessionsAreCleared(t *testing.T) {
	for name, api := range apis {
		t.Run(name, func(t *testing.T) {
			file := database(t)
			r := newRig(t, file, policyGC)
			var sent [][]byte
			breaks, total, asked := 0, 0, 0
			for n := range 60 {
				body := api.history(n)
				got := r.post(t, api.path, body)
				require.True(t, json.Valid(got))
				asked, total = asked+len(body), total+len(got)
				if n > 0 && common(sent[n-1], got) < len(sent[n-1])-len(output(n))-1000 { // the cache markers move within the last result
					breaks++
				}
				sent = append(sent, got)
			}
			assert.Less(t, total, asked/2, "bytes sent and asked for")
			assert.Greater(t, breaks, 0)
			assert.Less(t, breaks, 15, "the cache is broken seldom")
			assert.NotEmpty(t, r.seen, "each replaced result went through the request machine")
			for _, d := range r.seen {
				assert.True(t, d.Pruning.Applied)
			}

			again := newRig(t, file, policyGC) // a new process
			again.engine.now = func() time.Time { return r.now.Add(time.Hour) }
			for n := range 60 {
				require.Equal(t, string(sent[n]), string(again.post(t, api.path, api.history(n))), "call %d, after a restart", n)
			}
			assert.Empty(t, again.seen, "nothing was decided anew")
			id := between(string(sent[59]), "mcp-pruner recover ", "`")
			_, text, err := r.store.Get(context.Background(), "", id)
			require.NoError(t, err)
			assert.Equal(t, output(0), text, "the exact bytes")
		})
	}
}

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

// Only texts of results change: taken out again, the request is what it was.
func TestNothingElseChanges(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	var got []byte
	for n := range 40 {
		got = r.post(t, "/v1/messages", claudeHistory(n))
	}
	var want, have map[string]any
	require.NoError(t, json.Unmarshal(claudeHistory(39), &want))
	require.NoError(t, json.Unmarshal(got, &have))
	cleared := 0
	for i, m := range have["messages"].([]any) {
		blocks, _ := m.(map[string]any)["content"].([]any)
		for j, b := range blocks {
			block := b.(map[string]any)
			was := want["messages"].([]any)[i].(map[string]any)["content"].([]any)[j].(map[string]any)
			if block["type"] == "tool_result" {
				if strings.Contains(fmt.Sprint(block["content"]), "[cleared: ") {
					cleared++
				}
				block["content"] = was["content"]
			}
		}
	}
	assert.Equal(t, want, have)
	assert.Greater(t, cleared, 10)
	assert.Contains(t, string(got), `"cache_control":{"type":"ephemeral"}`)
}

func TestCountingDecidesNothing(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	body := claudeHistory(40)
	assert.Equal(t, string(body), string(r.post(t, "/v1/messages/count_tokens", body)))
	sent := r.post(t, "/v1/messages", body)
	assert.Less(t, len(sent), len(body))
	assert.Equal(t, string(sent), string(r.post(t, "/v1/messages/count_tokens", body)), "what is counted is what is sent")
}

// Two requests of one history at the same time, a fork of it and a sub-agent beside
// it do not disturb each other.
func TestForksAndParallelRequests(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			res, err := http.Post(r.proxy.URL+"/v1/messages", "application/json", bytes.NewReader(claudeHistory(40)))
			if assert.NoError(t, err) {
				_ = res.Body.Close()
			}
		})
	}
	wg.Wait()
	for _, body := range r.up.bodies {
		assert.Equal(t, string(r.up.bodies[0]), string(body))
	}
	early := claudeHistory(12)
	assert.Equal(t, string(early), string(r.post(t, "/v1/messages", early)), "before the clearing, nothing was cleared")
	fork := bytes.Replace(claudeHistory(41), []byte("Step 40."), []byte("Another way."), 1)
	assert.Equal(t, strings.Count(string(r.up.bodies[0]), "[cleared: "), strings.Count(string(r.post(t, "/v1/messages", fork)), "[cleared: "))
}

func TestPinnedResultsStay(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	c, err := parseMessages(claudeHistory(40))
	require.NoError(t, err)
	ids, err := r.store.Put(context.Background(), c.entry(c.results[0], "test"))
	require.NoError(t, err)
	_, _, err = r.store.Pin(context.Background(), c.project("test"), ids, true)
	require.NoError(t, err)
	got := string(r.post(t, "/v1/messages", claudeHistory(40)))
	assert.Contains(t, got, "output of call 0,")
	assert.NotContains(t, got, "output of call 1,")
}

func TestFreshResultsArePruned(t *testing.T) {
	r := newRig(t, database(t), policyBoth)
	var lines []string
	for i := range 900 {
		lines = append(lines, fmt.Sprintf("ok  \tpackage/number%d\t0.%02ds", i, i%60))
	}
	lines[700] = "--- FAIL: TestTotals (0.00s)\n    totals_test.go:12: got 3, want 4\nFAIL\tpackage/totals\t0.01s"
	body := encoded(map[string]any{"messages": []any{
		map[string]any{"role": "user", "content": "why do the tests fail"},
		map[string]any{"role": "assistant", "content": []any{
			map[string]any{"type": "text", "text": "Let me see which test fails and why."},
			map[string]any{"type": "tool_use", "id": "t1", "name": "Bash", "input": map[string]any{"command": "go test ./..."}}}},
		map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "t1", "is_error": true,
			"content": strings.Join(lines, "\n")}}},
	}})
	got := string(r.post(t, "/v1/messages", body))
	assert.Less(t, len(got), len(body)/4)
	assert.Contains(t, got, "got 3, want 4")
	assert.Contains(t, got, `"is_error":true`)
	assert.Equal(t, got, string(r.post(t, "/v1/messages", body)))
	_, text, err := r.store.Get(context.Background(), "", between(got, "mcp-pruner recover ", "`"))
	if err != nil {
		_, text, err = r.store.Get(context.Background(), "", between(got, "mcp-pruner recover ", " "))
	}
	require.NoError(t, err)
	assert.Equal(t, strings.Join(lines, "\n"), text)
}

// Requests that are not understood pass through byte for byte.
func TestEverythingElsePassesThrough(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	for _, body := range []string{``, `{`, `[]`, `"x"`, `{"messages":7}`, `{"messages":[{"role":"user"}]}`, `{"messages":[{"role":"user","content":[{"type":}]}]}`,
		"{\"messages\":[\"\xff\xfe\"]}", `{"input":"just a question"}`, `{"contents":[{"role":"user","parts":[{"functionResponse":{"response":3}}]}]}`} {
		for _, api := range apis {
			assert.Equal(t, body, string(r.post(t, api.path, []byte(body))))
		}
	}
	odd := []byte("  " + string(claudeHistory(3)) + "\n")
	assert.Equal(t, string(odd), string(r.post(t, "/v1/messages", odd)))
	assert.Equal(t, "anything", string(r.post(t, "/v1/files", []byte("anything"))))
}

// If the store fails, requests pass through and only the saving is lost.
func TestABrokenStoreStopsNothing(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	sent := r.post(t, "/v1/messages", claudeHistory(40))
	require.NoError(t, r.store.Close())
	r.now = r.now.Add(time.Hour)
	assert.Equal(t, string(sent), string(r.post(t, "/v1/messages", claudeHistory(40))), "what was decided holds")
	more := claudeHistory(60)
	assert.Contains(t, string(r.post(t, "/v1/messages", more)), "output of call 59,")
	assert.Contains(t, r.events, "proxy.passed_through")
}

// Each session is a run: its record is valid and names the session in the records of its requests.
func TestEachSessionIsARun(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	r.post(t, "/v1/messages", claudeHistory(40))
	other := bytes.Replace(claudeHistory(2), []byte("fix the bug"), []byte("add a test"), 1)
	r.post(t, "/v1/messages", other)
	require.NoError(t, r.store.Close())
	r.now = r.now.Add(time.Minute)
	r.post(t, "/v1/messages", claudeHistory(60))
	r.now = r.now.Add(2 * time.Hour)
	r.post(t, "/v1/messages", other)
	require.Len(t, r.records, 2, "both were idle for an hour, and one came back")
	r.runs.close()
	require.Len(t, r.records, 3)
	auditor, err := audit.New()
	require.NoError(t, err)
	degraded, ids := 0, map[string]bool{}
	for _, record := range r.records {
		require.NoError(t, auditor.Check(&record))
		if strings.Contains(string(record.Steps[len(record.Steps)-1].From), "degraded") {
			degraded++
		}
		ids[record.ID] = true
	}
	assert.True(t, ids[r.seen[0].Session], "the run and its requests name each other")
	assert.Equal(t, 2, degraded)
	assert.Contains(t, r.events, "mcp_pruner.degraded")
}

// If another process keeps the store locked, requests pass through without delay, with the earlier
// decisions applied.
func TestASlowStoreStopsNothing(t *testing.T) {
	file := database(t)
	r := newRig(t, file, policyGC)
	sent := r.post(t, "/v1/messages", claudeHistory(40))
	other, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file))
	require.NoError(t, err)
	defer func() { _ = other.Close() }()
	locked, err := other.Conn(t.Context())
	require.NoError(t, err)
	_, err = locked.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	r.server.patience = 50 * time.Millisecond
	got := string(r.post(t, "/v1/messages", claudeHistory(60)))
	assert.Equal(t, strings.Count(string(sent), "[cleared: "), strings.Count(got, "[cleared: "), "nothing new while the store is locked")
	assert.Contains(t, r.events, "proxy.passed_through")
	_, err = locked.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	r.server.patience = time.Minute
	got = string(r.post(t, "/v1/messages", claudeHistory(61)))
	assert.Greater(t, strings.Count(got, "[cleared: "), strings.Count(string(sent), "[cleared: "))
}

// A request of 20 MB is rewritten like any other.
func TestTwentyMegabytes(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	body := claudeHistory(60)
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("QUJD", 5<<20) + `"}}`
	body = bytes.Replace(body, []byte(`"content":"fix the bug"`), []byte(`"content":[{"type":"text","text":"fix the bug"},`+image+`]`), 1)
	require.Greater(t, len(body), 20<<20)
	got := r.post(t, "/v1/messages", body)
	assert.Less(t, len(got), len(body)-100_000)
	assert.True(t, bytes.Contains(got, []byte(image)), "the image is what it was")
	assert.True(t, bytes.Equal(got, r.post(t, "/v1/messages", body)))
}

func TestErrorsArriveUnchanged(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	for _, status := range []int{400, 401, 429, 529, 500} {
		r.up.answer = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Request-Id", "req_1")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"type":"error"}`)
		}
		res, err := http.Post(r.proxy.URL+"/v1/messages", "application/json", bytes.NewReader(claudeHistory(2)))
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, status, res.StatusCode)
		assert.Equal(t, `{"type":"error"}`, string(body))
		assert.Equal(t, "7", res.Header.Get("Retry-After"))
		assert.Equal(t, "req_1", res.Header.Get("Request-Id"))
	}
	assert.Empty(t, r.usages)
}

// The events of a stream arrive one by one, and a stream cut by the upstream is cut for the client.
func TestStreams(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	next := make(chan struct{})
	r.up.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":3,"cache_read_input_tokens":900,"cache_creation_input_tokens":50}}}`+"\n\n")
		w.(http.Flusher).Flush()
		<-next
		_, _ = io.WriteString(w, `data: {"type":"message_delta","usage":{"output_tokens":12}}`+"\n\n")
		w.(http.Flusher).Flush()
		<-next
		panic(http.ErrAbortHandler)
	}
	res, err := http.Post(r.proxy.URL+"/v1/messages", "application/json", bytes.NewReader(claudeHistory(2)))
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	buf := make([]byte, 4096)
	n, err := res.Body.Read(buf)
	require.NoError(t, err)
	assert.Contains(t, string(buf[:n]), "message_start", "before the second was made")
	next <- struct{}{}
	n, err = res.Body.Read(buf)
	require.NoError(t, err)
	assert.Contains(t, string(buf[:n]), "message_delta")
	next <- struct{}{}
	_, err = io.ReadAll(res.Body)
	require.Error(t, err, "the cut shows")
	r.proxy.Close()
	require.Len(t, r.usages, 1)
	u := r.usages[0]
	assert.Equal(t, []any{"claude-x", 3, 900, 50, 12}, []any{u.Model, u.Input, u.Read, u.Written, u.Output})
}

func TestUsageOfOthers(t *testing.T) {
	for text, want := range map[string]usage{
		`{"model":"gpt-x","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":5}}`: {Model: "gpt-x", Input: 40, Read: 60, Output: 5},
		`{"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens":5}}`:            {Input: 100, Output: 5},
		`{"usageMetadata":{"promptTokenCount":70,"cachedContentTokenCount":30,"candidatesTokenCount":2}}`:              {Input: 40, Read: 30, Output: 2},
	} {
		assert.Equal(t, want, usageIn([]byte(text)))
	}
}

func TestCompressedRequests(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	send := func(body []byte, encoding string) []byte {
		req, err := http.NewRequest(http.MethodPost, r.proxy.URL+"/v1/responses", bytes.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Encoding", encoding)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return r.up.last()
	}
	pack := func(body []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write(body)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		return b.Bytes()
	}
	small := pack(responsesHistory(2))
	assert.Equal(t, small, send(small, "gzip"), "unchanged, so as it came")
	assert.Equal(t, "gzip", r.up.heads[0].Get("Content-Encoding"))
	got := send(pack(responsesHistory(40)), "gzip")
	assert.Contains(t, string(got), "[cleared: ")
	assert.Empty(t, r.up.heads[1].Get("Content-Encoding"))
	assert.Equal(t, "zzz", string(send([]byte("zzz"), "zstd")))
}

func TestKeysPassThroughAndAreKeptNowhere(t *testing.T) {
	file := database(t)
	r := newRig(t, file, policyGC)
	req, err := http.NewRequest(http.MethodPost, r.proxy.URL+"/v1/messages?key=secret-three", bytes.NewReader(claudeHistory(40)))
	require.NoError(t, err)
	req.Header.Set("X-Api-Key", "secret-one")
	req.Header.Set("Authorization", "Bearer secret-two")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, "secret-one", r.up.heads[0].Get("X-Api-Key"))
	assert.Equal(t, "Bearer secret-two", r.up.heads[0].Get("Authorization"))
	assert.Empty(t, r.up.heads[0].Get("X-Forwarded-For"))
	found, _, err := r.store.Search(context.Background(), contextgc.Query{Project: "Go-http-client", Text: "secret"})
	require.NoError(t, err)
	assert.Empty(t, found)
	assert.NotContains(t, fmt.Sprint(r.events), "secret")
}

func TestForeignPagesAreRefused(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	for header, value := range map[string]string{"Host": "evil.example", "Origin": "https://evil.example"} {
		req, err := http.NewRequest(http.MethodPost, r.proxy.URL+"/v1/messages", strings.NewReader("{}"))
		require.NoError(t, err)
		req.Header.Set(header, value)
		if header == "Host" {
			req.Host = value
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, http.StatusForbidden, res.StatusCode)
	}
	assert.Empty(t, r.up.bodies)
}

func TestImagesStay(t *testing.T) {
	r := newRig(t, database(t), policyGC)
	withImage := bytes.Replace(claudeHistory(40), []byte(`"content":[{"text":`), []byte(`"content":[{"type":"image","source":{"type":"base64","data":"AAAA"}},{"text":`), 1)
	got := string(r.post(t, "/v1/messages", withImage))
	assert.Contains(t, got, `"data":"AAAA"`)
	assert.Contains(t, got, "output of call 0,")
	assert.NotContains(t, got, "output of call 1,")
}

func TestStubIsShort(t *testing.T) {
	assert.LessOrEqual(t, len(Stub(123456, "s1234567"))/3, 25)
}

func BenchmarkPrepareMegabyte(b *testing.B) {
	store, err := contextgc.Open(contextgc.StoreSettings{File: filepath.Join(b.TempDir(), "ledger.db")})
	require.NoError(b, err)
	defer func() { _ = store.Close() }()
	machine, err := fsm.Compile(fsm.RequestTable())
	require.NoError(b, err)
	e := &engine{store: store, policy: planner.DefaultPolicy(), clears: true, replace: (&requests{machine: machine, runs: newRuns(nil, nil, time.Now)}).replace, now: time.Now}
	body := claudeHistory(125)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		c, err := parseMessages(body)
		require.NoError(b, err)
		_, err = e.rewrite(context.Background(), c, "bench", true)
		require.NoError(b, err)
	}
}
