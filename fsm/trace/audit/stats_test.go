package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
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

func (m made) record(t *testing.T, n int) *trace.Record {
	t.Helper()
	path, output := tracetest.Raw, 4*m.raw
	switch {
	case m.failed:
		path, output = "accept arguments_valid tool_failed", 0
	case m.raw != m.sent:
		path = tracetest.Pruned
	case m.question > 0:
		path = strings.Replace(tracetest.Raw, "no_question", "pruning_off", 1)
	}
	r := tracetest.Kind{Table: fsm.RequestTable(), Path: path, Tool: "read", Facts: fsm.Facts{
		"raw_bytes": output, "pruned_bytes": 4 * m.sent, "code": "not_found", "reason": "no_focus_question",
	}}.Record(t)
	for i := range r.Steps {
		r.Steps[i].Micros = int64(1000 * (i + 1))
	}
	r.ID, r.Writer = "req_"+string(rune('a'+n)), "feedfeedfeedfeed"
	r.Client, r.Session, r.Subject = m.client, m.session, m.subject
	r.Part, r.Tool = m.part, cmp.Or(m.tool, r.Tool)
	r.Start = time.Date(2026, 11, 21, n, 0, 0, 0, time.UTC)
	r.Bytes = trace.Bytes{Raw: 4 * m.raw, Sent: 4 * m.sent, Wire: 4*m.sent + 100}
	r.Tokens = trace.Tokens{Raw: m.raw, Sent: m.sent, Question: m.question}
	return &r
}

// traceOf returns the trace of one process, with the transport of its first request.
func traceOf(t *testing.T, requests ...made) *Trace {
	t.Helper()
	var records []*trace.Record
	for n, m := range requests {
		records = append(records, m.record(t, n))
	}
	records[0].Seq, records[0].Process = 1, &trace.Process{Transport: requests[0].transport}
	tr := verified(t, tracetest.Chain(records...))
	require.Empty(t, tr.Verdict().Problems)
	return tr
}

func statsOf(t *testing.T, tr *Trace, s Selection) Stats {
	t.Helper()
	c, err := tr.Summarize(s, nil)
	require.NoError(t, err)
	return c.Stats
}

