package lineprune

import (
	"math/bits"
	"strconv"
	"strings"
)

// logsOutline makes a unit of every entry with what continues it: a traceback with
// its frames and message, a test's run with its output and verdict, a compiler's
// message with its excerpt.
func logsOutline(d *document) outline {
	o := outline{of: make([]int32, len(d.lines)), units: make([]unit, 0, len(d.lines))}
	var state entry
	for i, line := range d.lines {
		if i == 0 || !state.continues(d, i, line) {
			if n := len(o.units); n > 0 {
				o.units[n-1].end = i
			}
			o.units = append(o.units, unit{i, len(d.lines), i, -1})
			state = entry{kind: entryKind(line, d.next(i)), indent: d.indent[i]}
		}
		o.of[i] = int32(len(o.units) - 1)
	}
	return o
}

// Kinds of a log's entries, by what ends them.
const (
	plainEntry    = iota // ends at the next line that is not indented deeper
	goRun                // === RUN, ends after its --- line
	panicEntry           // ends where the goroutines' frames do
	traceback            // ends after the exception's message
	framed               // ends at the next rule of ==== or ____
	paragraph            // ends at a blank line
	numberedEntry        // "  1) name", ends at the next one, whatever the indentation
	bulletEntry          // "  ● name", ends at the next line that is not indented deeper, whatever is blank
	blankEntry           // a blank line between entries
)

// entry is the log entry the lines are in.
type entry struct {
	kind   int
	indent int16
	done   bool // the next line opens another entry
	lines  int
	frames int // numbered frames seen, as "#0 main()"
}

func entryKind(line, next string) int {
	t := line[firstVisible(line):]
	if t == "" || class[t[0]] == space {
		return blankEntry
	}
	switch t[0] { // most lines are told by their first byte
	case '=':
		return equalsEntry(line, next)
	case '_':
		if titledRule(line) {
			return framed
		}
	case 'p', 'f', 'g':
		return startsEntry(line, panicEntry, "panic:", "fatal error:", "goroutine ")
	case 'T':
		if strings.HasPrefix(line, "TASK [") {
			return paragraph
		}
		return startsEntry(t, traceback, "Traceback (most recent call last)")
	case 'e', 'w':
		return startsEntry(line, paragraph, "error[", "error:", "warning:")
	}
	switch {
	case class[t[0]] == digit && numbered(t):
		return numberedEntry
	case class[t[0]] == high && strings.HasPrefix(t, "● "):
		return bulletEntry
	}
	return plainEntry
}

// startsEntry is kind when the line begins with one of the prefixes.
func startsEntry(line string, kind int, prefixes ...string) int {
	for _, p := range prefixes {
		if strings.HasPrefix(line, p) {
			return kind
		}
	}
	return plainEntry
}

// equalsEntry tells a rule above one failure from one that only decorates, and from
// pytest's "==== FAILURES ====", which is the heading of all that follows.
func equalsEntry(line, next string) int {
	if len(line) >= 20 && strings.HasPrefix(line, "=====") {
		if titledRule(line) || signal(next) <= warningSignal {
			return plainEntry
		}
		return framed
	}
	return startsEntry(line, goRun, "=== RUN", "=== CONT", "=== NAME")
}

// numbered is true of "3) name", as test runners number failures.
func numbered(t string) bool {
	i := 0
	for i < len(t) && i < 4 && class[t[i]] == digit {
		i++
	}
	return i > 0 && strings.HasPrefix(t[i:], ") ")
}

// maxEntry bounds an entry's lines.
const maxEntry = 60

// continues says whether line i belongs to the entry of the lines above it.
func (e *entry) continues(d *document, i int, line string) bool {
	e.lines++
	if e.done || e.lines > maxEntry && e.kind != framed {
		return false
	}
	switch e.kind {
	case goRun:
		if strings.HasPrefix(line, "=== ") {
			return false
		}
		e.done = strings.HasPrefix(strings.TrimSpace(line), "--- ")
		return true
	case panicEntry:
		return d.blank(i) || d.indent[i] > 0 || strings.HasPrefix(line, "goroutine ") || strings.HasPrefix(line, "created by") ||
			strings.HasPrefix(line, "[signal") || strings.HasPrefix(line, "panic:") || strings.HasSuffix(line, ")")
	case traceback:
		if d.blank(i) {
			return false
		}
		e.done = d.indent[i] <= e.indent && !strings.HasPrefix(d.next(i), " ")
		return true
	case framed:
		return !strings.HasPrefix(line, "=====") && !(strings.HasPrefix(line, "_____") && titledRule(line)) && !strings.HasPrefix(line, "Ran ")
	case paragraph:
		return !d.blank(i)
	case numberedEntry:
		return !numbered(strings.TrimSpace(line)) && !strings.HasPrefix(line, "Finished in ")
	case bulletEntry:
		return d.blank(i) || d.indent[i] > e.indent
	case blankEntry:
		return d.blank(i)
	}
	return !d.blank(i) && d.indent[i] > e.indent || e.frame(line) || continuation(line)
}

