package lineprune

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// Colour codes and CRLF line endings do not change the result.
func TestColoursAndLineEndsChangeNothing(t *testing.T) {
	plain := sampleLog(300) + "panic: assignment to entry in nil map\n\ngoroutine 7 [running]:\nmain.upload(0x1)\n\t/src/upload.go:7 +0x1d\n"
	coloured := strings.ReplaceAll(plain, "ERROR", "\x1b[1;31mERROR\x1b[0m")
	linked := strings.ReplaceAll(plain, "upload", "\x1b]8;;https://example.com/x\x1b\\upload\x1b]8;;\a")
	for _, opts := range []Options{{}, {Budget: 0.2}} {
		want := prune(t, plain, "why was the upload rejected", Logs, opts)
		require.False(t, want.Whole())
		for _, text := range []string{coloured, linked, strings.ReplaceAll(plain, "\n", "\r\n")} {
			got := prune(t, text, "why was the upload rejected", Logs, opts)
			require.Equal(t, want.Blocks, got.Blocks, "%v: %q", opts, text[:80])
			requireSound(t, text, opts, got)
		}
	}
}

// PHP and gdb print numbered stack frames without indentation.
func TestNumberedFramesFollowTheirMessage(t *testing.T) {
	trace := []string{"PHP Fatal error:  Uncaught TypeError: wrong", "Stack trace:", "#0 /srv/cart.php(41): Cart->add()", "#1 {main}", "  thrown in /srv/Cart.php on line 17"}
	kept, res := keptText(t, sampleLog(100)+strings.Join(trace, "\n")+"\n"+sampleLog(100), "why did it crash", Options{})
	require.False(t, res.Whole())
	for _, line := range trace {
		require.True(t, kept[line], line)
	}
	o := structure.Logs(doc.New("#1 [internal] load\n#1 done\n#2 [1/6] FROM\n#2 done\n"))
	require.Equal(t, []int32{0, 1, 2, 3}, o.Of, "steps are no frames")
}

// A line of carets is kept only together with the source line it points into.
func TestCaretsFollowTheirLine(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "a.c:%d:21: warning: unused variable 'v%d' [-Wunused-variable]\n%5d | int v%d;\n      | %s^~~\n", i, i, i, i, strings.Repeat(" ", i%20))
	}
	b.WriteString("a.c:70:3: error: expected ';' before '}' token\n   70 | return x\n      |         ^\n")
	kept, res := keptText(t, b.String(), "what are the compile errors", Options{Budget: 0.2})
	require.True(t, kept["a.c:70:3: error: expected ';' before '}' token"])
	lines, have := doc.Lines(b.String()), map[int]bool{}
	for _, k := range res.Kept {
		have[k] = true
		if structure.Wordless(lines[k-1]) {
			assert.True(t, have[k-1], "line %d: %q", k, lines[k-1])
		}
	}
}

func TestABudgetKeepsOneLineAtLeast(t *testing.T) {
	kept, res := keptText(t, "bash: gofoo: command not found\n", "why did it fail", Options{Budget: 0.2})
	require.True(t, kept["bash: gofoo: command not found"])
	require.Equal(t, 1, res.Total)
	kept, _ = keptText(t, "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    load()\nKeyError: 'x'\n", "why did it fail", Options{Budget: 0.1})
	require.True(t, kept["KeyError: 'x'"])
}

// A pytest section heading opens no entry. Otherwise the whole run would be a single entry, kept or dropped
// as one.
func TestFailuresOfOneRunAreSeveralEntries(t *testing.T) {
	text := "========== test session starts ==========\n" + strings.Repeat("tests/test_a.py::test_it FAILED\n", 2) + strings.Repeat("tests/test_a.py::test_it PASSED\n", 60) +
		"========== FAILURES ==========\n_____ test_a _____\nE   assert 1 == 2\n\n_____ test_b _____\n\nE   assert 3 == 4\n" +
		"========== short test summary info ==========\nFAILED test_a\nFAILED test_b\n"
	_, res := keptText(t, text, "which tests failed", Options{})
	require.False(t, res.Whole())
	require.Less(t, len(res.Kept), 20)
}

// The line that gives a message's location scores as high as the message.
func TestLocationsFollowTheirMessage(t *testing.T) {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "warning: unused variable: `v%d`\n --> src/lib.rs:%d:9\n  |\n%d | let v%d = compute(%d);\n  |     ^^ help: prefix it with an underscore\n\n", i, i, i, i, i)
	}
	b.WriteString("error[E0382]: use of moved value: `b`\n  --> src/take.rs:3:48\n   |\n 3 | take(b) + take(b)\n   |      -         ^ value used here after move\n   |\n\n")
	b.WriteString("error: could not compile `demo` (lib) due to 1 previous error; 20 warnings emitted\n")
	kept, _ := keptText(t, b.String(), "what is the compile error", Options{Budget: 0.06})
	require.True(t, kept["error[E0382]: use of moved value: `b`"])
	require.True(t, kept["  --> src/take.rs:3:48"])
}

