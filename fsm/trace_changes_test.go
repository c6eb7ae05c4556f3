package fsm

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// change is something that could be done to a record by someone who can make a
// checksum fit. It is false when it does not apply.
type change struct {
	name string
	do   func(*Record, *rand.Rand) bool
}

func anyStep(r *Record, random *rand.Rand) *TraceStep { return &r.Steps[random.IntN(len(r.Steps))] }

// changes make the way, the events, the metadata or the order of times impossible.
var changes = []change{
	{"from", func(r *Record, random *rand.Rand) bool { anyStep(r, random).From = "req:elsewhere"; return true }},
	{"from another state", func(r *Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		s.From, s.To = s.To, s.From
		return true
	}},
	{"to", func(r *Record, random *rand.Rand) bool { anyStep(r, random).To = "run:nowhere"; return true }},
	{"trigger", func(r *Record, random *rand.Rand) bool { anyStep(r, random).Trigger = "magic"; return true }},
	{"row", func(r *Record, random *rand.Rand) bool { anyStep(r, random).Row += "9"; return true }},
	{"event added", func(r *Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		s.Events = append(s.Events, "tool.exec_ok")
		return true
	}},
	{"event dropped", func(r *Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		if len(s.Events) == 0 {
			return false
		}
		s.Events = s.Events[1:]
		return true
	}},
	{"events swapped", func(r *Record, _ *rand.Rand) bool {
		for i := range r.Steps {
			if e := r.Steps[i].Events; len(e) > 1 {
				e[0], e[1] = e[1], e[0]
				return true
			}
		}
		return false
	}},
	{"step dropped", func(r *Record, random *rand.Rand) bool {
		i := random.IntN(len(r.Steps))
		r.Steps = slices.Delete(r.Steps, i, i+1)
		return true
	}},
	{"step twice", func(r *Record, random *rand.Rand) bool {
		i := random.IntN(len(r.Steps))
		r.Steps = slices.Insert(r.Steps, i, r.Steps[i])
		return true
	}},
	{"steps swapped", func(r *Record, _ *rand.Rand) bool {
		if len(r.Steps) < 2 {
			return false
		}
		r.Steps[0], r.Steps[1] = r.Steps[1], r.Steps[0]
		return true
	}},
	{"cut short", func(r *Record, _ *rand.Rand) bool {
		r.Steps = r.Steps[:len(r.Steps)-1]
		if n := len(r.Steps); n > 0 {
			r.Outcome = r.Steps[n-1].To.Short()
		}
		return true
	}},
	{"time backwards", func(r *Record, random *rand.Rand) bool {
		i := random.IntN(len(r.Steps))
		r.Steps[i].Micros = -1
		if i > 0 {
			r.Steps[i].Micros = r.Steps[i-1].Micros - 1
		}
		return true
	}},
	{"outcome", func(r *Record, _ *rand.Rand) bool { r.Outcome += "x"; return true }},
	{"why is prose", func(r *Record, random *rand.Rand) bool { anyStep(r, random).Why = "as you like it"; return true }},
	{"machine", func(r *Record, _ *rand.Rand) bool { r.Machine += "x"; return true }},
	{"another table", func(r *Record, _ *rand.Rand) bool {
		hash := RunTable().Hash()
		if r.Table == hash {
			hash = RequestTable().Hash()
		}
		r.Table = hash
		return true
	}},
	{"metadata added", func(r *Record, _ *rand.Rand) bool {
		r.Pruning = append(r.Pruning, Value{"kept_lines", int64(3)})
		return true
	}},
	{"metadata dropped", func(r *Record, random *rand.Rand) bool {
		r.Pruning = slices.DeleteFunc(r.Pruning, func(v Value) bool { return isQuote(v.Field) })
		if len(r.Pruning) == 0 {
			return false
		}
		i := random.IntN(len(r.Pruning))
		r.Pruning = slices.Delete(r.Pruning, i, i+1)
		return true
	}},
	{"metadata twice", func(r *Record, _ *rand.Rand) bool {
		if len(r.Pruning) == 0 {
			return false
		}
		r.Pruning = append(r.Pruning, r.Pruning[0])
		return true
	}},
	{"a flag turned over", func(r *Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if on, ok := v.Value.(bool); ok {
				r.Pruning[i].Value = !on
				return true
			}
		}
		return false
	}},
	{"a reason of another row", func(r *Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if v.Field == "error.code" || v.Field == "reason" && len(r.Steps) > 4 {
				r.Pruning[i].Value = "something_else"
				return true
			}
		}
		return false
	}},
	{"a size below zero", func(r *Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if _, ok := v.Value.(int64); ok {
				r.Pruning[i].Value = int64(-1)
				return true
			}
		}
		r.Bytes.Wire = -1
		return true
	}},
	{"a pruner that took longer than it was waited for", func(r *Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if v.Field == "pruner_duration_ms" {
				r.Pruning[i].Value = int64(1 << 40)
				return true
			}
		}
		return false
	}},
	{"saved without pruning", func(r *Record, _ *rand.Rand) bool {
		if applied, _ := find(r.Pruning, "applied"); applied == true {
			return false
		}
		r.Bytes.Raw++
		return true
	}},
}

