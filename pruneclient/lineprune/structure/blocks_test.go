package structure

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

func TestTitlesOfFailingTests(t *testing.T) {
	for _, line := range []string{
		"--- FAIL: TestTotal (0.00s)", " FAIL  cart.test.js > cart > total", "FAIL: test_total (cart.CartTest)", "FAILED cart_test.py::test_total - assert 1 == 2",
		"ERROR: test_total (cart.CartTest)", "not ok 3 - total", "[  FAILED  ] Cart.Total (0 ms)", "    ✕ total (3 ms)", "✖ total", "  ✘ [fail]: total",
		" × cart > total 7ms", "test cart::total ... FAILED", "CartTest > total() FAILED", "cart_test.py::test_total FAILED   [ 42%]", "  total (FAILED - 1)",
		"[ERROR] total(shop.CartTest)  Time elapsed: 0 s  <<< ERROR!", " 51/102 Test  #51: total .........***Failed    0.01 sec",
		"  Failed Shop.CartTests.Total [12 ms]", "---- cart::total stdout ----", "_____________ test_total _____________", "(fail) cart > total [0.51ms]",
	} {
		assert.True(t, FailingTest(line), line)
	}
	for _, line := range []string{
		"", "FAIL\tshop/cart\t0.1s", "FAILED (failures=1)", "Failed asserting that 1 is identical to 2.", "Failed to connect", "a FAILED attempt", "  1) total", "  ● cart › total",
		"test cart::total ... ok", "========= FAILURES =========", "src/a.c:7:3: warning: this FAILED",
	} {
		assert.False(t, FailingTest(line), line)
	}
	assert.True(t, NamesFailing("  1) total"))
	assert.True(t, NamesFailing("  ● cart › total"))
}

func TestNumbersOfFailures(t *testing.T) {
	for _, line := range []string{
		"  2 failing", "5 examples, 2 failures", "Tests:       1 failed, 3 passed, 4 total", "Tests run: 3, Failures: 1, Errors: 0", "FAILED (failures=1)",
		"# fail 1", "ℹ fail 1", " 1 fail", "1 FAILED TEST", "97% tests passed, 1 tests failed out of 51", "Failed:     1, Passed:     2", "test result: FAILED. 1 passed; 2 failed",
	} {
		assert.True(t, CountsFailing(line), line)
	}
	for _, line := range []string{"# fail 0", "  0 failing", "Failures: 0", "It fails 3 times.", "Step 3 may fail.", "fails with status 3", "see page 3 on failures"} {
		assert.False(t, CountsFailing(line), line)
	}
}

func TestWarnings(t *testing.T) {
	for _, line := range []string{
		"src/a.c:7:3: warning: unused variable ‘error’ [-Wunused-variable]", "warning: unused variable: `panic`", "src/a.ts(7,3): warning TS6133: 'err' is never read.",
		"a.cs(7,3): warning CS0168: The variable 'e' is declared but never used", "/shop/error.py:7: DeprecationWarning: fail() is deprecated",
		"(node:7) [DEP0040] DeprecationWarning: x", "npm warn deprecated glob@7.2.3: it failed", "[WARNING] /shop/Cart.java:[7,3] [deprecation] x", "warning[unused]: x",
		"ld: warning: cannot find -lx", "##[warning]Error handling is deprecated",
	} {
		assert.True(t, Warns(line), line)
		assert.LessOrEqual(t, Signal(line), 0.4, line)
	}
	for _, line := range []string{
		"", "WARN connection refused", "WARNING upload failed", "src/a.c:7:3: error: x [-Werror=unused]", "error: warning: x", "cc1: all warnings being treated as errors", "3 warnings",
	} {
		assert.False(t, Warns(line), line)
	}
}

// A failing test's part reaches from its name to the first place in the user's code after the reason.
func TestWhatAFailingTestHasToKeep(t *testing.T) {
	for name, c := range map[string]struct{ text, last string }{
		"the place follows":        {"FAIL: total\nError: 3 != 4\n\n    at total (src/cart.js:7:3)\n\nmore\n", "    at total (src/cart.js:7:3)"},
		"the place comes first":    {"FAIL: total\nTraceback (most recent call last):\n  File \"cart.py\", line 7, in total\nValueError: 3\n\nmore\n", "ValueError: 3"},
		"another's code first":     {"FAIL: total\nError: 3 != 4\n    at x (node_modules/x/x.js:1:1)\n    at total (src/cart.js:7:3)\n\nmore\n", "    at total (src/cart.js:7:3)"},
		"a warning in between":     {"FAIL: total\nError: 3\nsrc/b.c:1:1: warning: x\n  at total (src/cart.js:7:3)\n\nmore\n", "  at total (src/cart.js:7:3)"},
		"a quoted warning between": {"FAIL: total\npanicked at cart.rs:7:3:\nwarning: x\n --> a.rs:1:1\n  |\n\nleft: 3\n\nmore\n", "left: 3"},
		"another test follows":     {"FAIL: total\nok 2 - sum\nsrc/cart.js:7:3: x\n", "FAIL: total"},
		"no place":                 {"not ok 1 - total\n  ---\n  got: 3\nok 2 - sum\n", "  got: 3"},
	} {
		d := doc.New(c.text)
		o := Logs(d)
		end, ok := Failing(d, o.Units[0])
		require.True(t, ok, name)
		assert.Equal(t, c.last, strings.TrimRight(d.Lines[end-1], "\n"), name)
	}
	d := doc.New("  1) open the file\n  2) close it\n")
	_, ok := Failing(d, Logs(d).Units[0])
	assert.False(t, ok, "a list")
}
