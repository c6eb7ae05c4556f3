package audit

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
)

// change is a manipulation of a record by an attacker who can compute a matching checksum.
// It returns false if it does not apply to the record.
type change struct {
	name string
	do   func(*trace.Record, *rand.Rand) bool
}

func anyStep(r *trace.Record, random *rand.Rand) *trace.Step {
	return &r.Steps[random.IntN(len(r.Steps))]
}

// changes make the path, the events, the metadata or the order of times impossible.
var changes = []change{
	{"from", func(r *trace.Record, random *rand.Rand) bool { anyStep(r, random).From = "req:elsewhere"; return true }},
	{"from another state", func(r *trace.Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		s.From, s.To = s.To, s.From
		return true
	}},
	{"to", func(r *trace.Record, random *rand.Rand) bool { anyStep(r, random).To = "run:nowhere"; return true }},
	{"trigger", func(r *trace.Record, random *rand.Rand) bool { anyStep(r, random).Trigger = "magic"; return true }},
	{"row", func(r *trace.Record, random *rand.Rand) bool { anyStep(r, random).Row += "9"; return true }},
	{"event added", func(r *trace.Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		s.Events = append(s.Events, "tool.exec_ok")
		return true
	}},
	{"event dropped", func(r *trace.Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		if len(s.Events) == 0 {
			return false
		}
		s.Events = s.Events[1:]
		return true
	}},
	{"events swapped", func(r *trace.Record, _ *rand.Rand) bool {
		for i := range r.Steps {
			if e := r.Steps[i].Events; len(e) > 1 {
				e[0], e[1] = e[1], e[0]
				return true
			}
		}
		return false
	}},
	{"step dropped", func(r *trace.Record, random *rand.Rand) bool {
		i := random.IntN(len(r.Steps))
		r.Steps = slices.Delete(r.Steps, i, i+1)
		return true
	}},
	{"step twice", func(r *trace.Record, random *rand.Rand) bool {
		i := random.IntN(len(r.Steps))
		r.Steps = slices.Insert(r.Steps, i, r.Steps[i])
		return true
	}},
	{"steps swapped", func(r *trace.Record, _ *rand.Rand) bool {
		if len(r.Steps) < 2 {
			return false
		}
		r.Steps[0], r.Steps[1] = r.Steps[1], r.Steps[0]
		return true
	}},
	{"cut short", func(r *trace.Record, _ *rand.Rand) bool {
		r.Steps = r.Steps[:len(r.Steps)-1]
		if n := len(r.Steps); n > 0 {
			r.Outcome = r.Steps[n-1].To.Short()
		}
		return true
	}},
	{"time backwards", func(r *trace.Record, random *rand.Rand) bool {
		i := random.IntN(len(r.Steps))
		r.Steps[i].Micros = -1
		if i > 0 {
			r.Steps[i].Micros = r.Steps[i-1].Micros - 1
		}
		return true
	}},
	{"outcome", func(r *trace.Record, _ *rand.Rand) bool { r.Outcome += "x"; return true }},
	{"why is prose", func(r *trace.Record, random *rand.Rand) bool { anyStep(r, random).Why = "as you like it"; return true }},
	{"machine", func(r *trace.Record, _ *rand.Rand) bool { r.Machine += "x"; return true }},
	{"another table", func(r *trace.Record, _ *rand.Rand) bool {
		hash := fsm.RunTable().Hash()
		if r.Table == hash {
			hash = fsm.RequestTable().Hash()
		}
		r.Table = hash
		return true
	}},
	{"metadata added", func(r *trace.Record, _ *rand.Rand) bool {
		r.Pruning = append(r.Pruning, trace.Value{Field: "kept_lines", Value: int64(3)})
		return true
	}},
	{"metadata dropped", func(r *trace.Record, random *rand.Rand) bool {
		r.Pruning = slices.DeleteFunc(r.Pruning, func(v trace.Value) bool { return strings.HasSuffix(v.Field, ".message") })
		if len(r.Pruning) == 0 {
			return false
		}
		i := random.IntN(len(r.Pruning))
		r.Pruning = slices.Delete(r.Pruning, i, i+1)
		return true
	}},
	{"metadata twice", func(r *trace.Record, _ *rand.Rand) bool {
		if len(r.Pruning) == 0 {
			return false
		}
		r.Pruning = append(r.Pruning, r.Pruning[0])
		return true
	}},
	{"a flag turned over", func(r *trace.Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if on, ok := v.Value.(bool); ok {
				r.Pruning[i].Value = !on
				return true
			}
		}
		return false
	}},
	{"a reason of another row", func(r *trace.Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if v.Field == "error.code" || v.Field == "reason" && len(r.Steps) > 4 {
				r.Pruning[i].Value = "something_else"
				return true
			}
		}
		return false
	}},
	{"a size below zero", func(r *trace.Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if _, ok := v.Value.(int64); ok {
				r.Pruning[i].Value = int64(-1)
				return true
			}
		}
		r.Bytes.Wire = -1
		return true
	}},
	{"a pruner that took longer than it was waited for", func(r *trace.Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if v.Field == "pruner_duration_ms" {
				r.Pruning[i].Value = int64(1 << 40)
				return true
			}
		}
		return false
	}},
	{"saved without pruning", func(r *trace.Record, _ *rand.Rand) bool {
		if applied, _ := r.Metadata("applied"); applied == true {
			return false
		}
		r.Bytes.Raw++
		return true
	}},
}