// set changes a metadata field that is there.
func set(field string, value any) func(*Record, *rand.Rand) bool {
	return func(r *Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if v.Field == field && v.Value != value {
				r.Pruning[i].Value = value
				return true
			}
		}
		return false
	}
}

func took(r *Record, triggers ...Trigger) bool {
	return slices.ContainsFunc(r.Steps, func(s TraceStep) bool { return slices.Contains(triggers, s.Trigger) })
}

// after changes records that took one of the triggers.
func after(do func(*Record, *rand.Rand) bool, triggers ...Trigger) func(*Record, *rand.Rand) bool {
	return func(r *Record, random *rand.Rand) bool { return took(r, triggers...) && do(r, random) }
}

// with changes records for which if holds.
func with(when func(*Record) bool, do func(*Record)) func(*Record, *rand.Rand) bool {
	return func(r *Record, _ *rand.Rand) bool {
		if when(r) {
			do(r)
			return true
		}
		return false
	}
}

func isRun(r *Record) bool    { return strings.HasPrefix(r.Machine, "run") }
func ran(r *Record) bool      { return took(r, ArgumentsValid) }
func answered(r *Record) bool { return r.Bytes.Wire > 0 }
func hasText(r *Record) bool  { return r.Bytes.Sent > 0 }
func any0(*Record) bool       { return true }

