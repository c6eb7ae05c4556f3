package fsm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// need says whether the machines that took a way have something.
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

// evidence is what a way shows of a request beyond the states it went through.
type evidence struct {
	question need
	output   need // of the tool, in bytes
}

func (e evidence) and(other evidence) evidence {
	return evidence{e.question.and(other.question), e.output.and(other.output)}
}

// conditions are what some triggers show by being fired. Rows out of one state are
// tried in the table's order: to have come past such a row shows the opposite,
// unless passing is maybe.
var conditions = map[Trigger]struct{ fired, passed evidence }{
	NoQuestion:  {evidence{question: never}, evidence{question: always}},
	OutputEmpty: {evidence{output: never}, evidence{output: always}},
	TooLarge:    {evidence{output: always}, evidence{}},
}

// codes are the reasons that the events of a trigger can give, where they are not
// a tool's to choose.
var codes = map[Trigger][]string{
	ToolTimedOut:      {"timeout"},
	Abort:             {"cancelled", "panic", "error", "no_transition"},
	ConfigDisabled:    {"config_disabled"},
	ConfigInvalid:     {"config_invalid"},
	SpawnFailed:       {"start_failed"},
	StartFailed:       {"start_failed"},
	StartTimedOut:     {"start_failed"},
	ServerFailed:      {"exited", "unreachable"},
	ServerExited:      {"exited"},
	ServerUnreachable: {"unreachable"},
}

// learn finds out what a row shows. passed is what is known of those who came past
// the rows above it.
func (row *replayRow) learn(passed map[State]evidence) {
	row.why, row.tool = row.gives("code", "reason"), row.gives("tool")
	if isWildcard(row.From) {
		return
	}
	c := conditions[row.Trigger]
	row.evidence = row.evidence.and(passed[row.From]).and(c.fired)
	passed[row.From] = passed[row.From].and(c.passed)
	for _, a := range row.sets {
		switch {
		case a.field == "error.code":
			row.code, _ = a.value.(string)
		case a.field == "pruner_duration_ms":
			row.timed = true
		case a.field == "reason" && a.fact: // nothing before it did: the tool failed
			row.open, row.output = true, never
		}
	}
}

// gives says whether the row's events carry one of some fields. Of an event that
// has no schema any more nobody knows.
func (row *replayRow) gives(fields ...string) need {
	given := never
	for _, name := range row.events {
		spec, ok := eventSpecs[name]
		if !ok && given == never {
			given = maybe
		}
		for i, f := range spec.fields {
			switch {
			case !slices.Contains(fields, f):
			case !spec.optional[i]:
				return always
			default:
				given = maybe
			}
		}
	}
	return given
}

// noteReason keeps what a reason for calling no pruner takes: as much as the first
// row shows that gives it.
func (p *replayTable) noteReason(row *replayRow) {
	if !slices.Contains(row.sets, assignment{field: "attempted", value: false}) {
		return
	}
	for _, a := range row.sets {
		reason, ok := a.value.(string)
		if _, known := p.reasons[reason]; ok && !known && a.field == "reason" {
			p.reasons[reason] = row.evidence
		}
	}
}

func (row *replayRow) checkWhy(why string) error {
	possible := codes[row.Trigger]
	switch {
	case why == "" && row.why == always:
		return errors.New("its events give a code or a reason, and the step has none")
	case why == "":
		return nil
	case row.why == never:
		return fmt.Errorf("none of its events gives a code or a reason, and the step has %q", why)
	case !isCode(why):
		return fmt.Errorf("%q is no code", why)
	case row.code != "" && why != row.code:
		return fmt.Errorf("its events say %q, not %q", row.code, why)
	case possible != nil && !slices.Contains(possible, why):
		return fmt.Errorf("it has no reason %q, only %s", why, strings.Join(possible, ", "))
	}
	return nil
}

// The times that clocks of computers show: they count from 1970 on, and end in
// the 23rd century.
const lastSecond = 1 << 33

// checkPossible compares what the record says of the request with what its way
// shows, and its sizes and times with each other.
func (p *replayTable) checkPossible(r *Record, rows []*replayRow, m metadata, oneText bool) error {
	shown, tool, end := evidence{}, never, rows[len(rows)-1]
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
	return checkSizes(r, end, shown, m, oneText)
}

// checkRecord checks what every record says.
func (p *replayTable) checkRecord(r *Record, end *replayRow) error {
	unanswered := end.Trigger == WriteFailed || end.Trigger == Abort
	took := r.Steps[len(r.Steps)-1].Micros / 1e6
	switch {
	case r.ID == "":
		return errors.New("it has no id")
	case r.Lost < 0:
		return fmt.Errorf("%d lost records are none", r.Lost)
	case r.Start.Unix() < 0 || r.Start.Unix() >= lastSecond:
		return fmt.Errorf("no clock shows the year %d", r.Start.Year())
	case r.Start.Unix()+took >= lastSecond:
		return fmt.Errorf("it took %d seconds, to a year that no clock shows", took)
	case r.Amends && (!unanswered || p.rows[edge{end.From, Written}] == nil):
		return errors.New("only an answer that could not be written is amended")
	case !p.answers && (r.Session != "" || r.Bytes != TraceBytes{} || r.Tokens != TraceTokens{}):
		return fmt.Errorf("the machine %s answers nobody, and the record has a session or sizes", p.name)
	}
	return nil
}

// checkReason: a reason that the row leaves open is one that the table knows of
// output that no pruner was called for. It shows what that takes.
func (p *replayTable) checkReason(shown evidence, end *replayRow, m metadata) (evidence, error) {
	if m.output && !shown.output.allows(m.raw > 0) {
		return shown, fmt.Errorf("the metadata says raw_bytes=%d, and output of that size goes another way", m.raw)
	}
	if !end.open || len(p.reasons) == 0 {
		return shown, nil
	}
	takes, ok := p.reasons[m.reason]
	if !ok || !takes.output.allows(m.raw > 0) {
		return shown, fmt.Errorf("the metadata says reason=%s, which row %s never gives", m.reason, end.Spec)
	}
	return shown.and(takes), nil
}

// checkAbout: a tool has the name that the events gave it; what a call was about is
// known once a tool was started for it.
func checkAbout(r *Record, tool need, shown evidence) error {
	about := r.Subject != "" || r.Part || r.Detail != nil || r.Tokens.Question > 0
	switch {
	case tool == always && r.Tool == "":
		return errors.New("its events name a tool, and the record does not")
	case tool == never && r.Tool != "":
		return errors.New("none of its events names a tool, and the record does")
	case tool != always && about:
		return errors.New("no tool was started, and the record says what the call was about")
	case r.Detail != nil && !shown.question.allows(r.Detail.Question != ""):
		return errors.New("the way contradicts the question in the detail")
	}
	return nil
}

// checkPrunerTime: the pruner did not take longer than the step that waited for it.
func checkPrunerTime(r *Record, rows []*replayRow, m metadata) error {
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
