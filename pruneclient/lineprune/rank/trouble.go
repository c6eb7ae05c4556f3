package rank

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// trouble adds the scores specific to logs: the rarity of a line's template, and signs of trouble on the
// line and in its entry.
func (r *Relevance) trouble(d *doc.Document, q *Question, o structure.Outline) {
	rare := templateRarity(d)
	r.readSignals(d, q, o, rare)
	r.verdicts(d, o)
	r.failing(d, o)
	r.troubled = highest(r.entry) > doc.WarningSignal
	if q.Failure && r.troubled && !q.Warning {
		r.lowerWarnings(d, o)
	}
	share := 1.0
	if !q.Failure && !q.Warning {
		share = doc.Ranking.Calm
	}
	if q.Failure && !r.troubled {
		r.success(d)
	}
	for i, u := range o.Of {
		s := float64(share * (float64(doc.Ranking.Trouble*lessWhereCommon(r.Signal[i], rare[i])) + float64(doc.Ranking.TroubleEntry*r.entry[u])))
		if d.Blank(i) {
			s /= 2
		}
		r.Score[i] += s
		switch {
		case i == o.Units[u].Start:
		case structure.Wordless(d.Lines[i]):
			r.Score[i] = min(r.Score[i], r.Score[i-1])
		case d.Indent[i] > 0 && structure.PointsAt(d.Lines[i]):
			r.Score[i] = max(r.Score[i], r.Score[i-1])
		}
	}
}

// readSignals detects the signs of trouble and adds rarity to the score.
func (r *Relevance) readSignals(d *doc.Document, q *Question, o structure.Outline, rare []float64) {
	r.Signal, r.entry, r.Alarmed = make([]float64, len(d.Lines)), make([]float64, len(o.Units)), make([]bool, len(o.Units))
	told := structure.IsHistory(d)
	for i, text := range d.Lines {
		if d.Blank(i) {
			continue
		}
		if told {
			r.Score[i] += float64(doc.Ranking.Rare * rare[i])
			continue
		}
		s, u := structure.Signal(text), o.Of[i]
		if structure.Warns(d.Lines[o.Units[u].Start]) { // what it quotes of a program is no failure
			s = min(s, doc.WarningSignal)
		}
		if s == doc.WarningSignal && q.Warning && !q.Failure {
			s = 1
		}
		r.Signal[i] = s
		r.entry[u] = max(r.entry[u], lessWhereCommon(s, rare[i]))
		r.Alarmed[u] = r.Alarmed[u] || s >= doc.AlarmSignal
		r.passed = r.passed || q.Failure && structure.SuccessLine(text)
		r.Score[i] += float64(doc.Ranking.Rare * rare[i])
	}
}

// failing finds the failing tests' entries, which are trouble whatever words they have.
func (r *Relevance) failing(d *doc.Document, o structure.Outline) {
	counted := slices.ContainsFunc(d.Lines, structure.CountsFailing)
	for u, unit := range o.Units {
		if !counted && structure.Marked(d.Lines[unit.Start]) {
			continue
		}
		if end, ok := structure.Failing(d, unit); ok {
			r.Failing = append(r.Failing, [2]int{unit.Start, end})
			r.entry[u], r.Alarmed[u] = 1, true
		}
	}
}

// lowerWarnings lowers the score of what compilers warn of, where something else failed.
func (r *Relevance) lowerWarnings(d *doc.Document, o structure.Outline) {
	for u, unit := range o.Units {
		if !structure.Warns(d.Lines[unit.Start]) {
			continue
		}
		r.entry[u] = 0
		for i := unit.Start; i < unit.End; i++ {
			r.Signal[i] = 0
			r.Score[i] *= doc.PassedShare
		}
	}
}

// lessWhereCommon reduces a signal by up to half where its template is common in the log. rare is 0..1.
func lessWhereCommon(signal, rare float64) float64 { return signal * (0.5 + float64(0.5*rare)) }

// verdicts applies the verdict that go test prints at a test's end to the lines the test printed: an error
// message in the output of a passed test is not a sign of trouble.
func (r *Relevance) verdicts(d *doc.Document, o structure.Outline) {
	runs := testRuns{lines: d.Lines}
	for i, line := range d.Lines {
		if line == "" || line[0] != '=' && line[0] != '-' && line[0] != ' ' {
			continue
		}
		if strings.HasPrefix(line, testBegins) {
			runs.began = append(runs.began, int32(i))
			continue
		}
		line = strings.TrimLeft(line, " ")
		if !strings.HasPrefix(line, "--- ") {
			continue
		}
		verdict, rest, ok := strings.Cut(line, ": ")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(rest, " (")
		began, known := runs.of(name)
		if !known {
			continue
		}
		u := o.Of[began]
		if verdict == "--- FAIL" {
			r.entry[u], r.Alarmed[u] = 1, true
		} else {
			r.acquit(d, o, u)
		}
	}
}

// testRuns finds the line with which a test began. Nearly every verdict is on the test that began last, so that the names
// are indexed only after as many comparisons as there are lines: for a log of 1 MB the index took a tenth of all.
type testRuns struct {
	lines    []string
	began    []int32 // lines, in order, without those in indexed
	compared int
	indexed  map[string]int32
}

const testBegins = "=== RUN   "

func (r *testRuns) name(line int32) string {
	return strings.TrimSpace(strings.TrimPrefix(r.lines[line], testBegins))
}

// of returns the line with which the test of a name began last.
func (r *testRuns) of(name string) (line int32, known bool) {
	for _, line := range slices.Backward(r.began) {
		if r.name(line) == name {
			return line, true
		}
		if r.compared++; r.compared > len(r.lines) {
			r.index()
			break
		}
	}
	line, known = r.indexed[name]
	return line, known
}

func (r *testRuns) index() {
	if r.indexed == nil {
		r.indexed = make(map[string]int32, len(r.began))
	}
	for _, line := range r.began {
		r.indexed[r.name(line)] = line
	}
	r.began = r.began[:0]
}

// acquit clears the signals of an entry, except for the verdicts on other tests that follow the last test's
// output.
func (r *Relevance) acquit(d *doc.Document, o structure.Outline, u int32) {
	r.entry[u], r.Alarmed[u] = 0, false
	for i := o.Units[u].Start; i < o.Units[u].End; i++ {
		if strings.HasPrefix(d.Lines[i], "--- FAIL") {
			r.Score[i] += doc.Ranking.TroubleEntry
			continue
		}
		r.Signal[i] = 0
		r.Score[i] *= doc.PassedShare
	}
}

// success raises the score of lines that report success, for questions that ask about a failure.
func (r *Relevance) success(d *doc.Document) {
	for i, line := range d.Lines {
		if structure.SuccessLine(line) {
			r.Score[i] += doc.Ranking.TroubleEntry
		}
	}
}

// templateRarity returns per line how rare its template is: 1 for a unique one in a long log, 0 for one
// that all lines share.
func templateRarity(d *doc.Document) []float64 {
	templates, counts := structure.CountTemplates(d)
	span := max(log2(float64(len(d.Lines))), 1)
	rarity := make([]float64, len(counts))
	for t, n := range counts {
		rarity[t] = 1 - log2(float64(n))/span
	}
	rare := make([]float64, len(d.Lines))
	for i, t := range templates {
		rare[i] = rarity[t]
	}
	return rare
}