func TestNetIsWhatIsLeftOfTheSaving(t *testing.T) {
	pruned := made{client: "x", session: "s", subject: "f", raw: 1000, sent: 200, question: 10}
	whole := made{client: "x", session: "s", subject: "f", raw: 1000, sent: 1000}
	part := made{client: "x", session: "s", subject: "f", raw: 400, sent: 400, part: true}
	with := func(m made, change func(*made)) made { change(&m); return m }
	for name, c := range map[string]struct {
		requests []made
		want     Saved
	}{
		"pruned and left at that": {[]made{pruned},
			Saved{Gross: 800, Questions: 10, Without: 1000, Net: 790, NetShare: .79}},
		"nothing pruned": {[]made{whole, whole},
			Saved{Without: 2000}},
		"a question in vain": {[]made{with(whole, func(m *made) { m.question = 10 })},
			Saved{Questions: 10, Without: 1000, Net: -10, NetShare: -.01}},
		"a hook, whose question no model wrote": {[]made{with(pruned, func(m *made) { m.transport = "hook" }), pruned},
			Saved{Gross: 1600, Rereads: 200, RereadsOf: 1, OfRereads: 800, Without: 1000, Net: 600, NetShare: .6}},
		"the proxy, whose question no model wrote either": {[]made{with(pruned, func(m *made) { m.transport = "proxy" })},
			Saved{Gross: 800, Without: 1000, Net: 800, NetShare: .8}},
		"the whole of it afterwards": {[]made{pruned, whole},
			Saved{Gross: 800, Questions: 10, Rereads: 1000, RereadsOf: 1, Without: 1000, Net: -210, NetShare: -.21}},
		"and again, which would have happened anyway": {[]made{pruned, whole, whole},
			Saved{Gross: 800, Questions: 10, Rereads: 1000, RereadsOf: 1, Without: 2000, Net: -210, NetShare: -.105}},
		"another question about it": {[]made{pruned, pruned},
			Saved{Gross: 1600, Questions: 20, Rereads: 200, RereadsOf: 1, OfRereads: 800, Without: 1000, Net: 580, NetShare: .58}},
		"something else": {[]made{pruned, with(whole, func(m *made) { m.subject = "g" })},
			Saved{Gross: 800, Questions: 10, Without: 2000, Net: 790, NetShare: .395}},
		"in another session": {[]made{pruned, with(whole, func(m *made) { m.session = "z" })},
			Saved{Gross: 800, Questions: 10, Without: 2000, Net: 790, NetShare: .395}},
		"a failed try is no re-read of all": {[]made{pruned, with(whole, func(m *made) { m.failed = true; m.raw, m.sent = 5, 5 }), whole},
			Saved{Gross: 800, Questions: 10, Rereads: 1005, RereadsOf: 2, Without: 1000, Net: -215, NetShare: -.215}},
		"the whole of it in three ranges": {[]made{pruned, part, part, part},
			Saved{Gross: 800, Questions: 10, Rereads: 1200, RereadsOf: 3, Without: 1000, Net: -410, NetShare: -.41}},
		"other lines, and more of them, than were pruned": {[]made{pruned, with(part, func(m *made) { m.raw, m.sent = 2000, 2000 }), whole},
			Saved{Gross: 800, Questions: 10, Rereads: 3000, RereadsOf: 2, Without: 1000, Net: -2210, NetShare: -2.21}},
		"less of it than there was": {[]made{pruned, with(whole, func(m *made) { m.raw, m.sent = 300, 300 }), whole, whole},
			Saved{Gross: 800, Questions: 10, Rereads: 1300, RereadsOf: 2, Without: 2000, Net: -510, NetShare: -.255}},
		"recovered, and then the whole of it": {[]made{pruned, with(part, func(m *made) { m.tool = "recover_text" }), whole},
			Saved{Gross: 800, Questions: 10, Rereads: 1400, RereadsOf: 2, Without: 1000, Net: -610, NetShare: -.61}},
		"recovered from who knows where": {[]made{with(part, func(m *made) { m.tool, m.subject = "recover_text", "r" }), whole},
			Saved{Rereads: 400, RereadsOf: 1, Without: 1000, Net: -400, NetShare: -.4}},
		"recovered in a trace that says nothing of subjects": {[]made{with(whole, func(m *made) { m.tool, m.subject = "recover_text", "" })},
			Saved{Rereads: 1000, RereadsOf: 1, Net: -1000}},
		"more than Codex shows": {[]made{{client: "codex-mcp-client", session: "s", subject: "f", raw: 24_000, sent: 2000, question: 10}},
			Saved{Gross: 22_000, NotShown: 12_000, Questions: 10, Without: 12_000, Net: 9990, NetShare: 9.99 / 12}},
		"more than Claude shows": {[]made{{client: "claude-code", session: "s", subject: "f", raw: 250_000, sent: 25_000, question: 10}},
			Saved{Gross: 225_000, NotShown: 125_000, Questions: 10, Without: 125_000, Net: 99_990, NetShare: 99.99 / 125}},
	} {
		t.Run(name, func(t *testing.T) {
			s := statsOf(t, traceOf(t, c.requests...), Selection{}).Saved
			assert.InDelta(t, c.want.NetShare, s.NetShare, 1e-9)
			s.NetShare = c.want.NetShare
			assert.Equal(t, c.want, s)
			assert.Equal(t, s.Gross-s.NotShown-s.OfRereads-s.Questions-s.Rereads, s.Net, "the balance adds up")
		})
	}
}

