package rank

import (
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// compileStem is the stem of compile. Compilers' messages count as a hit for it, although they seldom
// contain the word.
var compileStem = doc.StemOf("compile")

// mentioned returns the fraction, 0..1, of the question's named subjects that occur near a failure, or
// anywhere if the log reports no failure. It is 1 when the question asks for a failure and names no
// subject.
func (t *Text) mentioned(r *Relevance) float64 {
	best, counts := make([]float32, len(t.Question.Groups)), t.nearTrouble(r)
	for _, h := range t.Matches.Hits {
		if counts == nil || counts[h.Line] {
			best[h.Group] = max(best[h.Group], h.Weight)
		}
	}
	for _, ref := range t.Question.Stems[compileStem] {
		if best[ref.Group] < ref.Weight && slices.ContainsFunc(t.Doc.Lines, structure.FromCompiler) {
			best[ref.Group] = ref.Weight
		}
	}
	named, found := 0.0, 0.0
	for g, group := range t.Question.Groups {
		if group.Weight >= 1 && group.Bits > 0 && !failureTalk()[doc.StemOf(group.Name)] {
			named += group.Weight
			found += float64(group.Weight * float64(best[g]))
		}
	}
	if t.lacksTests(r) || t.lacksDeath(r) {
		named++
	}
	if named == 0 {
		return 1
	}
	return found / named
}

// Stems of the words for tests, and for a program that ended prematurely.
var (
	testStem, assertStem = doc.StemOf("test"), doc.StemOf("assert")
	deathStems           = []string{doc.StemOf("die"), doc.StemOf("died"), doc.StemOf("crash"), doc.StemOf("killed"), doc.StemOf("abort"), doc.StemOf("panic")}
)

// checkTalk are the stems of words for builds, tests and checks, which are said to crash or abort when they
// merely failed.
var checkTalk = sync.OnceValue(func() map[string]bool {
	return doc.StemSet(slices.Concat(doc.ListWords("english", "checkers"), doc.ListWords("english", "check-talk")))
})

// Text found on lines about failed tests and assertions, and about programs that ended prematurely.
var (
	testTalk  = sync.OnceValue(func() []string { return doc.ListParts("logs", "test-talk") })
	deathTalk = sync.OnceValue(func() []string { return doc.ListParts("logs", "death-talk") })
)

// lacksTests reports whether the question asks for a failed test or assertion, but the log has only other
// failures.
func (t *Text) lacksTests(r *Relevance) bool {
	asked := t.Question.Tests || t.Question.Asks(assertStem)
	return asked && r.troubled && !t.has(testStem) && !t.isTold(r, testTalk(), 0)
}

// lacksDeath reports whether the question asks why a program died, but the log has only failures of tests
// and compilers.
func (t *Text) lacksDeath(r *Relevance) bool {
	return fearsDeath(t.Question) && r.troubled && !slices.ContainsFunc(deathStems, t.has) && !t.isTold(r, deathTalk(), doc.LastWords) &&
		t.onlyChecksFailed(r)
}

// fearsDeath reports whether the question asks why a program died.
func fearsDeath(q *Question) bool {
	return slices.ContainsFunc(deathStems, q.Asks) && !slices.ContainsFunc(q.Groups, func(g group) bool { return checkTalk()[doc.StemOf(g.Name)] })
}

// onlyChecksFailed reports whether every entry with an alarm comes from a test or a compiler.
func (t *Text) onlyChecksFailed(r *Relevance) bool {
	for u, alarmed := range r.Alarmed {
		unit := t.Outline.Units[u]
		if alarmed && !slices.ContainsFunc(t.Doc.Lines[unit.Start:unit.End], failedCheck) {
			return false
		}
	}
	return true
}

// failedCheck reports whether a line is a compiler's or test runner's report of a failure.
func failedCheck(line string) bool {
	if structure.FromCompiler(line) || structure.Verdict(line) || strings.Contains(line, "ERR_ASSERTION") || strings.HasSuffix(line, " failing") {
		return true
	}
	line = strings.TrimLeft(line, " \t")
	return structure.Numbered(line) || structure.FailingTest(line) || slices.ContainsFunc(failedCheckMarks, func(mark string) bool { return strings.HasPrefix(line, mark) })
}

var failedCheckMarks = []string{"FAIL", "=== RUN", "make: ", "E   ", "AssertionError", "● "}

// has reports whether the question contains the stem and the text a matching word.
func (t *Text) has(stem string) bool {
	return slices.ContainsFunc(t.Question.Stems[stem], func(r ref) bool {
		return slices.ContainsFunc(t.Matches.Hits, func(h Hit) bool { return h.Group == r.Group })
	})
}

// isTold reports whether one of the words occurs on a line with a sign of trouble, or on one of the last
// lines.
func (t *Text) isTold(r *Relevance, words []string, last int) bool {
	for i, signal := range r.Signal {
		if (signal > 0 || i+last >= len(t.Doc.Lines)) && hasPhrase(t.Doc.Lines[i], words) {
			return true
		}
	}
	return false
}

// tellsRun reports whether a line names the command or step whose output follows, as shells, build tools
// and CI services print it.
func tellsRun(line string) bool {
	if line == "" || strings.IndexByte("$+>R#[", line[0]) < 0 { // the first byte identifies most lines
		return false
	}
	return slices.ContainsFunc(runMarks, func(mark string) bool { return strings.HasPrefix(line, mark) }) ||
		line[0] == '#' && strings.Contains(line, "] RUN ")
}

var runMarks = []string{"$ ", "+ ", "> ", "Run ", "##[group]Run ", "[INFO] --- "}

// nearTrouble reports for every line whether it is in or near an entry with an alarm, or names the command
// that was run. It is nil if nothing went wrong.
func (t *Text) nearTrouble(r *Relevance) []bool {
	if !r.troubled {
		return nil
	}
	near := make([]bool, len(t.Doc.Lines))
	for i, signal := range r.Signal {
		near[i] = near[i] || i < doc.HeadLines || r.Alarmed[t.Outline.Of[i]] || tellsRun(t.Doc.Lines[i])
		if signal < doc.AlarmSignal {
			continue
		}
		for j := max(0, i-doc.TroubleReach); j <= min(len(near)-1, i+doc.TroubleReach); j++ {
			near[j] = true
		}
	}
	return near
}