// A question whether the run went well asks for the verdict, good or bad.
func TestQuestionsForTheVerdict(t *testing.T) {
	for _, q := range []string{"did all tests pass?", "did the build succeed", "what is the root cause",
		"did it pass", "are the tests green?", "test results summary", "what was the outcome of the test run?", "how many tests ran"} {
		for _, verdict := range []string{"1 failed, 99 passed in 3.2s", "100 passed in 3.2s"} {
			kept, res := keptText(t, strings.Repeat("tests/test_a.py::test_it PASSED\n", 100)+verdict+"\n", q, Options{})
			require.False(t, res.Whole(), q)
			require.True(t, kept[verdict], q)
		}
	}
}

// Among many library locations in a g++ template error, the line in the user's code is kept.
func TestTheUsersLineOfATemplateError(t *testing.T) {
	var b strings.Builder
	for i := range 4 {
		for k := range 6 {
			fmt.Fprintf(&b, "/usr/include/c++/12/bits/stl_%c.h:%d:20:   required from 'void std::__%c(_Iter, _Iter) [with _Iter = K*]'\n", 'a'+6*i+k, 90+i, 'a'+6*i+k)
		}
		fmt.Fprintf(&b, "main.cpp:%d:80:   required from here\n/usr/include/c++/12/bits/ops.h:%d:22: error: no match for 'operator<'\n", i, 40+i)
	}
	kept, _ := keptText(t, b.String(), "why does it fail", Options{Budget: 0.2, Command: "make"})
	for i := range 4 {
		require.True(t, kept[fmt.Sprintf("main.cpp:%d:80:   required from here", i)])
		require.True(t, kept[fmt.Sprintf("/usr/include/c++/12/bits/ops.h:%d:22: error: no match for 'operator<'", 40+i)])
	}
}

// A decorative rule opens no entry. Otherwise the whole log would be a single entry.
func TestRulesDecorate(t *testing.T) {
	for _, rule := range []string{strings.Repeat("=", 40), strings.Repeat("_", 65), strings.Repeat("_", 30) + " " + strings.Repeat("_", 20)} {
		text := "Model: net\n" + rule + "\nparams: 7\n" + strings.Repeat("step 7 of the training done\n", 200) + "ERROR loss is nan, giving up\n" +
			strings.Repeat("cleanup 7 done\n", 100)
		kept, res := keptText(t, text, "why did it fail", Options{Command: "train"})
		require.Less(t, len(res.Kept), 20, rule)
		require.True(t, kept["ERROR loss is nan, giving up"])
	}
}

// Compiler messages are recognised without a line that names the compiler. Test failures name lines, too,
// and must not be taken for compiler messages.
func TestWhatACompilerSays(t *testing.T) {
	for _, line := range []string{
		"main.c:12:5: error: 'x' undeclared", "./main.go:12:5: undefined: x", "src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
		"src/a.ts:3:5 - error TS2304: Cannot find name 'x'.", "error[E0308]: mismatched types", "Main.java:12: error: incompatible types",
		"[ERROR] /home/u/Main.java:[12,5] cannot find symbol",
	} {
		require.True(t, structure.FromCompiler(line), line)
		log := strings.Repeat("10:04:05 INFO one more parcel left the hall\n", 400) + line + "\n"
		kept, res := keptText(t, log, "What is the first compiler error?", Options{})
		require.False(t, res.Whole(), line)
		require.True(t, kept[line], line)
	}
	for _, line := range []string{
		"tests/test_a.py:12: AssertionError", "    a_test.go:12: got 3, want 4", "12:04:05 ERROR no route", "[ERROR] Failed to execute goal", "main.c:", "main.c:12",
	} {
		require.False(t, structure.FromCompiler(line), line)
		log := strings.Repeat("10:04:05 INFO one more parcel left the hall\n", 400) + line + "\n"
		require.True(t, prune(t, log, "What is the first compiler error?", Logs, Options{}).Whole(), line)
	}
}

