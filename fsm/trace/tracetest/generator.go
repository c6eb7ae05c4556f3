package tracetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// Kind is a sort of request or run, and how often it comes.
type Kind struct {
	Table  fsm.Table
	Path   string // triggers
	Tool   string
	Weight int
	Facts  fsm.Facts
}

// Paths of requests that are answered.
const (
	Raw    = "accept arguments_valid tool_succeeded output_captured no_question written"
	Pruned = "accept arguments_valid tool_succeeded output_captured eligible pruned written"
)

func kinds() []Kind {
	request := fsm.RequestTable()
	return []Kind{
		{request, Raw, "read", 40, nil},
		{request, Pruned, "read", 25, nil},
		{request, Pruned, "bash", 10, nil},
		{request, Pruned, "grep", 4, nil},
		{request, Raw, "bash", 8, nil},
		{request, "accept arguments_valid tool_succeeded output_captured pruning_off written", "grep", 2, nil},
		{request, "accept arguments_valid tool_succeeded output_captured eligible pruner_timed_out fall_back written", "read", 1, fsm.Facts{"reason": "timeout"}},
		{request, "accept arguments_valid tool_succeeded output_captured eligible pruner_http_failed fall_back written", "bash", 1, fsm.Facts{"reason": "http_error"}},
		{request, "accept arguments_valid tool_failed", "bash", 4, fsm.Facts{"code": "nonzero_exit"}},
		{request, "accept arguments_valid tool_failed", "read", 2, fsm.Facts{"code": "not_found"}},
		{request, "accept arguments_valid tool_timed_out", "bash", 1, fsm.Facts{"code": "timeout"}},
		{request, "accept arguments_invalid", "<script>alert(1)</script>", 1, nil},
		{request, "parse_failed", "", 1, nil},
		{request, "accept arguments_valid abort", "bash", 1, fsm.Facts{"reason": "cancelled"}},
		{request, "accept arguments_valid tool_succeeded output_captured eligible abort", "read", 1, fsm.Facts{"reason": "cancelled"}},
		{fsm.RunTable(), "config_resolved server_ready phase_ended", "", 1, nil},
		{fsm.RunTable(), "config_resolved server_ready server_failed phase_ended", "", 1, fsm.Facts{"reason": "exited"}},
	}
}

// Generator makes a trace as servers would have: several processes, sessions, days and nights.
type Generator struct {
	random    *rand.Rand
	kinds     []Kind
	templates []trace.Record
	writers   []trace.Record // the last of each
	now       time.Time
	left      int // records still to make
}

// New returns a generator of all kinds, and more.
func New(t testing.TB, more ...Kind) *Generator { return Of(t, append(kinds(), more...)...) }

// Of returns a generator of the given kinds.
func Of(t testing.TB, kinds ...Kind) *Generator {
	g := &Generator{random: rand.New(rand.NewPCG(7, 8)), kinds: kinds, now: time.Date(2026, 11, 14, 8, 0, 0, 0, time.UTC)}
	for _, k := range g.kinds {
		g.templates = append(g.templates, k.Record(t))
	}
	for i := range 6 {
		g.writers = append(g.writers, trace.Record{Writer: fmt.Sprintf("%016x", i+1)})
	}
	return g
}

// Record returns a record of the kind, without times, sizes and place.
func (k Kind) Record(t testing.TB) trace.Record {
	t.Helper()
	m := fsm.MustCompile(k.Table).New("", fsm.Hooks{})
	facts := fsm.Facts{"raw_bytes": 0, "pruned_bytes": 0, "pruner_duration_ms": int64(0), "reason": "no_focus_question", "tool": k.Tool, "error.message": "it said no"}
	maps.Copy(facts, k.Facts)
	for _, trigger := range strings.Fields(k.Path) {
		require.NoError(t, m.Fire(t.Context(), fsm.Trigger(trigger), facts))
	}
	r := trace.NewRecord(m)
	r.Server, r.Tool = "0.1.0", k.Tool
	return r
}

