package lineprune

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// The subject of a question about a failure must occur near a failure. The names of passed tests are no
// evidence.
func TestAFailureIsOfWhatStandsBesideIt(t *testing.T) {
	run := func(first, last, failed string) string {
		var b strings.Builder
		for i := range 200 {
			name := "Alpha"
			switch i {
			case 50:
				name = first
			case 150:
				name = last
			}
			b.WriteString("=== RUN   Test" + name + "\n--- PASS: Test" + name + " (0.00s)\n")
		}
		return b.String() + "=== RUN   TestOmega\n    omega_test.go:7: " + failed + "\n--- FAIL: TestOmega (0.00s)\nFAIL\nexit status 1\n"
	}
	const question = "Why did the handler fail with a lease of the tenant?"
	for name, c := range map[string]struct {
		log   string
		whole bool
	}{
		"where it failed": {run("Alpha", "Alpha", "the handler lost its lease"), false},
		"in its output":   {run("Alpha", "Alpha", "the handler lost its lease"+strings.Repeat("\n    omega_test.go:9: waiting", 9)), false},
		"where it passed": {run("Handler", "Lease", "the socket was closed"), true},
		"nowhere":         {run("Alpha", "Alpha", "the socket was closed"), true},
	} {
		require.Equal(t, c.whole, prune(t, c.log, question, Logs, Options{}).Whole(), name)
	}
}

// A build log without tests does not answer a question about failing tests.
func TestALogWithoutTestsHasNoFailingOnes(t *testing.T) {
	steps := strings.Repeat("gcc -O2 -c -o alpha.o alpha.c\n", 200)
	for name, c := range map[string]struct {
		end   string
		whole bool
	}{
		"a compiler's error":       {"alpha.c:7:3: error: 'beta' undeclared\nmake: *** [Makefile:9: alpha.o] Error 1\n", true},
		"a test's name":            {"FAIL: test_alpha\nmake: *** [Makefile:9: check] Error 1\n", false},
		"words of a test runner's": {"1) parses json: AssertionError: 3 != 4\nmake: *** [Makefile:9: check] Error 1\n", false},
		"a plan's verdict":         {"not ok 7 - parses json\nmake: *** [Makefile:9: check] Error 1\n", false},
	} {
		for _, question := range []string{"test failures", "What assertion failed, and with which values?", "Show me the failing tests and their error messages"} {
			require.Equal(t, c.whole, prune(t, steps+c.end, question, Logs, Options{}).Whole(), "%s: %s", name, question)
		}
		require.False(t, prune(t, steps+c.end, "Why does the build fail?", Logs, Options{}).Whole(), name)
	}
}

// The command that was run is named once, before all of its output, and counts as near the failure.
func TestAFailureIsOfWhatWasRun(t *testing.T) {
	const question = "Why did the lint of the website for the tenant fail?"
	passed := strings.Repeat("alpha.ts is as it should be\n", 2000)
	whole := func(lines ...string) bool {
		return prune(t, strings.Join(lines, "\n"+passed)+"\n"+passed+"omega.ts: error: 'beta' is never used\n1 problem\n", question, Logs, Options{}).Whole()
	}
	for _, mark := range []string{"> ", "$ ", "+ ", "Run ", "##[group]Run ", "#9 [4/6] RUN ", "[INFO] --- "} {
		require.False(t, whole("", mark+"website", mark+"lint"), mark)
	}
	require.False(t, whole("website\nis\nlint"), "in the first lines")
	require.True(t, whole("", "website\nis\nlint"))
	require.True(t, whole("", "website", "lint"))
}