// continuation is true of the excerpts and frames tools print flush left.
func continuation(line string) bool {
	return strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "Caused by:") || strings.HasPrefix(line, "Stack trace:")
}

// frame is true of the entry's next numbered frame, as PHP and gdb print them.
func (e *entry) frame(line string) bool {
	if line == "" || line[0] != '#' {
		return false
	}
	number, _, _ := strings.Cut(line[1:], " ")
	if number != strconv.Itoa(e.frames) {
		return false
	}
	e.frames++
	return true
}

// template is a hash of a line with numbers and alignment masked: lines a program
// printed with the same statement share it.
func template(line string) uint64 {
	const prefix = 300
	line = line[:min(len(line), prefix)]
	h := uint64(0)
	for i := 0; i < len(line); {
		word, seen := uint64(0), byte(0)
		for ; i < len(line) && wordClass(class[line[i]]); i++ {
			seen |= 1 << class[line[i]]
			word = bits.RotateLeft64(word, 7) ^ uint64(line[i])
		}
		if seen&(1<<digit) != 0 {
			word = '0'
		}
		h = mix(h, word)
		gap := uint64(0)
		for ; i < len(line) && !wordClass(class[line[i]]); i++ {
			if line[i] != ' ' {
				gap = bits.RotateLeft64(gap, 7) ^ uint64(line[i])
			}
		}
		h = mix(h, gap)
	}
	return h
}

// mix adds x to a hash h, as FNV does with bytes.
func mix(h, x uint64) uint64 {
	const prime = 1099511628211
	h = (h ^ x) * prime
	return h ^ h>>32
}

// trouble adds what only a log has: rarity of a line's template, and signs of
// trouble on the line and in its entry.
func (r *relevance) trouble(d *document, q *question, o outline) {
	rare := templateRarity(d)
	r.readSignals(d, q, o, rare)
	r.verdicts(d, o)
	r.troubled = highest(r.entry) > warningSignal
	share := 1.0
	if !q.failure && !q.warning {
		share = tune.calm
	}
	if q.failure && !r.troubled {
		r.success(d)
	}
	for i, u := range o.of {
		s := float64(share * (float64(tune.trouble*lessWhereCommon(r.signal[i], rare[i])) + float64(tune.troubleEntry*r.entry[u])))
		if d.blank(i) {
			s /= 2
		}
		r.score[i] += s
		switch {
		case i == o.units[u].start:
		case wordless(d.lines[i]):
			r.score[i] = min(r.score[i], r.score[i-1])
		case d.indent[i] > 0 && pointsAt(d.lines[i]):
			r.score[i] = max(r.score[i], r.score[i-1])
		}
	}
}

// wordless is true of the lines that point into the one above them with carets and
// rules: without it they say nothing.
func wordless(line string) bool {
	for i := 0; i < len(line); i++ {
		if letter(line[i]) || class[line[i]] == high {
			return false
		}
	}
	return true
}

// pointsAt is true of the line that says where the message above it belongs, as rustc
// prints it.
func pointsAt(line string) bool { return strings.HasPrefix(line[firstVisible(line):], "--> ") }

// readSignals finds the signs of trouble, and adds rarity to the score.
func (r *relevance) readSignals(d *document, q *question, o outline, rare []float64) {
	r.signal, r.entry, r.alarmed = make([]float64, len(d.lines)), make([]float64, len(o.units)), make([]bool, len(o.units))
	told := isHistory(d)
	for i, text := range d.lines {
		if d.blank(i) {
			continue
		}
		if told {
			r.score[i] += float64(tune.rare * rare[i])
			continue
		}
		s := signal(text)
		if s == warningSignal && q.warning && !q.failure {
			s = 1
		}
		u := o.of[i]
		r.signal[i] = s
		r.entry[u] = max(r.entry[u], lessWhereCommon(s, rare[i]))
		r.alarmed[u] = r.alarmed[u] || s >= alarmSignal
		r.passed = r.passed || q.failure && successLine(text)
		r.score[i] += float64(tune.rare * rare[i])
	}
}

