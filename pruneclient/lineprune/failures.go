package lineprune

import (
	"slices"
	"strings"
)

// What went wrong stands in a log in other words than the question's. How sure the
// pruner is of it, when at least mentionShare of what else is asked for occurs; and
// how many times as much evidence it takes when the log does not hold it.
const (
	failureConfidence = 0.8
	mentionShare      = 0.6
	elsewhere         = 2
)

// holdsFailure says whether a log tells of the failure that is asked for.
func (p *pruning) holdsFailure() bool {
	return (p.relevance.troubled || p.relevance.passed) && p.mentioned() >= mentionShare
}

// compileStem is of what compilers print without saying that they compile.
var compileStem = stemOf("compile")

// mentioned is how much of what the question names occurs where something went
// wrong, anywhere in a log of what went well, and 1 when it asks for a failure and
// names nothing.
func (p *pruning) mentioned() float64 {
	best, counts := make([]float32, len(p.q.groups)), p.nearTrouble()
	for _, h := range p.d.hits {
		if counts == nil || counts[h.line] {
			best[h.group] = max(best[h.group], h.weight)
		}
	}
	for _, r := range p.q.stems[compileStem] {
		if best[r.group] < r.weight && slices.ContainsFunc(p.d.lines, fromCompiler) {
			best[r.group] = r.weight
		}
	}
	named, found := 0.0, 0.0
	for g, group := range p.q.groups {
		if group.weight >= 1 && group.bits > 0 && !failureTalk[stemOf(group.name)] {
			named += group.weight
			found += float64(group.weight * float64(best[g]))
		}
	}
	if p.lacksTests() || p.lacksDeath() {
		named++
	}
	if named == 0 {
		return 1
	}
	return found / named
}

// Stems of what is asked of tests, and of a program that ended before its time.
var (
	testStem, assertStem = stemOf("test"), stemOf("assert")
	deathStems           = []string{stemOf("die"), stemOf("died"), stemOf("crash"), stemOf("killed"), stemOf("abort"), stemOf("panic")}
)

// checkTalk are the stems of what is said to crash and abort by who means that it failed.
var checkTalk = stemSet(checkers + ` test spec compile compiler compilation lint`)

// What stands on lines about tests and assertions that went wrong, and about
// programs that ended before their time.
var (
	testTalk  = []string{"test", "Test", "FAIL", "ssert", "failing", "not ok", "spec"}
	deathTalk = []string{"panic", "atal", "FATAL", "illed", "KILLED", "signal", "SIG", "egmentation", "segfault", "SEGFAULT", "dumped",
		"Traceback", "xception", "bort", "ABORT", "rash", "CRASH", "memory", "OutOf", "verflow", "exited", "exit code", "died", "erminat",
		"ancel", "ANCEL", "imed out", "imeout", "TIMEOUT", "victed", "internal compiler error"}
)

// lacksTests is true of a log of some failure, but not of a test's or an assertion's,
// which is asked for.
func (p *pruning) lacksTests() bool {
	asked := p.q.tests || p.q.asks(assertStem)
	return asked && p.relevance.troubled && !p.has(testStem) && !p.isTold(testTalk, 0)
}

// lastWords is how many lines at the end of a log tell of a death without any sign of
// trouble: "exited with code 137".
const lastWords = 20

// lacksDeath is true of a log of nothing but tests' and compilers' failures, when it is
// asked what some program died of.
func (p *pruning) lacksDeath() bool {
	return p.q.fearsDeath() && p.relevance.troubled && !slices.ContainsFunc(deathStems, p.has) && !p.isTold(deathTalk, lastWords) &&
		p.onlyChecksFailed()
}

// fearsDeath says whether the question is what a program died of.
func (q *question) fearsDeath() bool {
	return slices.ContainsFunc(deathStems, q.asks) && !slices.ContainsFunc(q.groups, func(g group) bool { return checkTalk[stemOf(g.name)] })
}

// onlyChecksFailed says whether every entry that has an alarm is of a test or a compiler.
func (p *pruning) onlyChecksFailed() bool {
	for u, alarmed := range p.relevance.alarmed {
		unit := p.outline.units[u]
		if alarmed && !slices.ContainsFunc(p.d.lines[unit.start:unit.end], failedCheck) {
			return false
		}
	}
	return true
}

// failedCheck is true of what compilers and test runners say of a failure.
func failedCheck(line string) bool {
	if fromCompiler(line) || verdict(line) || strings.Contains(line, "ERR_ASSERTION") || strings.HasSuffix(line, " failing") {
		return true
	}
	line = strings.TrimLeft(line, " \t")
	return numbered(line) || slices.ContainsFunc(failedCheckMarks, func(mark string) bool { return strings.HasPrefix(line, mark) })
}

var failedCheckMarks = []string{"FAIL", "--- FAIL", "=== RUN", "not ok ", "make: ", "E   ", "AssertionError", "✗ ", "✕ ", "● "}

// asks says whether the question has a word with the stem.
func (q *question) asks(stem string) bool { return len(q.stems[stem]) > 0 }

// has says whether the text has a word that the question asks for by the stem.
func (p *pruning) has(stem string) bool {
	return slices.ContainsFunc(p.q.stems[stem], func(r ref) bool {
		return slices.ContainsFunc(p.d.hits, func(h hit) bool { return h.group == r.group })
	})
}

// isTold says whether a line with a sign of trouble, or one of the last, has one of
// the words.
func (p *pruning) isTold(words []string, last int) bool {
	for i, signal := range p.relevance.signal {
		if (signal > 0 || i+last >= len(p.d.lines)) && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(p.d.lines[i], w) }) {
			return true
		}
	}
	return false
}

// troubleReach is how many lines from an alarm something is still told of it.
const troubleReach = 3

// headLines is how many lines of a log say what it is of.
const headLines = 3

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
func (p *pruning) nearTrouble() []bool {
	r := &p.relevance
	if !r.troubled {
		return nil
	}
	near := make([]bool, len(p.d.lines))
	for i, signal := range r.signal {
		near[i] = near[i] || i < headLines || r.alarmed[p.outline.of[i]] || tellsRun(p.d.lines[i])
		if signal < alarmSignal {
			continue
		}
		for j := max(0, i-troubleReach); j <= min(len(near)-1, i+troubleReach); j++ {
			near[j] = true
		}
	}
	return near
}
