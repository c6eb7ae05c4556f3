package structure

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// verdicts are the ways in which test runners name a test together with its outcome.
type verdicts struct {
	starts [256][]string // by their first byte
	timed  []string      // the same for a line that ends with a time
	ends   []string
}

func verdictsOf(section string, more ...string) func() *verdicts {
	return sync.OnceValue(func() *verdicts {
		v := &verdicts{timed: doc.ListParts("logs", section+"-timed"), ends: doc.ListParts("logs", section+"-ends")}
		for _, section := range append(more, section) {
			for _, start := range doc.ListParts("logs", section) {
				v.starts[start[0]] = append(v.starts[start[0]], start)
			}
		}
		return v
	})
}

var failing, passing = verdictsOf("failing", "failing-marks"), verdictsOf("passing")

// marks stand before the names of failing tests, and before the findings of linters.
var marks = sync.OnceValue(func() []string { return doc.ListParts("logs", "failing-marks") })

// Marked reports whether a line names a failing test by a mark alone, so that it is one only in a run of tests.
func Marked(line string) bool { return beginsWith(line[doc.FirstVisible(line):], marks()) }

// perhapsFailing are the beginnings of lines that name a failing test if its block follows.
var perhapsFailing = sync.OnceValue(func() []string { return doc.ListParts("logs", "failing-perhaps") })

// on reports whether a line has one of the verdicts. t is the line without its indentation.
func (v *verdicts) on(t string) bool {
	if beginsWith(t, v.starts[t[0]]) {
		return true
	}
	bare, timed := untimed(t)
	return timed && beginsWith(t, v.timed) ||
		slices.ContainsFunc(v.ends, func(end string) bool { return strings.HasSuffix(bare, end) })
}

// untimed cuts the time, percentage or number off a verdict's end: "(0.00s)", "[ 42%]", " - 1)", "0.01 sec".
func untimed(t string) (bare string, timed bool) {
	end := strings.TrimRight(t, " .\r")
	const longest = 24
	tail := end[max(0, len(end)-longest):]
	at := -1
	switch {
	case strings.HasSuffix(end, ")"):
		if at = strings.LastIndexByte(tail, '('); strings.HasPrefix(tail[max(at, 0):], "(FAILED -") {
			at += len("(FAILED -")
		}
	case strings.HasSuffix(end, "]"):
		at = strings.LastIndexByte(tail, '[')
	case strings.HasSuffix(end, " sec"):
		at = strings.LastIndexByte(strings.TrimRight(tail[:len(tail)-len(" sec")], "0123456789."), ' ')
	}
	if at < 0 || !strings.ContainsAny(tail[at:], "0123456789") {
		return end, false
	}
	return strings.TrimRight(end[:len(end)-len(tail)+at], " ."), true
}

const (
	noTitle = iota
	perhapsTitle
	sureTitle
)

// titleOf reports whether a line names a failing test.
func titleOf(line string) int {
	t := line[doc.FirstVisible(line):]
	switch {
	case t == "" || Verdict(line) || Warns(line):
		return noTitle
	case failing().on(t), titledRule(line) && line[0] == '_', strings.HasPrefix(t, "---- ") && strings.HasSuffix(t, " stdout ----"):
		return sureTitle
	case Numbered(t), beginsWith(t, perhapsFailing()):
		return perhapsTitle
	}
	return noTitle
}

// NamesFailing reports whether a line names a failing test, or may do so.
func NamesFailing(line string) bool { return titleOf(line) != noTitle }

// CountsFailing reports whether a line sums up a run that had failures. A quoted line of source does not.
func CountsFailing(line string) bool {
	return !excerpt(line) && len(line) <= doc.LongestVerdict && strings.Contains(strings.ToLower(line), "fail") && failures().MatchString(line)
}

// failures matches a number of failures: "2 failing", "1 tests failed", "Failures: 1", "failures=1", "# fail 1". In prose, as in
// "fails 3 times", the number counts something else.
var failures = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b[1-9]\d* +(?:(?:tests?|specs?|examples?|suites?) +)?fail|fail[a-z]*(?:: *|=)[1-9]|^\W*fail +[1-9]`)
})

// FailingTest reports whether a line says that a test failed, and names the test.
func FailingTest(line string) bool { return titleOf(line) == sureTitle }

// harmless reports whether a line names a test or says that one passed.
func harmless(line string) bool {
	at := doc.FirstVisible(line)
	return at == len(line) || passing().on(line[at:])
}

// Numbered reports whether t looks like "3) name", the form in which test runners number failures.
func Numbered(t string) bool {
	i := 0
	for i < len(t) && i < 4 && doc.ByteClass[t[i]] == doc.Digit {
		i++
	}
	return i > 0 && strings.HasPrefix(t[i:], ") ")
}

// titledRule reports whether a line looks like "===== FAILURES =====" or "_____ test_total _____".
func titledRule(text string) bool {
	text = strings.TrimRight(text, " \r")
	for _, rule := range []string{"=====", "_____"} {
		if strings.HasPrefix(text, rule) && strings.HasSuffix(text, rule[:3]) {
			return strings.ContainsFunc(text, unicode.IsLetter)
		}
	}
	return false
}

// Verdict reports whether a line says that something failed without saying what.
func Verdict(line string) bool {
	return beginsWith(line, []string{"FAIL\t", "FAILED (", "make: ***", "make[", "error: could not compile", "warning: build failed", "error: aborting due"})
}