// isHistory is true of what git log prints: commits from the first line on. They
// tell of failures, and none of them happened here.
func isHistory(d *document) bool {
	commits, lines := 0, 0
	for i, line := range d.lines {
		if d.blank(i) {
			continue
		}
		name, long := strings.CutPrefix(line, "commit ")
		switch hash, _, _ := strings.Cut(name, " "); {
		case isHash(hash) && long:
			return i+1 < len(d.lines) && (strings.HasPrefix(d.lines[i+1], "Author: ") || strings.HasPrefix(d.lines[i+1], "Merge: "))
		case isHash(hash):
			commits++
		case lines == 0:
			return false
		}
		lines++
	}
	return commits > 2 && commits*10 >= lines*9
}

func isHash(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) >= 7 && len(s) <= 64
}

// lessWhereCommon halves a sign of trouble the log is full of.
func lessWhereCommon(signal, rare float64) float64 { return signal * (0.5 + float64(0.5*rare)) }

// verdicts carries what go test says of a test at the end to the lines it printed
// while it ran: a passed test's talk of errors is no trouble.
func (r *relevance) verdicts(d *document, o outline) {
	runs := map[string]int32{}
	for i, line := range d.lines {
		if line == "" || line[0] != '=' && line[0] != '-' && line[0] != ' ' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "=== RUN   "); ok {
			runs[strings.TrimSpace(name)] = o.of[i]
			continue
		}
		verdict, rest, ok := strings.Cut(strings.TrimLeft(line, " "), ": ")
		if !ok || !strings.HasPrefix(verdict, "--- ") {
			continue
		}
		name, _, _ := strings.Cut(rest, " (")
		u, known := runs[name]
		if !known {
			continue
		}
		if verdict == "--- FAIL" {
			r.entry[u], r.alarmed[u] = 1, true
		} else {
			r.acquit(d, o, u)
		}
	}
}

// acquit takes the signs of trouble off an entry, but for the verdicts on others
// that follow the last test's output.
func (r *relevance) acquit(d *document, o outline, u int32) {
	r.entry[u], r.alarmed[u] = 0, false
	for i := o.units[u].start; i < o.units[u].end; i++ {
		if strings.HasPrefix(d.lines[i], "--- FAIL") {
			r.score[i] += tune.troubleEntry
			continue
		}
		r.signal[i] = 0
		r.score[i] *= passedShare
	}
}

// passedShare is what the output of a passed test keeps of its score.
const passedShare = 0.3

// success lifts the lines that say that all went well, where something else was
// feared.
func (r *relevance) success(d *document) {
	for i, line := range d.lines {
		if successLine(line) {
			r.score[i] += tune.troubleEntry
		}
	}
}

// templateRarity is how few lines a line's statement printed: 1 for one of its own
// in a long log, 0 for one that fills it.
func templateRarity(d *document) []float64 {
	slots, counts := countTemplates(d)
	span := max(log2(float64(len(d.lines))), 1)
	rare := make([]float64, len(d.lines))
	for i, s := range slots {
		rare[i] = 1 - log2(float64(counts[s]))/span
	}
	return rare
}

// countTemplates gives every line the slot of its template, and every slot its
// number of lines. The table is open-addressed: a map costs more than the hashing.
func countTemplates(d *document) (slots, counts []int32) { return d.count(template) }

// count gives every line the slot of its hash, and every slot its number of lines.
func (d *document) count(hash func(line string) uint64) (slots, counts []int32) {
	size := 1 << bits.Len(uint(2*len(d.lines)+1))
	hashes, counts := make([]uint64, size), make([]int32, size)
	slots = make([]int32, len(d.lines))
	for i, line := range d.lines {
		h := hash(line) | 1 // 0 marks a free slot
		at := h >> 1 & uint64(size-1)
		for hashes[at] != 0 && hashes[at] != h {
			at = (at + 1) & uint64(size-1)
		}
		hashes[at] = h
		counts[at]++
		slots[i] = int32(at)
	}
	return slots, counts
}
