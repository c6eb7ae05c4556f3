package tracecmd

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
)

// made is a trace of requests that are told apart by what matters here.
type made struct {
	client, session, subject string
	raw, sent                int // tokens; bytes are four times as many
	question                 int
	failed, part             bool
	tool                     string // "": read
	transport                string
}

func (m made) record(t *testing.T, g *generator, n int) *trace.Record {
	t.Helper()
	way, output := readRaw, 4*m.raw
	switch {
	case m.failed:
		way, output = "accept arguments_valid tool_failed", 0
	case m.raw != m.sent:
		way = readPruned
	case m.question > 0:
		way = strings.Replace(readRaw, "no_question", "pruning_off", 1)
	}
	r := g.template(t, kind{table: fsm.RequestTable(), way: way, tool: "read", facts: fsm.Facts{
		"raw_bytes": output, "pruned_bytes": 4 * m.sent, "code": "not_found", "reason": "no_focus_question",
	}})
	for i := range r.Steps {
		r.Steps[i].Micros = int64(1000 * (i + 1))
	}
	r.ID, r.Writer, r.Seq = "req_"+string(rune('a'+n)), "feedfeedfeedfeed", uint64(n+1)
	r.Client, r.Session, r.Subject = m.client, m.session, m.subject
	r.Part, r.Tool = m.part, cmp.Or(m.tool, r.Tool)
	r.Start = time.Date(2026, 11, 21, n, 0, 0, 0, time.UTC)
	r.Bytes = trace.Bytes{Raw: 4 * m.raw, Sent: 4 * m.sent, Wire: 4*m.sent + 100}
	r.Tokens = trace.Tokens{Raw: m.raw, Sent: m.sent, Question: m.question}
	return &r
}

