package rank

import (
	"slices"
	"strings"

	"mcp-pruner/pruneclient/lineprune/logs"
	"mcp-pruner/pruneclient/lineprune/query"
	"mcp-pruner/pruneclient/lineprune/tuning"
	"mcp-pruner/pruneclient/lineprune/words"
)

// holdsFailure says whether a log tells of the failure that is asked for.
func (t *Text) holdsFailure(r *Relevance) bool {
	return (r.troubled || r.passed) && t.mentioned(r) >= tuning.MentionShare
}

// compileStem is of what compilers print without saying that they compile.
var compileStem = words.StemOf("compile")

// mentioned is how much of what the question names occurs where something went
// wrong, anywhere in a log of what went well, and 1 when it asks for a failure and
// names nothing.
func (t *Text) mentioned(r *Relevance) float64 {
	best, counts := make([]float32, len(t.Question.Groups)), t.nearTrouble(r)
	for _, h := range t.Matches.Hits {
		if counts == nil || counts[h.Line] {
			best[h.Group] = max(best[h.Group], h.Weight)
		}
	}
	for _, ref := range t.Question.Stems[compileStem] {
		if best[ref.Group] < ref.Weight && slices.ContainsFunc(t.Doc.Lines, logs.FromCompiler) {
			best[ref.Group] = ref.Weight
		}
	}
	named, found := 0.0, 0.0
	for g, group := range t.Question.Groups {
		if group.Weight >= 1 && group.Bits > 0 && !query.FailureTalk[words.StemOf(group.Name)] {
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

// Stems of what is asked of tests, and of a program that ended before its time.
var (
	testStem, assertStem = words.StemOf("test"), words.StemOf("assert")
	deathStems           = []string{words.StemOf("die"), words.StemOf("died"), words.StemOf("crash"), words.StemOf("killed"), words.StemOf("abort"), words.StemOf("panic")}
)

// checkTalk are the stems of what is said to crash and abort when it is meant to have failed.
var checkTalk = words.StemSet(slices.Concat(tuning.Words("english", "checkers"), tuning.Words("english", "check-talk")))

// What stands on lines about tests and assertions that went wrong, and about
// programs that ended before their time.
var (
	testTalk  = tuning.Parts("logs", "test-talk")
	deathTalk = tuning.Parts("logs", "death-talk")
)

// lacksTests is true of a log of some failure, but not of a test's or an assertion's,
// which is asked for.
func (t *Text) lacksTests(r *Relevance) bool {
	asked := t.Question.Tests || t.Question.Asks(assertStem)
	return asked && r.troubled && !t.has(testStem) && !t.isTold(r, testTalk, 0)
}

// lacksDeath is true of a log of nothing but tests' and compilers' failures, when it is
// asked what some program died of.
func (t *Text) lacksDeath(r *Relevance) bool {
	return fearsDeath(t.Question) && r.troubled && !slices.ContainsFunc(deathStems, t.has) && !t.isTold(r, deathTalk, tuning.LastWords) &&
		t.onlyChecksFailed(r)
}

// fearsDeath says whether the question is what a program died of.
func fearsDeath(q *query.Question) bool {
	return slices.ContainsFunc(deathStems, q.Asks) && !slices.ContainsFunc(q.Groups, func(g query.Group) bool { return checkTalk[words.StemOf(g.Name)] })
}

// onlyChecksFailed says whether every entry that has an alarm is of a test or a compiler.
func (t *Text) onlyChecksFailed(r *Relevance) bool {
	for u, alarmed := range r.Alarmed {
		unit := t.Outline.Units[u]
		if alarmed && !slices.ContainsFunc(t.Doc.Lines[unit.Start:unit.End], FailedCheck) {
			return false
		}
	}
	return true
}

// FailedCheck is true of what compilers and test runners say of a failure.
func FailedCheck(line string) bool {
	if logs.FromCompiler(line) || logs.Verdict(line) || strings.Contains(line, "ERR_ASSERTION") || strings.HasSuffix(line, " failing") {
		return true
	}
	line = strings.TrimLeft(line, " \t")
	return logs.Numbered(line) || slices.ContainsFunc(failedCheckMarks, func(mark string) bool { return strings.HasPrefix(line, mark) })
}

var failedCheckMarks = []string{"FAIL", "--- FAIL", "=== RUN", "not ok ", "make: ", "E   ", "AssertionError", "✗ ", "✕ ", "● "}

// has says whether the text has a word that the question asks for by the stem.
func (t *Text) has(stem string) bool {
	return slices.ContainsFunc(t.Question.Stems[stem], func(r query.Ref) bool {
		return slices.ContainsFunc(t.Matches.Hits, func(h query.Hit) bool { return h.Group == r.Group })
	})
}

// isTold says whether a line with a sign of trouble, or one of the last, has one of
// the words.
func (t *Text) isTold(r *Relevance, words []string, last int) bool {
	for i, signal := range r.Signal {
		if (signal > 0 || i+last >= len(t.Doc.Lines)) && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(t.Doc.Lines[i], w) }) {
			return true
		}
	}
	return false
}

// tellsRun is true of a line that shells, builds and CI put in front of what a
// command or a step prints: the command or the step.
func tellsRun(line string) bool {
	if line == "" || strings.IndexByte("$+>R#[", line[0]) < 0 { // most lines are told by their first byte
		return false
	}
	return slices.ContainsFunc(runMarks, func(mark string) bool { return strings.HasPrefix(line, mark) }) ||
		line[0] == '#' && strings.Contains(line, "] RUN ")
}

var runMarks = []string{"$ ", "+ ", "> ", "Run ", "##[group]Run ", "[INFO] --- "}

// nearTrouble says of every line whether it is in an entry that has an alarm, or not
// far from one, or says what was run. It is nil where nothing went wrong.
func (t *Text) nearTrouble(r *Relevance) []bool {
	if !r.troubled {
		return nil
	}
	near := make([]bool, len(t.Doc.Lines))
	for i, signal := range r.Signal {
		near[i] = near[i] || i < tuning.HeadLines || r.Alarmed[t.Outline.Of[i]] || tellsRun(t.Doc.Lines[i])
		if signal < tuning.AlarmSignal {
			continue
		}
		for j := max(0, i-tuning.TroubleReach); j <= min(len(near)-1, i+tuning.TroubleReach); j++ {
			near[j] = true
		}
	}
	return near
}