// set changes a metadata field of the record.
func set(field string, value any) func(*trace.Record, *rand.Rand) bool {
	return func(r *trace.Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if v.Field == field && v.Value != value {
				r.Pruning[i].Value = value
				return true
			}
		}
		return false
	}
}

func took(r *trace.Record, triggers ...fsm.Trigger) bool {
	return slices.ContainsFunc(r.Steps, func(s trace.Step) bool { return slices.Contains(triggers, s.Trigger) })
}

// after applies a change only to records that took one of the triggers.
func after(do func(*trace.Record, *rand.Rand) bool, triggers ...fsm.Trigger) func(*trace.Record, *rand.Rand) bool {
	return func(r *trace.Record, random *rand.Rand) bool { return took(r, triggers...) && do(r, random) }
}

// with applies a change only to records that satisfy a condition.
func with(when func(*trace.Record) bool, do func(*trace.Record)) func(*trace.Record, *rand.Rand) bool {
	return func(r *trace.Record, _ *rand.Rand) bool {
		if when(r) {
			do(r)
			return true
		}
		return false
	}
}

func isRun(r *trace.Record) bool    { return strings.HasPrefix(r.Machine, "run") }
func ran(r *trace.Record) bool      { return took(r, fsm.ArgumentsValid) }
func answered(r *trace.Record) bool { return r.Bytes.Wire > 0 }
func hasText(r *trace.Record) bool  { return r.Bytes.Sent > 0 }
func any0(*trace.Record) bool       { return true }

