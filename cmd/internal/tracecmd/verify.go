package tracecmd

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"mcp-pruner/fsm"
)

// verdict is what verifying a trace came to.
type verdict struct {
	OK       bool           `json:"ok"`
	Records  int            `json:"records"`
	Machines map[string]int `json:"machines"`
	Writers  int            `json:"processes"`
	Amended  int            `json:"amended"`
	Lost     int            `json:"lost"` // records that the processes say they could not write
	First    *time.Time     `json:"first,omitempty"`
	Last     *time.Time     `json:"last,omitempty"`
	Problems []string       `json:"problems,omitempty"`
	Notes    []string       `json:"notes,omitempty"`
}

// verifier checks what no line shows by itself: that none was changed, taken out
// or put in.
type verifier struct {
	verdict
	all     bool // go on after the first problem
	writers map[string]*writer
	ids     map[uint64]bool // of ids seen: whether the record was amended
	seed    maphash.Seed
}

// writer is one process and its last line.
type writer struct {
	seq    uint64
	sum    string
	whole  bool // its first line is there
	number int
	file   string
}

func verify(sources []source, all bool) (verdict, error) {
	replayer, err := fsm.NewReplayer()
	if err != nil {
		return verdict{}, err
	}
	v := &verifier{
		verdict: verdict{Machines: make(map[string]int)}, all: all,
		writers: make(map[string]*writer), ids: make(map[uint64]bool), seed: maphash.MakeSeed(),
	}
	err = scan(sources, func() reader { return newReader(replayer) }, v.take)
	if err != nil && err != errStop {
		return v.verdict, err
	}
	v.finish()
	return v.verdict, nil
}

func (v *verifier) take(l *line) error {
	v.noteTorn(l)
	if problem := v.check(l); problem != "" {
		v.Problems = append(v.Problems, l.String()+": "+problem)
		if !v.all {
			return errStop
		}
	}
	return nil
}

func (v *verifier) noteTorn(l *line) {
	switch {
	case l.torn == 0:
	case l.ok:
		v.note("%s: %d bytes of a torn record stand in front of a whole one: a process ended in the middle of a write", l, l.torn)
	case l.last:
		v.note("%s: torn: it is the last and breaks off after %d bytes; the process ended, or the disk was full, in the middle of a write", l, l.torn)
	default:
		v.note("%s: torn: it breaks off after %d bytes; the process ended, or the disk was full, in the middle of a write", l, l.torn)
	}
}

func (v *verifier) note(format string, args ...any) {
	if len(v.Notes) < 100 {
		v.Notes = append(v.Notes, fmt.Sprintf(format, args...))
	}
}

// check says what is wrong with a line, and counts it.
func (v *verifier) check(l *line) string {
	problem := ""
	if l.ok {
		v.count(l)
		problem = v.chain(l)
	}
	switch {
	case l.err != nil:
		return l.err.Error()
	case !l.ok || problem != "":
		return problem
	}
	return v.once(l)
}

func (v *verifier) count(l *line) {
	v.Records++
	v.Machines[l.machine]++
	v.Lost += l.lost
	if v.First == nil || l.start.Before(*v.First) {
		v.First = &l.start
	}
	if v.Last == nil || l.start.After(*v.Last) {
		v.Last = &l.start
	}
}

// chain compares a line with the one its process wrote before it.
func (v *verifier) chain(l *line) string {
	w := v.writers[l.writer]
	if w == nil {
		w = &writer{whole: l.seq == 1}
		v.writers[l.writer] = w
		defer w.follow(l)
		return firstOf(l)
	}
	defer w.follow(l)
	switch {
	case l.seq <= w.seq:
		return fmt.Sprintf("number %d of process %s stands behind its number %d: a line was copied or moved", l.seq, l.writer, w.seq)
	case l.seq > w.seq+1:
		return fmt.Sprintf("between this and %s line %d %s missing that process %s wrote", w.file, w.number, missing(l.seq-w.seq-1), l.writer)
	case l.prev != w.sum:
		return fmt.Sprintf("it does not follow %s line %d, which was changed after it was written, or this was", w.file, w.number)
	}
	return ""
}

func firstOf(l *line) string {
	if l.seq == 1 && l.prev != "" || l.seq == 0 || l.seq > 1 && l.prev == "" {
		return "number and predecessor of the line contradict each other"
	}
	return ""
}

func missing(n uint64) string {
	if n == 1 {
		return "1 line is"
	}
	return fmt.Sprintf("%d lines are", n)
}

func (w *writer) follow(l *line) { w.seq, w.sum, w.number, w.file = l.seq, l.sum, l.number, l.file }

// once: an id has one record, and may have one that amends it.
func (v *verifier) once(l *line) string {
	key := maphash.String(v.seed, l.writer+" "+l.id)
	amended, seen := v.ids[key]
	switch {
	case l.amends && !seen && v.writers[l.writer].whole:
		return fmt.Sprintf("it amends the record of %s, and there is none", l.id)
	case l.amends && amended, !l.amends && seen:
		return fmt.Sprintf("there is a record of %s already", l.id)
	case l.amends && l.outcome == "responded":
		return "only an answer that could not be written is amended, and this one was"
	}
	v.ids[key] = l.amends
	if l.amends {
		v.Amended++
	}
	return ""
}

func (v *verifier) finish() {
	v.OK = len(v.Problems) == 0
	v.Writers = len(v.writers)
	for _, id := range slices.Sorted(maps.Keys(v.writers)) {
		if !v.writers[id].whole {
			v.note("the first lines of process %s are not here: they are in a file that was put aside, or were taken out", id)
		}
	}
	if v.Lost > 0 {
		v.note("the processes say that %d records could not be written (disk full, file closed)", v.Lost)
	}
}

// show prints a verdict for people.
func (v verdict) show(out io.Writer) {
	for _, n := range v.Notes {
		fmt.Fprintln(out, "note: "+n)
	}
	for _, p := range v.Problems {
		fmt.Fprintln(out, "BAD: "+p)
	}
	var machines []string
	for _, name := range slices.Sorted(maps.Keys(v.Machines)) {
		machines = append(machines, fmt.Sprintf("%s %s", name, count(v.Machines[name])))
	}
	text := count(v.Records) + " records"
	if v.Records > 0 {
		text += fmt.Sprintf(" (%s) of %s processes, %s to %s", strings.Join(machines, ", "), count(v.Writers),
			v.First.Format(time.RFC3339), v.Last.Format(time.RFC3339))
	}
	if v.OK {
		fmt.Fprintf(out, "ok: %s; every one replays against its table, and no line was changed or taken out\n", text)
		return
	}
	fmt.Fprintf(out, "failed: read %s\n", text)
}

func (v verdict) json(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