func TestSelections(t *testing.T) {
	at := func(clock string) time.Time {
		start, err := time.Parse(time.RFC3339, "2026-11-21T"+clock+"Z")
		require.NoError(t, err)
		return start
	}
	three := traceOf(t, made{session: "a", raw: 1, sent: 1}, made{session: "b", raw: 2, sent: 2}, made{session: "a", raw: 4, sent: 4})
	assert.Equal(t, 5, statsOf(t, three, Selection{Session: "a"}).Tokens.Raw)
	assert.Equal(t, 6, statsOf(t, three, Selection{Since: at("01:00:00")}).Tokens.Raw)
	assert.Equal(t, 3, statsOf(t, three, Selection{Until: at("01:30:00")}).Tokens.Raw)
	assert.Equal(t, 2, statsOf(t, three, Selection{Since: at("00:30:00"), Until: at("02:00:00")}).Tokens.Raw, "until is excluded")
	assert.Equal(t, 1+2+2, statsOf(t, three, Selection{Limit: 8}).Saved.Without, "eight bytes are two tokens of the last")
	again := traceOf(t, made{session: "a", subject: "f", raw: 1000, sent: 100, question: 10}, made{session: "a", subject: "f", raw: 1000, sent: 1000})
	assert.Equal(t, -1000, statsOf(t, again, Selection{Since: at("01:00:00")}).Saved.Net, "what was pruned before that time is known")
	others := traceOf(t, made{client: "x", tool: "grep", raw: 1, sent: 1}, made{client: "y", raw: 2, sent: 2})
	assert.Equal(t, 1, statsOf(t, others, Selection{Tool: "grep"}).Tokens.Raw)
	assert.Equal(t, 2, statsOf(t, others, Selection{Client: "y"}).Tokens.Raw)
	none := statsOf(t, three, Selection{Session: "nobody"})
	assert.Zero(t, none.Records)
	assert.Equal(t, 3, none.Verdict.Records, "the verdict is that of the whole trace")
}

func TestStatsOfTheSample(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/audit/requests.jsonl")
	require.NoError(t, err)
	s := statsOf(t, verified(t, text), Selection{})
	assert.Equal(t, 24, s.Requests)
	assert.Equal(t, 4, s.Sessions)
	assert.Equal(t, Pruner{
		Called: 8, Applied: 5, Failed: 3, Failures: map[string]int{"http_error": 3},
		Skipped: map[string]int{"disabled_or_unconfigured": 3, "no_focus_question": 8, "output_empty": 1}, Latency: s.Pruner.Latency,
	}, s.Pruner)
	assert.Contains(t, s.Outcomes, Outcome{Machine: "request", Tool: "bash", Outcome: "tool_error", Why: "nonzero_exit", Count: 1})
	assert.Contains(t, s.Outcomes, Outcome{Machine: "request", Tool: "bash", Outcome: "internal_error", Why: "cancelled", Count: 1})
	assert.Contains(t, s.Outcomes, Outcome{Machine: "request", Outcome: "invalid_request", Count: 1})
	shares := 0.0
	for _, p := range s.Paths {
		shares += p.Share
	}
	assert.InDelta(t, 1, shares, 1e-9)
}

// A pruner call that was cancelled was a call: its path says so.
func TestCancelledPrunerCallsAreCounted(t *testing.T) {
	path := "accept arguments_valid tool_succeeded output_captured eligible abort"
	kind := func(reason string) tracetest.Kind {
		return tracetest.Kind{Table: fsm.RequestTable(), Path: path, Tool: "read", Weight: 1, Facts: fsm.Facts{"reason": reason}}
	}
	p := statsOf(t, verified(t, tracetest.Of(t, kind("cancelled"), kind("panic")).Trace(40)), Selection{}).Pruner
	assert.Equal(t, 40, p.Called)
	assert.Positive(t, p.Cancelled)
	assert.Equal(t, map[string]int{"panic": 40 - p.Cancelled}, p.Failures)
	assert.Equal(t, 40-p.Cancelled, p.Failed)
}

func TestATraceOfRunsOnlyHasNoTools(t *testing.T) {
	runs := tracetest.Of(t, tracetest.Kind{Table: fsm.RunTable(), Path: "config_resolved server_ready phase_ended", Weight: 1}).Trace(3)
	text, err := json.Marshal(statsOf(t, verified(t, runs), Selection{}))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "null")
	assert.Contains(t, string(text), `"tools":[]`)
}

// No machine ends where it began: whatever wrote such a record, it is none.
func TestRecordsOfNoStepsAreLeftOut(t *testing.T) {
	lines := tracetest.Lines(tracetest.New(t).Trace(4))
	empty := tracetest.Decode(t, lines[3])
	empty.Steps = nil
	lines[3] = tracetest.Encode(empty)
	s := statsOf(t, verified(t, bytes.Join(lines, nil)), Selection{})
	assert.Equal(t, []int{3, 1}, []int{s.Records, s.Unreadable})
}
