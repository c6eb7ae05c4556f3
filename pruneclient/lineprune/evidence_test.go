package lineprune

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// program is 60 functions about nothing, with some lines put into the middle.
func program(lines ...string) string {
	var b strings.Builder
	for i := range 60 {
		if i == 30 {
			b.WriteString(strings.Join(lines, "\n") + "\n")
		}
		b.WriteString("func alpha() {\n\tbeta(gamma, delta)\n}\n\n")
	}
	return b.String()
}

func confidenceIn(t *testing.T, text, question string) float64 {
	t.Helper()
	_, res := keptText(t, text, question, Options{})
	return res.Confidence
}

func TestWordsThatFollowEachOtherAreEvidence(t *testing.T) {
	const question = "where is the websocket handshake throttled by tenant?"
	phrase := confidenceIn(t, program("// websocketHandshake is all there is"), question)
	apart := confidenceIn(t, program("// websocket is what they said of the first, handshake"), question)
	turned := confidenceIn(t, program("// handshakeWebsocket is all there is"), question)
	require.Greater(t, phrase, apart)
	require.Greater(t, phrase, turned)
	require.InDelta(t, apart, turned, 1e-9, "both have the words in one line, and no phrase")
}

func TestNameOfADefinitionIsEvidence(t *testing.T) {
	const question = "where is the websocket throttled by tenant?"
	named := confidenceIn(t, program("func websocket() {", "\tbeta(gamma, delta)", "}"), question)
	used := confidenceIn(t, program("func alpha() {", "\twebsocket(gamma, delta)", "}"), question)
	require.Greater(t, named, used)
}

func TestPathOfMatchesIsEvidence(t *testing.T) {
	list := func(path string) string {
		var b strings.Builder
		for i := range 80 {
			if i == 40 {
				b.WriteString(path + ":7:\tbeta(gamma, websocket)\n")
			}
			b.WriteString("src/alpha.go:12:\tbeta(gamma, delta)\n")
		}
		return b.String()
	}
	const question = "where is the websocket throttled by tenant?"
	require.Greater(t, confidenceIn(t, list("src/tenant.go"), question), confidenceIn(t, list("src/omega.go"), question))
}

// Of a question of one word there is no more to find than that word.
func TestWholeQuestionFoundIsAnAnswer(t *testing.T) {
	text := strings.Repeat(program(), 40) + program("// about the websocket")
	for _, question := range []string{"websocket", "about the websocket?", "what does websocket mean", "websocket example", "how websocket works in detail"} {
		_, res := keptText(t, text, question, Options{})
		require.GreaterOrEqual(t, res.Confidence, minConfidence, question)
		require.False(t, res.Whole(), question)
	}
	_, res := keptText(t, text, "websocket throttled by tenant?", Options{})
	require.True(t, res.Whole(), "most of it is missing in a long text")
}

// What a question about a failure names has to stand where something failed: the
// names of tests that passed say nothing of it.
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

// Who asks for failing tests is not answered by a build without any.
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

// What was run is told once, before all it prints.
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
