package tracecmd

import (
	"bytes"
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

// kind is a sort of request or run, and how often it comes.
type kind struct {
	table  fsm.Table
	way    string
	tool   string
	weight int
	facts  fsm.Facts
}

const (
	readRaw    = "accept arguments_valid tool_succeeded output_captured no_question written"
	readPruned = "accept arguments_valid tool_succeeded output_captured eligible pruned written"
)

func kinds() []kind {
	request := fsm.RequestTable()
	return []kind{
		{request, readRaw, "read", 40, nil},
		{request, readPruned, "read", 25, nil},
		{request, readPruned, "bash", 10, nil},
		{request, readPruned, "grep", 4, nil},
		{request, readRaw, "bash", 8, nil},
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

// generator makes a trace as servers would have: several processes, sessions,
// days and nights.
type generator struct {
	random    *rand.Rand
	kinds     []kind
	templates []trace.Record
	writers   []trace.Record // the last of each
	now       time.Time
	n         int
}

func newGenerator(t testing.TB, more ...kind) *generator {
	g := &generator{random: rand.New(rand.NewPCG(7, 8)), kinds: append(kinds(), more...), now: time.Date(2026, 11, 14, 8, 0, 0, 0, time.UTC)}
	for _, k := range g.kinds {
		g.templates = append(g.templates, g.template(t, k))
	}
	for i := range 6 {
		g.writers = append(g.writers, trace.Record{Writer: fmt.Sprintf("%016x", i+1)})
	}
	return g
}

func (g *generator) template(t testing.TB, k kind) trace.Record {
	m := fsm.MustCompile(k.table).New("", fsm.Hooks{})
	facts := fsm.Facts{"raw_bytes": 0, "pruned_bytes": 0, "pruner_duration_ms": int64(0), "reason": "no_focus_question", "tool": k.tool}
	maps.Copy(facts, k.facts)
	for _, trigger := range strings.Fields(k.way) {
		require.NoError(t, m.Fire(t.Context(), fsm.Trigger(trigger), facts))
	}
	r := trace.NewRecord(m)
	r.Server, r.Tool = "0.1.0", k.tool
	return r
}

// next makes one more record.
func (g *generator) next() *trace.Record {
	i := g.pick()
	r := g.templates[i]
	r.Steps = append([]trace.Step(nil), r.Steps...)
	r.Pruning = append([]trace.Value(nil), r.Pruning...)
	at := int64(0)
	for s := range r.Steps {
		at += g.took(string(r.Steps[s].From))
		r.Steps[s].Micros = at
	}
	g.n++
	r.ID = fmt.Sprintf("req_%016x", g.random.Uint64())
	r.Start = g.now
	g.now = g.now.Add(time.Duration(g.random.IntN(12_000)) * time.Millisecond)
	g.place(&r)
	if strings.HasPrefix(r.Machine, "request") {
		g.size(&r)
	}
	return &r
}

func (g *generator) pick() int {
	sum := 0
	for _, k := range g.kinds {
		sum += k.weight
	}
	n := g.random.IntN(sum)
	for i, k := range g.kinds {
		if n -= k.weight; n < 0 {
			return i
		}
	}
	return 0
}

func (g *generator) took(state string) int64 {
	base := map[string]int64{
		"req:executing_tool": 3000, "req:calling_pruner": 9000, "req:respond_raw": 150, "req:respond_pruned": 200,
		"run:mcp_pruner_starting": 400_000, "run:mcp_pruner_running": 2_000_000_000, // half an hour and more: 32 bits hold 36 minutes
	}[state]
	return 2 + int64(float64(base)*g.random.ExpFloat64())
}

// place puts the record into the chain of one of the processes.
func (g *generator) place(r *trace.Record) {
	w := g.random.IntN(len(g.writers))
	last := &g.writers[w]
	if last.Seq > 400 { // the process ended, and another one began
		*last = trace.Record{Writer: fmt.Sprintf("%016x", g.random.Uint64())}
	}
	r.Schema = 2 // lines of version 3 are sealed: only servers make them
	r.Writer, r.Seq, r.Prev = last.Writer, last.Seq+1, last.Link
	r.Client = []string{"claude-code", "codex-mcp-client", "inspector"}[w%3]
	if r.Machine != "run" {
		r.Session = "ses_" + r.Writer
	}
	if len(r.Steps) > 2 && r.Steps[1].To == fsm.ExecutingTool {
		r.Subject = fmt.Sprintf("%016x", g.random.IntN(200))
	}
}

func (g *generator) size(r *trace.Record) {
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

// trace makes a whole trace of n records.
func (g *generator) trace(n int) []byte {
	var text bytes.Buffer
	var line []byte
	for range n {
		r := g.next()
		introduce(r)
		line = trace.AppendRecord(line[:0], r)
		for i := range g.writers {
			if g.writers[i].Writer == r.Writer {
				g.writers[i] = *r
			}
		}
		text.Write(line)
	}
	return text.Bytes()
}
