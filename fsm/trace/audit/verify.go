package audit

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// Verdict is the result of verifying a trace.
type Verdict struct {
	OK       bool           `json:"ok"`
	Records  int            `json:"records"`
	Machines map[string]int `json:"machines"`
	Writers  int            `json:"processes"`
	Lost     int            `json:"lost"` // records that processes report as not written
	First    *time.Time     `json:"first,omitempty"`
	Last     *time.Time     `json:"last,omitempty"`
	Files    []File         `json:"files,omitempty"`
	Versions map[string]int `json:"versions"`       // records by version of the program
	Heads    bool           `json:"heads"`          // the trace was compared with heads kept elsewhere
	Unproved int            `json:"unproved"`       // processes whose end the heads do not prove; without heads all of them
	Found    int            `json:"problems_found"` // number of problems; Problems lists the first ones
	Problems []string       `json:"problems,omitempty"`
	Notes    []string       `json:"notes,omitempty"`
}

// File is a file that was verified completely.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

const (
	maxProblems = 1000 // maximum number of problems listed
	maxNotes    = 100
	maxKinds    = 1000 // maximum number of machines and of versions counted separately
)

// Options control how a trace is verified.
type Options struct {
	All   bool   // continue after the first problem
	Heads *Heads // heads to compare with; nil: none
}

// Trace is a verified trace, ready to be read again.
type Trace struct {
	sources []*Source
	verdict Verdict
	heads   []trace.Head
	skip    map[place]bool // records that were written once more
}

// verifier checks the facts that involve more than one line: that no line was changed,
// removed or inserted.
type verifier struct {
	*Trace
	Options
	problems  []problem
	recovered map[string]int
	writers   map[string]*writer
	ids       *sorter
	spilled   error // error of ids
	seed      maphash.Seed

	blanks  int    // empty lines
	blank   place  // the first of them
	absent  int    // requests that the log names and that have no record
	example string // id of one
}

type problem struct {
	at   place
	text string
}

// writer is the state of one process after its last line.
type writer struct {
	seq   uint64
	link  string
	whole bool // the trace has its first line
	ended time.Time
	at    place

	key      string    // key of the next seal; "" if unknown
	unsealed int       // lines since the last seal
	since    time.Time // end of the first of them
}

// maxBackwards is the maximum time by which a record may end before the previous one.
// Records are written when their machines end, but system clocks are adjusted, and the
// clock that times the steps stops while a computer sleeps.
const maxBackwards = 30 * 24 * time.Hour

// Verify reads a trace and checks every record and the chains of the lines.
func Verify(sources []*Source, o Options) (*Trace, error) {
	checks := newAuditor()
	for i, s := range sources {
		s.number = i
	}
	t := &Trace{sources: sources, verdict: Verdict{Machines: make(map[string]int), Versions: make(map[string]int)}, skip: make(map[place]bool)}
	v := &verifier{
		Trace: t, Options: o, recovered: make(map[string]int), writers: make(map[string]*writer), ids: newSorter(), seed: maphash.MakeSeed(),
	}
	defer v.ids.close()
	if o.Heads != nil {
		v.seed = o.Heads.named.seed
		defer o.Heads.named.ids.close()
	}
	err := scan(sources, func() reader { return newReader(checks) }, v.take)
	if err != nil && err != errStop {
		return nil, err
	}
	v.noteSideFiles()
	return t, v.finish()
}

// Verdict returns the result.
func (t *Trace) Verdict() Verdict { return t.verdict }

// Heads returns the head of each process's chain at the end of the trace.
func (t *Trace) Heads() []trace.Head { return t.heads }

func (v *verifier) take(l *line) error {
	if l.blank {
		if v.blanks++; v.blanks == 1 {
			v.blank = placeOf(l)
		}
		return v.spilled
	}
	v.noteTorn(l)
	if text := v.check(l); text != "" {
		v.found(placeOf(l), text)
		if !v.All {
			return errStop
		}
	}
	return v.spilled
}

func (v *verifier) found(at place, text string) {
	v.verdict.Found++
	if len(v.problems) < maxProblems {
		v.problems = append(v.problems, problem{at, v.where(at) + ": " + text})
	}
}

func (v *verifier) where(at place) string {
	return fmt.Sprintf("%s: line %d", v.sources[at.file()].Name, at.line())
}

func (v *verifier) note(format string, args ...any) {
	if len(v.verdict.Notes) < maxNotes {
		v.verdict.Notes = append(v.verdict.Notes, fmt.Sprintf(format, args...))
	}
}

// check returns the problem with a line, or "", and counts the line.
func (v *verifier) check(l *line) string {
	problem := ""
	if l.ok {
		v.count(l)
		problem = cmp.Or(v.chain(l), v.sealed(l), v.Options.Heads.checkLine(l))
	}
	switch {
	case l.err != nil:
		return l.err.Error()
	case l.ok && problem == "":
		v.remember(l)
	}
	return problem
}

func (v *verifier) count(l *line) {
	d := &v.verdict
	d.Records++
	d.Lost += l.lost
	countKind(d.Machines, l.Machine)
	countKind(d.Versions, l.Server)
	if d.First == nil || l.Start.Before(*d.First) {
		d.First = new(l.Start)
	}
	if d.Last == nil || l.Start.After(*d.Last) {
		d.Last = new(l.Start)
	}
}

