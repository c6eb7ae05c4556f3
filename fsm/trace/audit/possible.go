package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// need says whether a path through the table implies a property: always, never or
// maybe.
type need int8

const (
	maybe need = iota
	never
	always
)

func (n need) and(other need) need {
	if n == maybe {
		return other
	}
	return n
}

func (n need) allows(there bool) bool { return n == maybe || (n == always) == there }

// evidence holds the facts about a request that a path implies, in addition to the states on it.
type evidence struct {
	question need
	output   need // the tool's output has at least one byte
}

func (e evidence) and(other evidence) evidence {
	return evidence{e.question.and(other.question), e.output.and(other.output)}
}

// conditions say what a fired trigger implies. The rows out of one state are tried in the
// table's order, so a request that passed a row without taking it implies the opposite,
// unless passed is maybe.
var conditions = map[fsm.Trigger]struct{ fired, passed evidence }{
	fsm.NoQuestion:  {evidence{question: never}, evidence{question: always}},
	fsm.OutputEmpty: {evidence{output: never}, evidence{output: always}},
	fsm.TooLarge:    {evidence{output: always}, evidence{}},
}

// codes are the reasons that the events of a trigger can give, except where a tool chooses
// them.
var codes = map[fsm.Trigger][]string{
	fsm.ToolTimedOut:      {"timeout"},
	fsm.Abort:             {"cancelled", "panic", "error", "no_transition"},
	fsm.ConfigDisabled:    {"config_disabled"},
	fsm.ConfigInvalid:     {"config_invalid"},
	fsm.SpawnFailed:       {"start_failed"},
	fsm.StartFailed:       {"start_failed"},
	fsm.StartTimedOut:     {"start_failed"},
	fsm.ServerFailed:      {"exited", "unreachable"},
	fsm.ServerExited:      {"exited"},
	fsm.ServerUnreachable: {"unreachable"},
}

// learned holds the implications of a table.
type learned struct {
	name    string
	rows    []learnedRow        // by index in the table
	reasons map[string]evidence // why output was not pruned, with the implication of that reason
	answers bool                // its machines answer requests
}

type learnedRow struct {
	fsm.Row
	evidence
	sets  []fsm.Assignment
	why   need   // its events have a code or reason
	tool  need   // its events name the tool
	code  string // the only code that its events can give; "" if there are several
	open  bool   // the row does not determine the reason
	timed bool   // it sets the duration of the pruner's call
}

// learn derives the implications of a table.
func learn(d *fsm.Definition) *learned {
	l := &learned{name: d.Name(), reasons: make(map[string]evidence)}
	passed := make(map[fsm.State]evidence)
	for _, row := range d.Rows() {
		r := learnedRow{Row: row, sets: row.Assigns()}
		r.learn(passed)
		l.noteReason(&r)
		l.answers = l.answers || row.Trigger == fsm.Written
		l.rows = append(l.rows, r)
	}
	return l
}

// learn derives the implications of a row. passed holds those of having passed the rows
// above it.
func (row *learnedRow) learn(passed map[fsm.State]evidence) {
	row.why, row.tool = row.gives("code", "reason"), row.gives("tool")
	if row.Trigger == fsm.Abort { // at any time, also before a row is tried
		return
	}
	c := conditions[row.Trigger]
	row.evidence = row.evidence.and(passed[row.From]).and(c.fired)
	passed[row.From] = passed[row.From].and(c.passed)
	for _, a := range row.sets {
		switch {
		case a.Field == "error.code":
			row.code, _ = a.Value.(string)
		case a.Field == "pruner_duration_ms":
			row.timed = true
		case a.Field == "reason" && a.Fact: // the tool failed, possibly with output
			row.open = true
		}
	}
}

// gives reports whether the row's events have one of the fields.
func (row *learnedRow) gives(fields ...string) need {
	given := never
	for name := range strings.FieldsSeq(row.Events) {
		schema := fsm.LookupEvent(name)
		for i, f := range schema.Names {
			switch {
			case !slices.Contains(fields, f):
			case !schema.Optional[i]:
				return always
			default:
				given = maybe
			}
		}
	}
	return given
}

// noteReason records the implication of a reason for not calling the pruner: that of the
// first row that gives the reason.
func (p *learned) noteReason(row *learnedRow) {
	if !slices.Contains(row.sets, fsm.Assignment{Field: "attempted", Value: false}) {
		return
	}
	for _, a := range row.sets {
		reason, ok := a.Value.(string)
		if _, known := p.reasons[reason]; ok && !known && a.Field == "reason" {
			p.reasons[reason] = row.evidence
		}
	}
}

// The range of times that clocks of computers show, in Unix seconds: from 1970 to the 23rd
// century.
const lastSecond = 1 << 33

