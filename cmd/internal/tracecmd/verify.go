package tracecmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"mcp-pruner/fsm/trace"
	"mcp-pruner/states/audit"
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
	all       bool // go on after the first problem
	heads     *heads
	recovered map[string]int
	writers   map[string]*writer
	ids       map[uint64]answer // records by id, whoever wrote them
	seed      maphash.Seed
}

// answer is what is kept of a record, for one that might amend it.
type answer struct {
	lasting  uint64
	answered bool // and not amended yet
}

// writer is one process and its last line.
type writer struct {
	seq    uint64
	link   string
	whole  bool // its first line is there
	ended  time.Time
	number int
	file   string

	key      string // of the next seal; "" when it is not known
	unsealed int    // lines after the last seal
}

// maxBackwards is how much earlier than the record in front of it one may have
// ended. Records are written when their machines end, but clocks are set, and the
// clock that steps are timed by stands still while a computer sleeps.
const maxBackwards = 30 * 24 * time.Hour

func verify(sources []source, all bool) (verdict, error) {
	v, err := verifySources(sources, all, nil)
	if err != nil {
		return verdict{}, err
	}
	return v.verdict, nil
}

func verifySources(sources []source, all bool, h *heads) (*verifier, error) {
	auditor, err := audit.New()
	if err != nil {
		return nil, err
	}
	v := &verifier{
		verdict: verdict{Machines: make(map[string]int)}, all: all, heads: h, recovered: make(map[string]int),
		writers: make(map[string]*writer), ids: make(map[uint64]answer), seed: maphash.MakeSeed(),
	}
	err = scan(sources, func() reader { return newReader(auditor) }, v.take)
	if err != nil && err != errStop {
		return nil, err
	}
	v.noteSideFiles(sources)
	v.finish()
	return v, nil
}

// noteSideFiles tells of answers that are known only from the side file of a process
// that was killed.
func (v *verifier) noteSideFiles(sources []source) {
	for _, s := range sources {
		_ = trace.Leftovers(s.name, func(left trace.Left) bool { // a file that cannot be read is the next server's to report
			if len(left.Records) > 0 {
				v.note("%s of process %s, which was killed, are in its side file %s; the next server appends them",
					counted(len(left.Records), "answer"), left.Writer, left.File)
			}
			return false
		})
	}
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
	case l.front && l.ok:
		v.note("%s: another record stands right behind this one: the line end between them is missing", l)
	case l.torn == 0:
	case l.front:
		v.note("%s: %d bytes of a torn record stand in front of another one: a process ended in the middle of a write", l, l.torn)
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
		problem = cmp.Or(v.chain(l), v.sealed(l), v.heads.checkLine(l))
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
	case l.prev != w.link:
		return fmt.Sprintf("it does not follow %s line %d, which was changed after it was written, or this was", w.file, w.number)
	case l.ended().Before(w.ended.Add(-maxBackwards)):
		return fmt.Sprintf("it ended at %s, long before %s line %d, which was written before it",
			l.ended().Format(time.RFC3339), w.file, w.number)
	}
	return ""
}

// sealed checks the line's seal, whose key the seal before it named.
func (v *verifier) sealed(l *line) string {
	w := v.writers[l.writer]
	if l.recovered != "" {
		v.recovered[l.recovered]++
	}
	switch {
	case l.schema < 3:
		return ""
	case (l.seq == 1) != (l.key != ""):
		return "the first line of a process says who writes, and no other does"
	case l.seq == 1:
		w.key = l.key
	}
	if l.seal == nil {
		w.unsealed++
		return ""
	}
	w.unsealed = 0
	defer func() { w.key = l.seal.Next }()
	switch {
	case !l.seal.Valid():
		return "its seal does not fit: the line, or one of its process before it, was changed by somebody without the key"
	case w.key != "" && w.key != l.seal.By:
		return "its seal was made with another key than the one announced before"
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

func (w *writer) follow(l *line) {
	w.seq, w.link, w.number, w.file, w.ended = l.seq, l.link, l.number, l.file, l.ended()
}

// once: an id has one record, and that of an answer may have one that amends it,
// which differs in its end alone.
func (v *verifier) once(l *line) string {
	key := maphash.String(v.seed, l.id)
	earlier, seen := v.ids[key]
	switch {
	case l.amends && !seen && v.writers[l.writer].whole:
		return fmt.Sprintf("it amends the record of %s, and there is none", l.id)
	case seen && l.recovered != "": // its process was killed between writing the line and freeing the note
		return ""
	case !l.amends && seen:
		return fmt.Sprintf("there is a record of %s already", l.id)
	case l.amends && seen && !earlier.answered:
		return fmt.Sprintf("it amends the record of %s, which is not that of an answer", l.id)
	case l.amends && seen && l.lasting != earlier.lasting:
		return fmt.Sprintf("it amends the record of %s, and differs from it in more than its end", l.id)
	}
	v.ids[key] = answer{l.lasting, l.outcome == "responded" && !l.amends}
	if l.amends {
		v.Amended++
	}
	return ""
}

func (v *verifier) finish() {
	if len(v.Problems) == 0 || v.all {
		v.Problems = append(v.Problems, v.heads.checkEnd(v.writers)...)
	}
	v.OK = len(v.Problems) == 0
	v.Writers = len(v.writers)
	for _, id := range slices.Sorted(maps.Keys(v.writers)) {
		if !v.writers[id].whole {
			v.note("the first lines of process %s are not here: they are in a file that was put aside, or were taken out; nothing here tells which", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.writers)) {
		if w := v.writers[id]; w.unsealed > 0 {
			v.note("at the end of process %s %s without a seal: it was killed in the middle of a write, or somebody else wrote there", id, areSome(w.unsealed, "line"))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.recovered)) {
		v.note("%s of process %s, which was killed, come from its side file", counted(v.recovered[id], "record"), id)
	}
	if v.Lost > 0 {
		v.note("the processes say that %d records could not be written (disk full, file closed)", v.Lost)
	}
}

// show prints a verdict for people.
func (v verdict) show(out io.Writer) error {
	var page bytes.Buffer
	for _, n := range v.Notes {
		fmt.Fprintln(&page, "note: "+printable(n))
	}
	for _, p := range v.Problems {
		fmt.Fprintln(&page, "BAD: "+printable(p))
	}
	var machines []string
	for _, name := range slices.Sorted(maps.Keys(v.Machines)) {
		machines = append(machines, fmt.Sprintf("%s %s", printable(name), count(v.Machines[name])))
	}
	text := counted(v.Records, "record")
	if v.Records > 0 {
		text += fmt.Sprintf(" (%s) of %s processes, %s to %s", strings.Join(machines, ", "), count(v.Writers),
			v.First.Format(time.RFC3339), v.Last.Format(time.RFC3339))
	}
	switch {
	case v.OK && v.Records == 0:
		fmt.Fprintln(&page, "ok, but empty: there is no record in it, so nothing was verified")
	case v.OK:
		fmt.Fprintf(&page, "ok: %s; every one replays against its table, and from the first to the last line here of each process "+
			"none is changed or missing\n", text)
	default:
		fmt.Fprintf(&page, "failed: read %s\n", text)
	}
	_, err := out.Write(page.Bytes())
	return err
}

func (v verdict) json(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