// next makes one more record.
func (g *Generator) next() (record *trace.Record, seal bool) {
	i := g.pick()
	r := g.templates[i]
	r.Steps = append([]trace.Step(nil), r.Steps...)
	r.Pruning = append([]trace.Value(nil), r.Pruning...)
	at := int64(0)
	for s := range r.Steps {
		at += g.took(string(r.Steps[s].From))
		r.Steps[s].Micros = at
	}
	r.ID = fmt.Sprintf("req_%016x", g.random.Uint64())
	r.Start = g.now
	g.now = g.now.Add(time.Duration(g.random.IntN(12_000)) * time.Millisecond)
	seal = g.place(&r)
	if strings.HasPrefix(r.Machine, "request") {
		g.size(&r)
	}
	return &r, seal
}

func (g *Generator) pick() int {
	sum := 0
	for _, k := range g.kinds {
		sum += k.Weight
	}
	n := g.random.IntN(sum)
	for i, k := range g.kinds {
		if n -= k.Weight; n < 0 {
			return i
		}
	}
	return 0
}

func (g *Generator) took(state string) int64 {
	base := map[string]int64{
		"req:executing_tool": 3000, "req:calling_pruner": 9000, "req:respond_raw": 150, "req:respond_pruned": 200,
		"run:mcp_pruner_starting": 400_000, "run:mcp_pruner_running": 2_000_000_000, // half an hour and more: 32 bits hold 36 minutes
	}[state]
	return 2 + int64(float64(base)*g.random.ExpFloat64())
}

// processLines is the number of lines after which a process ends and another one begins.
const processLines = 401

// batchLines is the number of lines to a seal.
const batchLines = 25

// place puts the record into the chain of one of the processes. The last records of the trace end each of them, so that
// all are sealed to their ends.
func (g *Generator) place(r *trace.Record) (seal bool) {
	w := g.random.IntN(len(g.writers))
	g.left--
	if g.left < len(g.writers) {
		w = g.left
	}
	last := &g.writers[w]
	if last.Seq == processLines {
		*last = trace.Record{Writer: fmt.Sprintf("%016x", g.random.Uint64())}
	}
	r.Writer, r.Seq, r.Prev = last.Writer, last.Seq+1, last.Link
	r.Client = []string{"claude-code", "codex-mcp-client", "inspector"}[w%3]
	if r.Machine != "run" {
		r.Session = "ses_" + r.Writer
	}
	if len(r.Steps) > 2 && r.Steps[1].To == fsm.ExecutingTool {
		r.Subject = fmt.Sprintf("%016x", g.random.IntN(200))
	}
	return g.left < len(g.writers) || r.Seq == processLines || r.Seq%batchLines == 0
}

func (g *Generator) size(r *trace.Record) {
	raw := 200 + int(6000*g.random.ExpFloat64())
	sent := raw
	for i, v := range r.Pruning {
		switch v.Field {
		case "raw_bytes":
			if r.Outcome != "tool_error" {
				r.Pruning[i].Value = int64(raw)
			}
		case "pruned_bytes":
			sent = raw/4 + 60
			r.Pruning[i].Value = int64(sent)
		}
	}
	if r.Outcome == "responded" || r.Outcome == "tool_error" {
		r.Bytes = trace.Bytes{Raw: raw, Sent: sent, Wire: sent + 300}
		r.Tokens = trace.Tokens{Raw: raw / 4, Sent: sent / 4, Estimated: raw == sent}
		if len(r.Steps) > 4 && r.Steps[4].Trigger != fsm.NoQuestion {
			r.Tokens.Question = 12
		}
	}
}

// Trace makes a whole trace of n records. It can be called once.
func (g *Generator) Trace(n int) []byte {
	var text []byte
	for g.left = n; g.left > 0; {
		r, seal := g.next()
		if seal {
			text = append(text, Seal(r)...)
		} else {
			introduce(r, public)
			text = append(text, line(r)...)
		}
		for i := range g.writers {
			if g.writers[i].Writer == r.Writer {
				g.writers[i] = *r
			}
		}
	}
	return text
}