// A compiler error or a failed test does not answer the question why a program died.
func TestALogOfTestsHoldsNoDeath(t *testing.T) {
	const compile, test = "alpha.c:7:3: error: 'beta' undeclared\nmake: *** [Makefile:9: alpha.o] Error 1\n", "FAIL: test_alpha: 3 != 4\n"
	steps := strings.Repeat("gcc -O2 -c -o alpha.o alpha.c\n", 200)
	for name, c := range map[string]struct {
		end   string
		whole bool
	}{
		"a compiler's error":        {compile, true},
		"a failed test":             {test, true},
		"go test":                   {"=== RUN   TestAlpha\n    a_test.go:7: it failed\n--- FAIL: TestAlpha (0.00s)\nFAIL\n", true},
		"node":                      {"not ok 7 - parses json\n  code: 'ERR_ASSERTION'\n", true},
		"mocha":                     {"  1 failing\n\n  1) parses json:\n     AssertionError: 3 != 4\n", true},
		"a test that panicked":      {test + "panic: index out of range\n", false},
		"a test that was killed":    {test + "error: signal 9\n", false},
		"a kill in capitals":        {"FAIL: test_alpha: KILLED\n", false},
		"a crash behind it":         {test + "the worker crashed\n", false},
		"an exit at the end":        {test + "web-1 exited with code 137\n", false},
		"an exit long before it":    {"web-1 exited with code 137\n" + steps + test, true},
		"an exit 15 lines before":   {"web-1 exited with code 137\n" + strings.Repeat("gcc -c beta.c\n", 15) + test, false},
		"an exit 25 lines before":   {"web-1 exited with code 137\n" + strings.Repeat("gcc -c beta.c\n", 25) + test, true},
		"other trouble behind it":   {compile + "ERROR listen tcp :80: address already in use\n", false},
		"other trouble only":        {"ERROR listen tcp :80: address already in use\n", false},
		"the latest of other kinds": {"ERROR export of latest ledger failed: 3 != 4\n", false},
	} {
		for _, question := range []string{"Why did the process die?", "What crashed?", "Why did the server abort?"} {
			require.Equal(t, c.whole, prune(t, steps+c.end, question, Logs, Options{}).Whole(), "%s: %s", name, question)
		}
		for _, question := range []string{"What went wrong?", "Why does the build abort?", "why did the job crash"} {
			require.False(t, prune(t, steps+c.end, question, Logs, Options{}).Whole(), "%s: %s", name, question)
		}
	}
}

// A term of the question counts even without a sign of trouble beside it.
func TestADeathIsToldInTheWordsOfTheQuestion(t *testing.T) {
	steps := strings.Repeat("gcc -O2 -c -o alpha.o alpha.c\n", 200)
	log := steps + "FAIL: test_alpha\n"
	require.True(t, prune(t, log, "Why did the process die?", Logs, Options{}).Whole())
	require.False(t, prune(t, log+"and with that it died\n"+steps, "Why did the process die?", Logs, Options{}).Whole())
}

// In a log of success, the report of success answers every question about a failure.
func TestNoFailureOfAnyKindInALogOfSuccess(t *testing.T) {
	log := strings.Repeat("alpha.c:7:3: warning: beta is never used\ngcc -O2 -c -o alpha.o alpha.c\n", 200) + "BUILD SUCCESS\n"
	for _, question := range []string{"Why did the process die?", "What assertion failed?"} {
		require.False(t, prune(t, log, question, Logs, Options{}).Whole(), question)
	}
}

// When a log does not contain the failure asked about, matching terms count half as much as for other
// questions.
func TestWordsOfAFailureThatIsNotThereSayLess(t *testing.T) {
	log := strings.Repeat("alpha beta gamma\n", 300) + "the tenant has a lease\n" + strings.Repeat("alpha beta gamma\n", 300)
	asked := confidenceIn(t, log, "Does the tenant have a lease?")
	feared := confidenceIn(t, log, "Why does the tenant have a lease?")
	require.InDelta(t, asked/(1-asked)/doc.ElsewhereFactor, feared/(1-feared), 1e-9)
}

// A linter puts a mark before each finding, as test runners do before failing tests. Its findings are not all kept.
func TestFindingsOfALinterAreNoFailingTests(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "src/module%d.ts:%d:2 lint/suspicious/useAwait ━━━━━━━━━━━━\n\n  × This async function %d lacks an await expression.\n\n", i, i+7, i)
		for n := range 6 {
			fmt.Fprintf(&b, "  > %d │ \tasync load%d(id: string) { failed(%d) }\n", i+n, i, n)
		}
		b.WriteString("\n  i Remove this async modifier, or add an await expression in the function.\n\n")
	}
	findings := b.String() + "Checked 312 files in 208ms. No fixes applied.\nFound 40 errors.\n"

	result := prune(t, findings, "errors of useAwait", Logs, Options{})

	require.Less(t, len(result.Kept), result.Total/2)
	tests := findings + "Tests  40 failed | 12 passed (52)\n"
	require.Greater(t, len(prune(t, tests, "errors of useAwait", Logs, Options{}).Kept), len(result.Kept))
}