// check compares the record with the implications of its path, and its sizes and times with
// each other.
func (p *learned) check(r *trace.Record, rows []*learnedRow) error {
	shown, tool, end, m := evidence{}, never, rows[len(rows)-1], metadataOf(r)
	for _, row := range rows {
		shown = shown.and(row.evidence)
		if tool == never || row.tool == always {
			tool = row.tool
		}
	}
	if err := p.checkRecord(r, end); err != nil {
		return err
	}
	shown, err := p.checkReason(shown, end, m)
	if err != nil {
		return err
	}
	if err := checkAbout(r, tool, shown); err != nil {
		return err
	}
	if err := checkPrunerTime(r, rows, m); err != nil {
		return err
	}
	return checkSizes(r, end, shown, m)
}

// checkRecord checks the fields that every record has.
func (p *learned) checkRecord(r *trace.Record, end *learnedRow) error {
	took := r.Steps[len(r.Steps)-1].Micros / 1e6
	switch {
	case r.ID == "":
		return errors.New("it has no id")
	case r.Lost < 0:
		return fmt.Errorf("%d lost records: the number cannot be negative", r.Lost)
	case r.Start.Unix() < 0 || r.Start.Unix() >= lastSecond:
		return fmt.Errorf("no clock shows the year %d", r.Start.Year())
	case r.Start.Unix()+took >= lastSecond:
		return fmt.Errorf("it took %d seconds, to a year that no clock shows", took)
	case r.Answer == trace.Unconfirmed && (r.Recovered == "" || r.Bytes.Wire == 0),
		r.Answer == trace.Unwritten && end.Trigger == fsm.Written,
		r.Answer == trace.Interrupted && end.Trigger != fsm.ArgumentsValid,
		r.Answer != "" && r.Answer != trace.Unwritten && r.Answer != trace.Unconfirmed && r.Answer != trace.Interrupted:
		return fmt.Errorf("the path contradicts an answer that is %s", r.Answer)
	case end.Trigger == fsm.WriteFailed && r.Answer != trace.Unwritten:
		return errors.New("the write failed, but the record says that the answer went out")
	case p.answers && r.Ended != nil:
		return errors.New("only a run lets go of a server")
	case !p.answers && (r.Session != "" || r.Answer != "" || r.Bytes != trace.Bytes{} || r.Tokens != trace.Tokens{}):
		return fmt.Errorf("the machine %s answers nobody, and the record has a session or sizes", p.name)
	}
	return nil
}

// checkReason checks a reason that the row leaves open: it must be one of the table's
// reasons for not calling the pruner. It returns the evidence with the implication of the
// reason.
func (p *learned) checkReason(shown evidence, end *learnedRow, m metadata) (evidence, error) {
	if m.output && !shown.output.allows(m.raw > 0) {
		return shown, fmt.Errorf("the metadata says raw_bytes=%d, and output of that size takes another path", m.raw)
	}
	if !end.open || len(p.reasons) == 0 {
		return shown, nil
	}
	if m.reason == "" && m.raw > 0 { // there was a question and a pruner
		return shown.and(p.reasons["disabled_or_unconfigured"]), nil
	}
	takes, ok := p.reasons[m.reason]
	if !ok || !takes.output.allows(m.raw > 0) {
		return shown, fmt.Errorf("the metadata says reason=%s, which row %s never gives", m.reason, end.Spec)
	}
	return shown.and(takes), nil
}

// checkAbout checks that the record names a tool if and only if its events do, and that it
// describes the call only if a tool was started.
func checkAbout(r *trace.Record, tool need, shown evidence) error {
	about := r.Subject != "" || r.Part || r.Detail != nil || r.Tokens.Question > 0
	switch {
	case tool == always && r.Tool == "":
		return errors.New("its events name a tool, and the record does not")
	case tool == never && r.Tool != "":
		return errors.New("none of its events names a tool, and the record does")
	case tool != always && about:
		return errors.New("no tool was started, and the record says what the call was about")
	case r.Detail != nil && !shown.question.allows(r.Detail.Question != ""):
		return errors.New("the path contradicts the question in the detail")
	}
	return nil
}

// checkPrunerTime checks that the pruner took no longer than the step that waited for it.
func checkPrunerTime(r *trace.Record, rows []*learnedRow, m metadata) error {
	last := int64(0)
	for i, row := range rows {
		waited := (r.Steps[i].Micros - last) / 1000
		last = r.Steps[i].Micros
		if row.timed && m.millis > waited {
			return fmt.Errorf("the pruner took %d ms, but was waited for only %d ms", m.millis, waited)
		}
	}
	return nil
}
