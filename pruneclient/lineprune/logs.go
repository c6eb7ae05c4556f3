package lineprune

import "strings"

// signals are the words that mark a line of a log as trouble, with their weight.
var signals = []struct {
	word   string
	weight float64
}{
	{"panic:", 1}, {"traceback", 1}, {"fatal", 1}, {"--- fail", 1}, {"critical", 1}, {"exception", 1}, {"segfault", 1}, {"not ok", 1},
	{"out of memory", 1}, {"segmentation fault", 1}, {"fail:", 1}, {"assertion", 1}, {"error", 0.9}, {"failed", 0.8}, {"undefined", 0.6},
	{"refused", 0.7}, {"denied", 0.7}, {"no such", 0.7}, {"not found", 0.7}, {"cannot", 0.6}, {"failing", 0.7}, {"failure", 0.7},
	{"expected", 0.6}, {"killed", 0.7}, {"aborted", 0.7}, {"conflict", 0.6}, {"unresolved", 0.6}, {"rejected", 0.7}, {"timed out", 0.7},
	{"invalid", 0.5}, {"mismatch", 0.6}, {"warning", warningSignal}, {"want", 0.3}, {"actual", 0.3},
}

const warningSignal = 0.4

// signal says how much a line of a log looks like trouble, 0..1.
func signal(line string) float64 {
	if len(line) > 400 {
		line = line[:400]
	}
	line = strings.ToLower(line)
	best := 0.0
	for _, s := range signals {
		if s.weight > best && strings.Contains(line, s.word) {
			best = s.weight
		}
	}
	if best < 0.95 && diagnostic(line) {
		best = 0.95
	}
	if best > 0.5 && verdict(line) {
		best = 0.5
	}
	if best > 0 && (strings.Contains(line, " 0 fail") || strings.Contains(line, "0 error") || strings.HasPrefix(line, "ok ") ||
		strings.HasSuffix(line, "... ok") || strings.Contains(line, "--- pass")) {
		return 0
	}
	return best
}

// diagnostic is true of a compiler's message: path:line: or path(line, at the
// start of the line.
func diagnostic(line string) bool {
	i := 0
	for i < len(line) && i < 200 && (wordClass(class[line[i]]) || strings.IndexByte("./-+@\\", line[i]) >= 0) {
		i++
	}
	if i < 3 || i+2 >= len(line) || line[i] != ':' && line[i] != '(' || class[line[i+1]] != digit {
		return false
	}
	dot := strings.LastIndexByte(line[:i], '.')
	return dot > 0 && dot < i-1 && class[line[dot+1]] == lower
}

// verdict is true of lines that say that something failed and not what.
func verdict(line string) bool {
	for _, v := range []string{"fail\t", "failed (", "make: ***", "make[", "error: could not compile", "warning: build failed", "error: aborting due"} {
		if strings.HasPrefix(line, v) {
			return true
		}
	}
	return false
}

// logsOutline makes a unit of every entry with what continues it: a traceback with
// its frames and message, a test's run with its output and verdict, a compiler's
// message with its excerpt.
func logsOutline(d *document) outline {
	o := outline{of: make([]int32, len(d.lines))}
	var state entry
	for i, line := range d.lines {
		if i == 0 || !state.continues(d, i, line) {
			if n := len(o.units); n > 0 {
				o.units[n-1].end = i
			}
			o.units = append(o.units, unit{i, len(d.lines), i, -1})
			state = entry{kind: entryKind(line), indent: d.indent[i]}
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
	framed               // between two rules of ====
	paragraph            // ends at a blank line
	numberedEntry        // "  1) name", ends at the next one
	blankEntry           // a blank line between entries
)

// entry is the log entry the lines are in.
type entry struct {
	kind   int
	indent int16
	done   bool // the next line opens another entry
	lines  int
}

func entryKind(line string) int {
	t := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(line, "=== RUN"), strings.HasPrefix(line, "=== CONT"), strings.HasPrefix(line, "=== NAME"):
		return goRun
	case strings.HasPrefix(line, "panic:"), strings.HasPrefix(line, "fatal error:"), strings.HasPrefix(line, "goroutine "):
		return panicEntry
	case strings.HasPrefix(t, "Traceback (most recent call last)"):
		return traceback
	case len(line) >= 20 && strings.HasPrefix(line, "====="):
		return framed
	case numbered(t):
		return numberedEntry
	case t == "":
		return blankEntry
	case strings.HasPrefix(line, "error[") || strings.HasPrefix(line, "error:") || strings.HasPrefix(line, "warning:"):
		return paragraph
	}
	return plainEntry
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
		return !strings.HasPrefix(line, "=====") && !strings.HasPrefix(line, "Ran ")
	case paragraph:
		return !d.blank(i)
	case numberedEntry:
		return !numbered(strings.TrimSpace(line))
	case blankEntry:
		return d.blank(i)
	}
	return !d.blank(i) && d.indent[i] > e.indent || continuation(d, i, line)
}