func traceOf(t *testing.T, requests ...made) string {
	t.Helper()
	g := newGenerator(t)
	var records []*trace.Record
	for n, m := range requests {
		r := m.record(t, g, n)
		introduce(r)
		if r.Process != nil {
			r.Process.Transport = m.transport
		}
		records = append(records, r)
	}
	text := trace.SealedLines(records...)
	require.Empty(t, verifyText(t, text).Problems)
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

func statsOf(t *testing.T, args ...string) audit.Stats {
	t.Helper()
	stdout, stderr, code := runTrace(t, append([]string{"stats", "--json"}, args...)...)
	require.Empty(t, stderr)
	var s audit.Stats
	require.NoError(t, json.Unmarshal([]byte(stdout), &s))
	require.Equal(t, s.Verdict.OK, code == exitOK)
	return s
}

func TestNetIsWhatIsLeftOfTheSaving(t *testing.T) {
	pruned := made{client: "x", session: "s", subject: "f", raw: 1000, sent: 200, question: 10}
	whole := made{client: "x", session: "s", subject: "f", raw: 1000, sent: 1000}
	part := made{client: "x", session: "s", subject: "f", raw: 400, sent: 400, part: true}
	with := func(m made, change func(*made)) made { change(&m); return m }
	for name, c := range map[string]struct {
		requests []made
		want     audit.Saved
	}{
		"pruned and left at that": {[]made{pruned},
			audit.Saved{Gross: 800, Questions: 10, Without: 1000, Net: 790, NetShare: .79}},
		"nothing pruned": {[]made{whole, whole},
			audit.Saved{Without: 2000}},
		"a question in vain": {[]made{with(whole, func(m *made) { m.question = 10 })},
			audit.Saved{Questions: 10, Without: 1000, Net: -10, NetShare: -.01}},
		"a hook, whose question no model wrote": {[]made{with(pruned, func(m *made) { m.transport = "hook" }), pruned},
			audit.Saved{Gross: 1600, Rereads: 200, RereadsOf: 1, OfRereads: 800, Without: 1000, Net: 600, NetShare: .6}},
		"the proxy, whose question no model wrote either": {[]made{with(pruned, func(m *made) { m.transport = "proxy" })},
			audit.Saved{Gross: 800, Without: 1000, Net: 800, NetShare: .8}},
		"the whole of it afterwards": {[]made{pruned, whole},
			audit.Saved{Gross: 800, Questions: 10, Rereads: 1000, RereadsOf: 1, Without: 1000, Net: -210, NetShare: -.21}},
		"and again, which would have happened anyway": {[]made{pruned, whole, whole},
			audit.Saved{Gross: 800, Questions: 10, Rereads: 1000, RereadsOf: 1, Without: 2000, Net: -210, NetShare: -.105}},
		"another question about it": {[]made{pruned, pruned},
			audit.Saved{Gross: 1600, Questions: 20, Rereads: 200, RereadsOf: 1, OfRereads: 800, Without: 1000, Net: 580, NetShare: .58}},
		"something else": {[]made{pruned, with(whole, func(m *made) { m.subject = "g" })},
			audit.Saved{Gross: 800, Questions: 10, Without: 2000, Net: 790, NetShare: .395}},
		"in another session": {[]made{pruned, with(whole, func(m *made) { m.session = "z" })},
			audit.Saved{Gross: 800, Questions: 10, Without: 2000, Net: 790, NetShare: .395}},
		"a failed try is no re-read of all": {[]made{pruned, with(whole, func(m *made) { m.failed = true; m.raw, m.sent = 5, 5 }), whole},
			audit.Saved{Gross: 800, Questions: 10, Rereads: 1005, RereadsOf: 2, Without: 1000, Net: -215, NetShare: -.215}},
		"the whole of it in three ranges": {[]made{pruned, part, part, part},
			audit.Saved{Gross: 800, Questions: 10, Rereads: 1200, RereadsOf: 3, Without: 1000, Net: -410, NetShare: -.41}},
		"other lines, and more of them, than were pruned": {[]made{pruned, with(part, func(m *made) { m.raw, m.sent = 2000, 2000 }), whole},
			audit.Saved{Gross: 800, Questions: 10, Rereads: 3000, RereadsOf: 2, Without: 1000, Net: -2210, NetShare: -2.21}},
		"less of it than there was": {[]made{pruned, with(whole, func(m *made) { m.raw, m.sent = 300, 300 }), whole, whole},
			audit.Saved{Gross: 800, Questions: 10, Rereads: 1300, RereadsOf: 2, Without: 2000, Net: -510, NetShare: -.255}},
		"recovered, and then the whole of it": {[]made{pruned, with(part, func(m *made) { m.tool = "recover_text" }), whole},
			audit.Saved{Gross: 800, Questions: 10, Rereads: 1400, RereadsOf: 2, Without: 1000, Net: -610, NetShare: -.61}},
		"recovered from who knows where": {[]made{with(part, func(m *made) { m.tool, m.subject = "recover_text", "r" }), whole},
			audit.Saved{Rereads: 400, RereadsOf: 1, Without: 1000, Net: -400, NetShare: -.4}},
		"recovered in a trace that says nothing of subjects": {[]made{with(whole, func(m *made) { m.tool, m.subject = "recover_text", "" })},
			audit.Saved{Rereads: 1000, RereadsOf: 1, Net: -1000}},
		"more than Codex shows": {[]made{{client: "codex-mcp-client", session: "s", subject: "f", raw: 24_000, sent: 2000, question: 10}},
			audit.Saved{Gross: 22_000, NotShown: 12_000, Questions: 10, Without: 12_000, Net: 9990, NetShare: 9.99 / 12}},
		"more than Claude shows": {[]made{{client: "claude-code", session: "s", subject: "f", raw: 250_000, sent: 25_000, question: 10}},
			audit.Saved{Gross: 225_000, NotShown: 125_000, Questions: 10, Without: 125_000, Net: 99_990, NetShare: 99.99 / 125}},
	} {
		t.Run(name, func(t *testing.T) {
			s := statsOf(t, traceOf(t, c.requests...)).Saved
			assert.InDelta(t, c.want.NetShare, s.NetShare, 1e-9)
			s.NetShare = c.want.NetShare
			assert.Equal(t, c.want, s)
			assert.Equal(t, s.Gross-s.NotShown-s.OfRereads-s.Questions-s.Rereads, s.Net, "the balance adds up")
		})
	}
}

func TestStatsCanBeNarrowed(t *testing.T) {
	path := traceOf(t, made{session: "a", raw: 1, sent: 1}, made{session: "b", raw: 2, sent: 2}, made{session: "a", raw: 4, sent: 4})
	assert.Equal(t, 3, statsOf(t, path).Requests)
	assert.Equal(t, 5, statsOf(t, "--session", "a", path).Tokens.Raw)
	assert.Equal(t, 6, statsOf(t, path, "--since", "2026-11-21T01:00:00Z").Tokens.Raw)
	assert.Equal(t, 3, statsOf(t, "--since", "2026-11-21", path).Requests)
	assert.Equal(t, 1+2+2, statsOf(t, "--limit", "8", path).Saved.Without, "eight bytes are two tokens of the last")
	pruned := made{session: "a", subject: "f", raw: 1000, sent: 100, question: 10}
	path2 := traceOf(t, pruned, made{session: "a", subject: "f", raw: 1000, sent: 1000})
	assert.Equal(t, -1000, statsOf(t, "--since", "2026-11-21T01:00:00Z", path2).Saved.Net, "what was pruned before that time is known")
	assert.Equal(t, 3, statsOf(t, "--until", "2026-11-21T01:30:00Z", path).Tokens.Raw)
	assert.Equal(t, 2, statsOf(t, "--since", "2026-11-21T00:30:00Z", "--until", "2026-11-21T02:00:00Z", path).Tokens.Raw, "until is excluded")
	path3 := traceOf(t, made{client: "x", tool: "grep", raw: 1, sent: 1}, made{client: "y", raw: 2, sent: 2})
	assert.Equal(t, 1, statsOf(t, "--tool", "grep", path3).Tokens.Raw)
	assert.Equal(t, 2, statsOf(t, "--client", "y", path3).Tokens.Raw)
	none := statsOf(t, "--session", "nobody", path)
	assert.Zero(t, none.Records)
	assert.Equal(t, 3, none.Verdict.Records, "the verdict is that of the whole trace")
}

func TestStatsOfTheSample(t *testing.T) {
	s := statsOf(t, "../../../../testdata/audit/requests.jsonl")
	assert.Equal(t, 24, s.Requests)
	assert.Equal(t, 4, s.Sessions)
	assert.Equal(t, audit.Pruner{
		Called: 8, Applied: 5, Failed: 3, Failures: map[string]int{"http_error": 3},
		Skipped: map[string]int{"disabled_or_unconfigured": 3, "no_focus_question": 8, "output_empty": 1}, Latency: s.Pruner.Latency,
	}, s.Pruner)
	assert.Contains(t, s.Outcomes, audit.Outcome{Machine: "request", Tool: "bash", Outcome: "tool_error", Why: "nonzero_exit", Count: 1})
	assert.Contains(t, s.Outcomes, audit.Outcome{Machine: "request", Tool: "bash", Outcome: "internal_error", Why: "cancelled", Count: 1})
	assert.Contains(t, s.Outcomes, audit.Outcome{Machine: "request", Outcome: "invalid_request", Count: 1})
	shares := 0.0
	for _, p := range s.Paths {
		shares += p.Share
	}
	assert.InDelta(t, 1, shares, 1e-9)

	stdout, _, code := runTrace(t, "stats", "../../../../testdata/audit/requests.jsonl")
	assert.Equal(t, exitOK, code)
	for _, want := range []string{"24 requests and 0 runs in 4 sessions", "net saved", "http_error", "nonzero_exit", "req:executing_tool",
		"accept arguments_valid tool_succeeded output_captured eligible pruned written"} {
		assert.Contains(t, stdout, want)
	}
}

func TestNumbersAreWordedForPeople(t *testing.T) {
	assert.Equal(t, "999 -1,000 1,234,567", strings.Join([]string{count(999), count(-1000), count(1234567)}, " "))
	assert.Equal(t, "999µs 1.00ms 12.3ms 123ms 1.23s 120s", strings.Join([]string{span(999), span(1000), span(12345), span(123456), span(1234567), span(120_000_000)}, " "))
	assert.Equal(t, `- read "a\nb" "\u202e"`, strings.Join([]string{toolName(""), toolName("read"), toolName("a\nb"), toolName("\u202e")}, " "))
}

// A pruner call that was cancelled was a call: its way says so.
func TestCancelledPrunerCallsAreCounted(t *testing.T) {
	g := newGenerator(t)
	way := "accept arguments_valid tool_succeeded output_captured eligible abort"
	g.templates = []trace.Record{g.template(t, kind{table: fsm.RequestTable(), way: way, tool: "read", facts: fsm.Facts{"reason": "cancelled"}})}
	g.templates = append(g.templates, g.template(t, kind{table: fsm.RequestTable(), way: way, tool: "read", facts: fsm.Facts{"reason": "panic"}}))
	g.kinds = []kind{{weight: 1}, {weight: 1}}
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, g.trace(40), 0o600))
	p := statsOf(t, path).Pruner
	assert.Equal(t, 40, p.Called)
	assert.Positive(t, p.Cancelled)
	assert.Equal(t, map[string]int{"panic": 40 - p.Cancelled}, p.Failures)
	assert.Equal(t, 40-p.Cancelled, p.Failed)
}

func TestATraceOfRunsOnlyHasNoTools(t *testing.T) {
	g := newGenerator(t)
	g.templates = []trace.Record{g.template(t, kind{table: fsm.RunTable(), way: "config_resolved server_ready phase_ended"})}
	g.kinds = []kind{{weight: 1}}
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, g.trace(3), 0o600))
	stdout, _, _ := runTrace(t, "stats", "--json", path)
	assert.NotContains(t, stdout, "null")
	assert.Contains(t, stdout, `"tools": []`)
}

// No machine ends where it began: whatever wrote such a record, it is none.
func TestRecordsOfNoStepsAreLeftOut(t *testing.T) {
	g := newGenerator(t)
	lines := g.trace(3)
	empty := g.next()
	empty.Steps = nil
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, trace.AppendRecord(lines, empty), 0o600))
	s := statsOf(t, path)
	assert.Equal(t, []int{3, 1}, []int{s.Records, s.Unreadable})
	stdout, _, code := runTrace(t, "stats", path)
	assert.Equal(t, exitBad, code)
	assert.Contains(t, stdout, "not counted: 1 line without a record")
}