// further makes facts contradict the path or each other.
var further = []change{
	{"empty output of some size", after(set("raw_bytes", int64(5000)), fsm.OutputEmpty)},
	{"a pruner called for nothing", after(set("raw_bytes", int64(0)), fsm.Eligible, fsm.TooLarge)},
	{"raw_bytes is not the text's", after(set("raw_bytes", int64(3000)), fsm.Written)},
	{"raw_bytes is more than the text's", after(set("raw_bytes", int64(4001)), fsm.Written)},
	{"pruned_bytes is not the text's", after(set("pruned_bytes", int64(1)), fsm.Written)},
	{"pruned_bytes is more than the text's", after(set("pruned_bytes", int64(410)), fsm.Written)},
	{"a failed tool that was too large to prune", after(set("reason", "too_large"), fsm.ToolFailed, fsm.ToolTimedOut)},
	{"a failed tool that a pruner was called for", after(set("reason", "pruner_error"), fsm.ToolFailed, fsm.ToolTimedOut)},
	{"a failed tool that nobody asked of", with(func(r *trace.Record) bool {
		reason, _ := r.Metadata("reason")
		return took(r, fsm.ToolFailed, fsm.ToolTimedOut) && reason != "no_focus_question"
	}, func(r *trace.Record) { _ = set("reason", "no_focus_question")(r, nil) })},
	{"a failed tool that somebody asked of", with(func(r *trace.Record) bool {
		reason, _ := r.Metadata("reason")
		return took(r, fsm.ToolFailed, fsm.ToolTimedOut) && reason == "no_focus_question"
	}, func(r *trace.Record) { _ = set("reason", "output_empty")(r, nil) })},
	{"another why", func(r *trace.Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		s.Why = "zzz_bogus"
		return s.Trigger != fsm.ToolFailed
	}},
	{"another pruner's error", func(r *trace.Record, _ *rand.Rand) bool {
		for i := range r.Steps {
			if s := &r.Steps[i]; s.Trigger == fsm.PrunerTimedOut {
				s.Why = "http_error"
				return true
			}
		}
		return false
	}},
	{"a why that no event gives", func(r *trace.Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		if s.Why != "" {
			return false
		}
		s.Why = "timeout"
		return true
	}},
	{"a why dropped", func(r *trace.Record, _ *rand.Rand) bool {
		for i := range r.Steps {
			if s := &r.Steps[i]; s.Why != "" {
				s.Why = ""
				return true
			}
		}
		return false
	}},
	{"much more raw text than output", with(func(r *trace.Record) bool { return took(r, fsm.Written) && hasText(r) }, func(r *trace.Record) {
		r.Bytes.Raw += 1_000_000
		if r.Bytes.Raw-r.Bytes.Sent == 1_000_000 {
			r.Bytes.Sent = r.Bytes.Raw
		}
		r.Bytes.Wire += 2_000_000
	})},
	{"less raw text than output", with(func(r *trace.Record) bool { return took(r, fsm.Written) && hasText(r) }, func(r *trace.Record) {
		r.Bytes.Raw, r.Bytes.Sent = 1, 1
		r.Tokens.Raw, r.Tokens.Sent = 1, 1
	})},
	{"more sent than pruned", after(func(r *trace.Record, _ *rand.Rand) bool { r.Bytes.Sent += 2; return answered(r) }, fsm.Pruned)},
	{"a message smaller than its text", with(hasText, func(r *trace.Record) { r.Bytes.Wire = r.Bytes.Sent + leastAround(r.Machine) - 1 })},
	{"a message of one byte", with(hasText, func(r *trace.Record) { r.Bytes.Wire = 1 })},
	{"nothing left of the text", after(set("pruned_bytes", int64(0)), fsm.Written)},
	{"no output, and a text", after(set("raw_bytes", int64(0)), fsm.Written)},
	{"more tokens than bytes", with(answered, func(r *trace.Record) { r.Tokens.Raw, r.Tokens.Sent = r.Bytes.Raw+1, r.Bytes.Sent+1 })},
	{"text without tokens", with(hasText, func(r *trace.Record) { r.Tokens.Raw, r.Tokens.Sent = 0, 0 })},
	{"tokens dropped", with(hasText, func(r *trace.Record) { r.Tokens = trace.Tokens{} })},
	{"sizes dropped", with(func(r *trace.Record) bool { return took(r, fsm.Written) }, func(r *trace.Record) { r.Bytes, r.Tokens = trace.Bytes{}, trace.Tokens{} })},
	{"tokens of no bytes", with(func(r *trace.Record) bool { return r.Tokens != trace.Tokens{} }, func(r *trace.Record) { r.Bytes = trace.Bytes{} })},
	{"sizes where nobody was answered", with(func(r *trace.Record) bool { return !answered(r) }, func(r *trace.Record) {
		r.Bytes, r.Tokens = trace.Bytes{Raw: 9, Sent: 9, Wire: 99}, trace.Tokens{Raw: 9, Sent: 9}
	})},
	{"a text of a request that had none", with(func(r *trace.Record) bool { return answered(r) && !hasText(r) }, func(r *trace.Record) {
		r.Bytes, r.Tokens.Raw, r.Tokens.Sent = trace.Bytes{Raw: 5000, Sent: 5000, Wire: 9000}, 9, 9
	})},
	{"a question nobody asked", with(func(r *trace.Record) bool { return answered(r) && (took(r, fsm.NoQuestion) || !ran(r)) }, func(r *trace.Record) { r.Tokens.Question = 999 })},
	{"tokens saved without pruning", with(func(r *trace.Record) bool { return hasText(r) && r.Bytes.Raw == r.Bytes.Sent }, func(r *trace.Record) { r.Tokens.Sent-- })},
	{"a question dropped", with(func(r *trace.Record) bool {
		return answered(r) && took(r, fsm.Eligible, fsm.PruningOff, fsm.RepeatRead, fsm.OutputEmpty, fsm.TooLarge)
	}, func(r *trace.Record) { r.Tokens.Question = 0 })},
	{"a pruner's time that overflows", set("pruner_duration_ms", int64(9223372036854775807))},
	{"a pruner that took as long as the tool", func(r *trace.Record, _ *rand.Rand) bool {
		if !took(r, fsm.Pruned, fsm.PrunerTimedOut, fsm.PrunerHTTPFailed, fsm.PrunerInvalid) {
			return false
		}
		for i := 2; i < len(r.Steps); i++ {
			r.Steps[i].Micros += 50_000
		}
		return set("pruner_duration_ms", int64(50))(r, nil)
	}},
	{"fewer than none lost", with(any0, func(r *trace.Record) { r.Lost = -5 })},
	{"no id", with(any0, func(r *trace.Record) { r.ID = "" })},
	{"no tool", with(ran, func(r *trace.Record) { r.Tool = "" })},
	{"a tool of what names none", with(func(r *trace.Record) bool { return r.Steps[0].Trigger != fsm.Accept && !took(r, fsm.Abort) }, func(r *trace.Record) { r.Tool = "read" })},
	{"a run's session", with(isRun, func(r *trace.Record) { r.Session = "ses_1" })},
	{"a run's subject", with(isRun, func(r *trace.Record) { r.Subject = "0123456789abcdef" })},
	{"a run's part", with(isRun, func(r *trace.Record) { r.Part = true })},
	{"a run's detail", with(isRun, func(r *trace.Record) { r.Detail = &trace.Detail{Question: "why?"} })},
	{"a detail of what was never started", with(func(r *trace.Record) bool { return !ran(r) }, func(r *trace.Record) { r.Detail = &trace.Detail{Path: "a"} })},
	{"a detail that asks what nobody asked", with(func(r *trace.Record) bool { return took(r, fsm.NoQuestion) }, func(r *trace.Record) { r.Detail = &trace.Detail{Question: "why?"} })},
	{"the year 1", with(any0, func(r *trace.Record) { r.Start = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC) })},
	{"a machine that outlasts every clock", with(any0, func(r *trace.Record) { r.Steps[len(r.Steps)-1].Micros = 1 << 60 })},
	{"a machine that outlasts what counts nanoseconds", with(any0, func(r *trace.Record) { r.Steps[len(r.Steps)-1].Micros = 1<<63 - 1 })},
	{"the year 9999", with(any0, func(r *trace.Record) { r.Start = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) })},
}

// A manipulated record with a matching checksum is still recognised as impossible for any
// machine.
func TestImpossibleRecordsAreFound(t *testing.T) {
	random, all := rand.New(rand.NewPCG(3, 4)), slices.Concat(changes, further)
	p, decoder := newAuditor(), trace.NewDecoder()
	applied := map[string]int{}
	for _, original := range everyRecord(t) {
		for _, c := range all {
			line := trace.AppendRecord(nil, &original)
			var r trace.Record
			require.NoError(t, trace.NewDecoder().Decode(line[:len(line)-1], &r))
			if !c.do(&r, random) {
				continue
			}
			applied[c.name]++
			sealed := bytes.TrimSuffix(tracetest.Encode(&r), []byte("\n"))
			var back trace.Record
			require.NoError(t, decoder.Decode(sealed, &back), "%s: %s", c.name, sealed)
			require.Error(t, p.check(&back), "%s: %s", c.name, sealed)
		}
	}
	for _, c := range all {
		assert.Positive(t, applied[c.name], c.name)
	}
}