// continuation is true of the excerpts and frames tools print flush left.
func continuation(d *document, i int, line string) bool {
	return strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "Caused by:")
}

// template is a hash of a line with digits, hex and quoted text masked: lines a
// program printed with the same statement share it.
func template(line string) uint64 {
	h := uint64(14695981039346656037)
	mix := func(c byte) { h = (h ^ uint64(c)) * 1099511628211 }
	for i, words := 0, 0; i < len(line) && i < 300 && words < 40; {
		c := class[line[i]]
		if !wordClass(c) {
			mix(line[i])
			i++
			continue
		}
		start, digits := i, false
		for ; i < len(line) && wordClass(class[line[i]]); i++ {
			digits = digits || class[line[i]] == digit
		}
		words++
		if digits {
			mix('0')
			continue
		}
		for _, b := range []byte(line[start:i]) {
			mix(b)
		}
	}
	return h
}

// trouble adds what only a log has: rarity of a line's template, and signs of
// trouble on the line and in its entry.
func (r *relevance) trouble(d *document, q *question, o outline) {
	r.signal, r.entry = make([]float64, len(d.lines)), make([]float64, len(o.units))
	rare := templateRarity(d)
	for i, text := range d.lines {
		if d.blank(i) {
			continue
		}
		r.passed = r.passed || successLine(text)
		s := signal(text)
		if s == warningSignal && q.warning && !q.failure {
			s = 1
		}
		r.signal[i] = s
		s *= 0.5 + 0.5*rare[i]
		r.entry[o.of[i]] = max(r.entry[o.of[i]], s)
		r.troubled = r.troubled || s > warningSignal
		r.score[i] += tune.rare * rare[i]
	}
	share := 1.0
	if !q.failure && !q.warning {
		share = tune.calm
	}
	for i, u := range o.of {
		s := share * (tune.trouble*r.signal[i]*(0.5+0.5*rare[i]) + tune.troubleEntry*r.entry[u])
		if d.blank(i) {
			s /= 2
		}
		r.score[i] += s
	}
}

// successLine is true of the verdict of a run where nothing failed.
func successLine(line string) bool {
	return line == "PASS" || line == "OK" || strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "test result: ok") ||
		strings.HasPrefix(line, "# fail 0") || strings.Contains(line, " passed") || strings.Contains(line, " passing") ||
		strings.Contains(line, "0 vulnerabilities") || strings.HasPrefix(line, "Ran ") || strings.Contains(line, "BUILD SUCCESS")
}

// templateRarity is how few lines a line's statement printed: 1 for one of its own
// in a long log, 0 for one that fills it.
func templateRarity(d *document) []float64 {
	hash := make([]uint64, len(d.lines))
	count := make(map[uint64]int32)
	for i, line := range d.lines {
		hash[i] = template(line)
		count[hash[i]]++
	}
	span := max(log2(float64(len(d.lines))), 1)
	rare := make([]float64, len(d.lines))
	for i, h := range hash {
		rare[i] = 1 - log2(float64(count[h]))/span
	}
	return rare
}