// others is the name under which kinds beyond maxKinds are counted together.
const others = "(others)"

func countKind(kinds map[string]int, name string) {
	if _, known := kinds[name]; !known && len(kinds) >= maxKinds {
		name = others
	}
	kinds[name]++
}

// chain compares a line with the previous line of its process.
func (v *verifier) chain(l *line) string {
	w := v.writers[l.Writer]
	if w == nil {
		w = &writer{whole: l.seq == 1}
		v.writers[l.Writer] = w
		defer w.follow(l)
		return firstOf(l)
	}
	defer w.follow(l)
	switch {
	case l.seq <= w.seq:
		return fmt.Sprintf("number %d of process %s comes after its number %d: a line was copied or moved", l.seq, l.Writer, w.seq)
	case l.seq > w.seq+1:
		return fmt.Sprintf("between this and %s %s missing that process %s wrote", v.short(w.at), missing(l.seq-w.seq-1), l.Writer)
	case l.prev != w.link:
		return fmt.Sprintf("it does not follow %s, which was changed after it was written, or this was", v.short(w.at))
	case l.ended().Before(w.ended.Add(-maxBackwards)):
		return fmt.Sprintf("it ended at %s, long before %s, which was written before it", l.ended().Format(time.RFC3339), v.short(w.at))
	}
	return ""
}

// short returns a short name for a line, for use within a sentence.
func (v *verifier) short(at place) string {
	return fmt.Sprintf("%s line %d", v.sources[at.file()].Name, at.line())
}

// sealed checks the line's seal against the key that the previous seal named.
func (v *verifier) sealed(l *line) string {
	w := v.writers[l.Writer]
	if l.recovered != "" {
		v.recovered[l.recovered]++
	}
	switch {
	case (l.seq == 1) != (l.key != ""):
		return "the first line of a process says who writes, and no other does"
	case l.seq == 1:
		w.key = l.key
	}
	if l.seal == nil {
		if w.unsealed++; w.unsealed == 1 {
			w.since = l.ended()
		}
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
	return fmt.Sprintf("%d %s", n, terminal.Plural(n, "line is", "lines are"))
}

func (w *writer) follow(l *line) {
	w.seq, w.link, w.at, w.ended = l.seq, l.link, placeOf(l), l.ended()
}

// remember keeps the data needed to compare the record with others of its id.
func (v *verifier) remember(l *line) {
	m := mark{id: maphash.String(v.seed, l.ID), at: placeOf(l)}
	if l.recovered != "" {
		m.flags = recovered
	}
	v.spilled = v.ids.add(m)
}

// once checks the records of one id: there must be one.
func (v *verifier) once(group []mark) {
	inside := slices.IndexFunc(group, func(m mark) bool { return m.flags&(inLog|inNotes) != 0 })
	switch {
	case inside == 0 && group[0].flags&inLog != 0 && group[len(group)-1].flags&inNotes == 0:
		v.unrecorded(group[0].id)
		return
	case inside == 0:
		return
	case inside > 0:
		group = group[:inside]
	}
	for _, m := range group[1:] {
		if m.flags&recovered != 0 { // killed after it wrote the line and before it freed the note
			v.skip[m.at] = true
			continue
		}
		v.found(m.at, fmt.Sprintf("there is a record of its id already, in %s", v.short(group[0].at)))
	}
}

func (v *verifier) finish() error {
	if err := v.markNamed(); err != nil {
		return err
	}
	if err := v.ids.groups(v.once); err != nil {
		return err
	}
	slices.SortStableFunc(v.problems, func(a, b problem) int { return cmp.Compare(a.at, b.at) })
	if !v.All && len(v.problems) > 1 {
		v.problems, v.verdict.Found = v.problems[:1], 1
	}
	d := &v.verdict
	for _, p := range v.problems {
		d.Problems = append(d.Problems, p.text)
	}
	if len(v.problems) == 0 || v.All {
		ends := append(v.sealless(), v.Options.Heads.checkEnd(v.writers)...)
		d.Found += len(ends)
		d.Problems = append(d.Problems, ends...)
		v.checkNamed()
	}
	d.OK, d.Writers, d.Heads = d.Found == 0, len(v.writers), v.Options.Heads != nil
	for _, s := range v.sources {
		if s.size >= 0 {
			d.Files = append(d.Files, File{s.Name, s.size, s.sum})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.writers)) {
		v.finishWriter(id, v.writers[id])
	}
	v.noteUnproved()
	if v.blanks > 0 {
		v.note("%s: the line is empty, the first of %d such: several processes wrote at once, or somebody else wrote there", v.where(v.blank), v.blanks)
	}
	for _, id := range slices.Sorted(maps.Keys(v.recovered)) {
		v.note("%s of process %s, which was killed, come from its side file", terminal.Count(v.recovered[id], "record"), id)
	}
	if d.Lost > 0 {
		v.note("the processes say that %s could not be written (disk full, file closed)", terminal.Count(d.Lost, "record"))
	}
	return nil
}
