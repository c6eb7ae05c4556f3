// Package audit says whether a trace is true, and sums it up. Package fsm/trace knows
// how records are spelled and which steps a table allows; this package knows what
// requests and runs are: what a path through a table implies, how sizes fit each other.
// It knows no message of any tool: records carry the sizes it needs.
package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcp-pruner/fsm/trace"
)

// Auditor checks records one by one. It may be used by several goroutines.
type Auditor struct {
	replayer *trace.Replayer
	learned  map[*trace.Table]*learned
}

// New makes an auditor that knows the tables of this program and of its archive.
func New() (*Auditor, error) {
	replayer, err := trace.NewReplayer()
	if err != nil {
		return nil, err
	}
	return Of(replayer), nil
}

// Of makes an auditor that knows a replayer's tables.
func Of(replayer *trace.Replayer) *Auditor {
	a := &Auditor{replayer: replayer, learned: make(map[*trace.Table]*learned)}
	for _, t := range replayer.Tables() {
		a.learned[t] = learn(t)
	}
	return a
}

// Check says why no machine of the record's table can have left it; nil when one can
// have.
func (a *Auditor) Check(r *trace.Record) error {
	var room [16]*trace.Row
	walk, err := a.replayer.Replay(r, room[:0])
	if err != nil {
		return err
	}
	t := a.learned[walk.Table]
	rows := make([]*learnedRow, len(walk.Rows))
	for i, row := range walk.Rows {
		rows[i] = &t.rows[row.At]
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

// metadata is what the checks need of a record's metadata.
type metadata struct {
	applied     bool
	output      bool // the size of the output is known
	raw, pruned int64
	millis      int64 // of the pruner
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