// When a program logs the same error over and over, a few of the repetitions are kept, and so is every
// message that occurs once.
func TestAFloodOfOneErrorIsCutToIt(t *testing.T) {
	const once = "10:00:00 ERROR disk 3: no space left on device"
	for name, flood := range map[string]string{
		"same":      "10:00:%02d ERROR connect to the db: connection refused\n",
		"numbered":  "10:00:%02d ERROR attempt %[1]d: connect to the db: connection refused\n",
		"in turns":  "10:00:%02d ERROR connect to the db: connection refused\n10:00:%[1]d INFO next attempt in 1s\n",
		"traceback": "Traceback (most recent call last):\n  File \"/srv/w.py\", line 4, in run\n    raise JobError(job)\nJobError: job %d has no owner\n",
	} {
		var b strings.Builder
		for i := range 2000 {
			if i == 1000 {
				b.WriteString(once + "\n")
			}
			fmt.Fprintf(&b, flood, i%60)
		}
		kept, res := keptText(t, b.String(), "why does it fail?", Options{})
		require.NotEmpty(t, res.Kept, name)
		require.Less(t, len(res.Kept), 40, name)
		require.True(t, kept[once], name)
		first, _, _ := strings.Cut(fmt.Sprintf(flood, 0), "\n")
		require.True(t, kept[first], name)
	}
}

// Lines that differ only in names count as one statement, unless the question asks which names are
// affected.
func TestAFloodOfOneErrorAboutManyNames(t *testing.T) {
	var b strings.Builder
	name := func(i int) string {
		return strings.Repeat(string(rune('a'+i%26)), 3) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
	}
	for i := range 2000 {
		if i == 1000 {
			b.WriteString("10:00:00 ERROR the spool is full\n")
		}
		fmt.Fprintf(&b, "10:00:%02d ERROR failed to sync the mailbox of %s: connection reset by peer\n", i%60, name(i))
	}
	for _, question := range []string{"why does it fail?", "errors", "why does the sync of the mailbox fail?"} {
		kept, res := keptText(t, b.String(), question, Options{})
		require.NotEmpty(t, res.Kept, question)
		require.Less(t, len(res.Kept), 20, question)
		require.True(t, kept["10:00:00 ERROR the spool is full"], question)
	}
	var tests strings.Builder
	for i := range 300 {
		fmt.Fprintf(&tests, "FAILED tests/sync.py::%s - AssertionError: not in sync\n", name(i))
	}
	for _, question := range []string{"which failed?", "Show me the failing tests and their error messages"} {
		require.True(t, prune(t, tests.String(), question, Logs, Options{}).Whole(), question)
	}
}

// Failures that commit messages in git log mention are not failures of this log.
func TestAHistoryHasNoFailures(t *testing.T) {
	var long, short strings.Builder
	for i := range 200 {
		fmt.Fprintf(&long, "commit %040x\nAuthor: A <a@example.com>\nDate:   Fri Jan 2 03:04:%02d 2026\n\n    upload %d: fix the error of shelf %d\n\n", i+1, i%60, i, i%7)
		fmt.Fprintf(&short, "%07x upload %d: fix the error of shelf %d\n", i+1, i, i%7)
	}
	for _, text := range []string{long.String(), short.String()} {
		res := prune(t, text, "Why did the process die?", Logs, Options{})
		require.True(t, res.Whole())
		require.Contains(t, res.Warnings, LowConfidence)
	}
}

// A build log that contains a diff is still pruned as a log.
func TestADiffInALogIsPartOfIt(t *testing.T) {
	kept, res := keptText(t, sampleLog(200)+patch+" three\n"+sampleLog(200)+"FAIL: the files are not formatted\n", "why did the build fail", Options{Budget: 0.2})
	require.False(t, res.Whole())
	require.True(t, kept["FAIL: the files are not formatted"])
}

// A question that asks in general terms what went wrong is answered by the failure. A question that names a
// subject is answered only if the subject occurs.
func TestQuestionsThatNameNothingFindTheFailure(t *testing.T) {
	text := strings.Repeat("10:04:05 INFO one more parcel left the hall\n", 400) + "10:04:06 FATAL giving up: the database is gone\n"
	for _, question := range []string{
		"What went wrong?", "Which errors occurred?", "List all failures", "summarize the errors", "Show me the errors and warnings",
		"analyze the error output", "errors encountered during the run", "identify the root cause of the crash", "Did anything fail?",
		"What is the exact error message?", "why did it exit with status 1", "why did CI fail?", "Why did the workflow run fail?",
		"why does the app crash", "why did the server go down with an unhandled exception", "what is the stack trace?", "why did pytest fail",
	} {
		kept, res := keptText(t, text, question, Options{})
		require.False(t, res.Whole(), question)
		require.True(t, kept["10:04:06 FATAL giving up: the database is gone"], question)
	}
	for _, question := range []string{"why is the websocket handshake failing", "Which certificate expired and caused errors?"} {
		require.True(t, prune(t, text, question, Logs, Options{}).Whole(), question)
	}
}
