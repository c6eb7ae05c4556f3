// Package audit verifies a trace and summarizes it, and writes what it found: as
// text, as CSV and JSON, and as a page of HTML. Package fsm/trace knows the encoding of
// records and the steps that a table allows. This package knows requests and runs: what a
// path through a table implies, and how sizes must fit each other. It needs no messages of
// tools, since records hold the sizes.
package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// auditor checks single records. It is safe for concurrent use.
type auditor struct {
	replayer *trace.Replayer
	learned  map[*fsm.Definition]*learned
}

func newAuditor() *auditor {
	replayer := trace.NewReplayer()
	a := &auditor{replayer: replayer, learned: make(map[*fsm.Definition]*learned)}
	for _, t := range replayer.Tables() {
		a.learned[t] = learn(t)
	}
	return a
}

// check returns the reason why no machine with the record's table can have produced it, or
// nil if one can.
func (a *auditor) check(r *trace.Record) error {
	var room [16]int
	walk, err := a.replayer.Replay(r, room[:0])
	if err != nil {
		return err
	}
	t := a.learned[walk.Table]
	rows := make([]*learnedRow, len(walk.Rows))
	for i, row := range walk.Rows {
		rows[i] = &t.rows[row]
		if err := rows[i].checkWhy(r.Steps[i].Why); err != nil {
			s := &r.Steps[i]
			return fmt.Errorf("step %d (%s --%s--> %s): %w", i+1, s.From, s.Trigger, s.To, err)
		}
	}
	return t.check(r, rows)
}

func (row *learnedRow) checkWhy(why string) error {
	possible := codes[row.Trigger]
	switch {
	case why == "" && row.why == always:
		return errors.New("its events give a code or a reason, and the step has none")
	case why == "":
		return nil
	case row.why == never:
		return fmt.Errorf("none of its events gives a code or a reason, and the step has %q", why)
	case !trace.IsCode(why):
		return fmt.Errorf("%q is no code", why)
	case row.code != "" && why != row.code:
		return fmt.Errorf("its events say %q, not %q", row.code, why)
	case possible != nil && !slices.Contains(possible, why):
		return fmt.Errorf("it has no reason %q, only %s", why, strings.Join(possible, ", "))
	}
	return nil
}

// metadata is the part of a record's metadata that the checks use.
type metadata struct {
	applied     bool
	output      bool // the size of the output is known
	raw, pruned int64
	millis      int64 // duration of the pruner's call
	reason      string
}

func metadataOf(r *trace.Record) (m metadata) {
	for _, v := range r.Pruning {
		n, _ := v.Value.(int64)
		switch v.Field {
		case "applied":
			m.applied = v.Value == true
		case "raw_bytes":
			m.raw, m.output = n, true
		case "pruned_bytes":
			m.pruned = n
		case "pruner_duration_ms":
			m.millis = n
		case "reason":
			m.reason, _ = v.Value.(string)
		}
	}
	return m
}