// further make facts contradict the way or each other.
var further = []change{
	{"empty output of some size", after(set("raw_bytes", int64(5000)), OutputEmpty)},
	{"a failed tool's output", after(set("raw_bytes", int64(5000)), ToolFailed, ToolTimedOut)},
	{"a pruner called for nothing", after(set("raw_bytes", int64(0)), Eligible, TooLarge)},
	{"raw_bytes is not the text's", after(set("raw_bytes", int64(3000)), Written)},
	{"raw_bytes is more than the text's", after(set("raw_bytes", int64(4001)), Written)},
	{"pruned_bytes is not the text's", after(set("pruned_bytes", int64(1)), Written)},
	{"pruned_bytes is more than the text's", after(set("pruned_bytes", int64(410)), Written)},
	{"a failed tool that was too large to prune", after(set("reason", "too_large"), ToolFailed, ToolTimedOut)},
	{"a failed tool that a pruner was called for", after(set("reason", "pruner_error"), ToolFailed, ToolTimedOut)},
	{"a failed tool that nobody asked of", with(func(r *Record) bool {
		reason, _ := find(r.Pruning, "reason")
		return took(r, ToolFailed, ToolTimedOut) && reason != "no_focus_question"
	}, func(r *Record) { _ = set("reason", "no_focus_question")(r, nil) })},
	{"a failed tool that somebody asked of", with(func(r *Record) bool {
		reason, _ := find(r.Pruning, "reason")
		return took(r, ToolFailed, ToolTimedOut) && reason == "no_focus_question"
	}, func(r *Record) { _ = set("reason", "output_empty")(r, nil) })},
	{"another why", func(r *Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		s.Why = "zzz_bogus"
		return s.Trigger != ToolFailed
	}},
	{"another pruner's error", func(r *Record, _ *rand.Rand) bool {
		for i := range r.Steps {
			if s := &r.Steps[i]; s.Trigger == PrunerTimedOut {
				s.Why = "http_error"
				return true
			}
		}
		return false
	}},
	{"a why that no event gives", func(r *Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		if s.Why != "" {
			return false
		}
		s.Why = "timeout"
		return true
	}},
	{"a why dropped", func(r *Record, _ *rand.Rand) bool {
		for i := range r.Steps {
			if s := &r.Steps[i]; s.Why != "" {
				s.Why = ""
				return true
			}
		}
		return false
	}},
	{"much more raw text than output", with(func(r *Record) bool { return took(r, Written) && hasText(r) }, func(r *Record) {
		r.Bytes.Raw += 1_000_000
		if r.Bytes.Raw-r.Bytes.Sent == 1_000_000 {
			r.Bytes.Sent = r.Bytes.Raw
		}
		r.Bytes.Wire += 2_000_000
	})},
	{"less raw text than output", with(func(r *Record) bool { return took(r, Written) && hasText(r) }, func(r *Record) {
		r.Bytes.Raw, r.Bytes.Sent = 1, 1
		r.Tokens.Raw, r.Tokens.Sent = 1, 1
	})},
	{"more sent than pruned", after(func(r *Record, _ *rand.Rand) bool { r.Bytes.Sent += 2; return answered(r) }, Pruned)},
	{"a message smaller than its text", with(hasText, func(r *Record) { r.Bytes.Wire = r.Bytes.Sent })},
	{"a message of one byte", with(answered, func(r *Record) { r.Bytes.Wire = 1 })},
	{"nothing left of the text", after(set("pruned_bytes", int64(0)), Written)},
	{"no output, and a text", after(set("raw_bytes", int64(0)), Written)},
	{"more tokens than bytes", with(answered, func(r *Record) { r.Tokens.Raw, r.Tokens.Sent = r.Bytes.Raw+1, r.Bytes.Sent+1 })},
	{"text without tokens", with(hasText, func(r *Record) { r.Tokens.Raw, r.Tokens.Sent = 0, 0 })},
	{"tokens dropped", with(hasText, func(r *Record) { r.Tokens = TraceTokens{} })},
	{"sizes dropped", with(func(r *Record) bool { return took(r, Written) }, func(r *Record) { r.Bytes, r.Tokens = TraceBytes{}, TraceTokens{} })},
	{"tokens of no bytes", with(func(r *Record) bool { return r.Tokens != TraceTokens{} }, func(r *Record) { r.Bytes = TraceBytes{} })},
	{"sizes where nobody was answered", with(func(r *Record) bool { return !answered(r) }, func(r *Record) {
		r.Bytes, r.Tokens = TraceBytes{9, 9, 99}, TraceTokens{Raw: 9, Sent: 9}
	})},
	{"a text of a request that had none", with(func(r *Record) bool { return answered(r) && !hasText(r) }, func(r *Record) {
		r.Bytes, r.Tokens.Raw, r.Tokens.Sent = TraceBytes{5000, 5000, 9000}, 9, 9
	})},
	{"a question nobody asked", with(func(r *Record) bool { return answered(r) && (took(r, NoQuestion) || !ran(r)) }, func(r *Record) { r.Tokens.Question = 999 })},
	{"tokens saved without pruning", with(func(r *Record) bool { return hasText(r) && r.Bytes.Raw == r.Bytes.Sent }, func(r *Record) { r.Tokens.Sent-- })},
	{"a question longer than any", with(func(r *Record) bool { return r.Tokens.Question > 0 }, func(r *Record) { r.Tokens.Question = 1_000_000 })},
	{"a question dropped", with(func(r *Record) bool {
		return answered(r) && took(r, Eligible, PruningOff, RepeatRead, OutputEmpty, TooLarge)
	}, func(r *Record) { r.Tokens.Question = 0 })},
	{"a pruner's time that overflows", set("pruner_duration_ms", int64(9223372036854775807))},
	{"a pruner that took as long as the tool", func(r *Record, _ *rand.Rand) bool {
		if !took(r, Pruned, PrunerTimedOut, PrunerHTTPFailed, PrunerInvalid) {
			return false
		}
		for i := 2; i < len(r.Steps); i++ {
			r.Steps[i].Micros += 50_000
		}
		return set("pruner_duration_ms", int64(50))(r, nil)
	}},
	{"fewer than none lost", with(any0, func(r *Record) { r.Lost = -5 })},
	{"no id", with(any0, func(r *Record) { r.ID = "" })},
	{"no tool", with(ran, func(r *Record) { r.Tool = "" })},
	{"a tool of what names none", with(func(r *Record) bool { return r.Steps[0].Trigger != Accept && !took(r, Abort) }, func(r *Record) { r.Tool = "read" })},
	{"a run's session", with(isRun, func(r *Record) { r.Session = "ses_1" })},
	{"a run's subject", with(isRun, func(r *Record) { r.Subject = "0123456789abcdef" })},
	{"a run's part", with(isRun, func(r *Record) { r.Part = true })},
	{"a run's detail", with(isRun, func(r *Record) { r.Detail = &TraceDetail{Question: "why?"} })},
	{"a run amended", with(isRun, func(r *Record) { r.Amends = true })},
	{"a detail of what was never started", with(func(r *Record) bool { return !ran(r) }, func(r *Record) { r.Detail = &TraceDetail{Path: "a"} })},
	{"a detail that asks what nobody asked", with(func(r *Record) bool { return took(r, NoQuestion) }, func(r *Record) { r.Detail = &TraceDetail{Question: "why?"} })},
	{"an answer amended by an answer", with(func(r *Record) bool { return took(r, Written) }, func(r *Record) { r.Amends = true })},
	{"what was no answer amended", with(func(r *Record) bool {
		return !took(r, Written, WriteFailed) && r.Steps[len(r.Steps)-1].From != RespondRaw && r.Steps[len(r.Steps)-1].From != RespondPruned
	},
		func(r *Record) { r.Amends = true })},
	{"the year 1", with(any0, func(r *Record) { r.Start = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC) })},
	{"a machine that outlasts every clock", with(any0, func(r *Record) { r.Steps[len(r.Steps)-1].Micros = 1 << 60 })},
	{"a machine that outlasts what counts nanoseconds", with(any0, func(r *Record) { r.Steps[len(r.Steps)-1].Micros = 1<<63 - 1 })},
	{"the year 9999", with(any0, func(r *Record) { r.Start = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) })},
}

// A record with a checksum that fits still shows that no machine can have taken
// its way.
func TestImpossibleRecordsAreFound(t *testing.T) {
	random, all := rand.New(rand.NewPCG(3, 4)), slices.Concat(changes, further)
	p, decoder := replayer(t), NewDecoder()
	applied := map[string]int{}
	for _, original := range everyRecord(t) {
		for _, c := range all {
			line := AppendRecord(nil, &original)
			var r Record
			require.NoError(t, NewDecoder().Decode(line[:len(line)-1], &r))
			if !c.do(&r, random) {
				continue
			}
			applied[c.name]++
			sealed := Reseal(&r)
			var back Record
			require.NoError(t, decoder.Decode(sealed, &back), "%s: %s", c.name, sealed)
			require.Error(t, p.Replay(&back), "%s: %s", c.name, sealed)
		}
	}
	for _, c := range all {
		assert.Positive(t, applied[c.name], c.name)
	}
}
