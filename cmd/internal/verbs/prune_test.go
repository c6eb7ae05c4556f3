package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// pruneResult holds the exit status and the output of one run of the verb.
type pruneResult struct {
	status         int
	stdout, stderr string
}

func executePrune(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := command.Process{Args: args, Stdin: stdin, Stdout: stdout, Stderr: stderr}
	return command.Verb(context.Background(), pruneCommand(p), p)
}

func runPruneVerb(t *testing.T, stdin string, args ...string) pruneResult {
	t.Helper()
	status, stdout, stderr := runVerb(t, pruneCommand, nil, stdin, args...)
	return pruneResult{status, stdout, stderr}
}

// failedRun is the output of a test run with one failure among many passes.
func failedRun() string {
	var b strings.Builder
	for i := range 80 {
		fmt.Fprintf(&b, "=== RUN   TestStep%d\n", i)
		if i == 40 {
			b.WriteString("    step_test.go:12: got 3, want 4\n--- FAIL: TestStep40 (0.00s)\n")
			continue
		}
		fmt.Fprintf(&b, "--- PASS: TestStep%d (0.00s)\n", i)
	}
	return b.String() + "FAIL\nexit status 1\nFAIL\texample.com/step\t0.01s\n"
}

const testQuestion = "which test failed and why"

func TestPruneOfAPipe(t *testing.T) {
	out := runPruneVerb(t, failedRun(), "-q", testQuestion)
	require.Zero(t, out.status)
	require.Contains(t, out.stdout, "    step_test.go:12: got 3, want 4\n--- FAIL: TestStep40 (0.00s)\n")
	require.Contains(t, out.stdout, "... 1-")
	require.Less(t, len(out.stdout), len(failedRun())/4)
	require.Regexp(t, `^\[logs: \d+ of 164 lines kept\]\n$`, out.stderr)
}

func TestPruneOfAFileWithFlagsAfterIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.log")
	require.NoError(t, os.WriteFile(file, []byte(failedRun()), 0o600))
	out := runPruneVerb(t, "", file, "--question", testQuestion, "--budget", "0.1", "--kind=logs", "--json")
	require.Zero(t, out.status, out.stderr)
	var m pruneMetadata
	require.NoError(t, json.Unmarshal([]byte(out.stdout), &m))
	require.Equal(t, 164, m.Total)
	require.Contains(t, m.Kept, 82)
	require.NotEmpty(t, m.Blocks)
	require.NotNil(t, m.Warnings)
}

func TestWhyShowsEveryLine(t *testing.T) {
	out := runPruneVerb(t, failedRun(), "-q", testQuestion, "--why")
	require.Zero(t, out.status)
	require.Len(t, strings.Split(strings.TrimSuffix(out.stdout, "\n"), "\n"), 166, "the lines, the words and a summary")
	require.Regexp(t, `(?m)^\+    82 +\d+\.\d\d  terms: test +│     step_test.go:12: got 3, want 4$`, out.stdout)
	require.Regexp(t, `(?m)^\+    83 +\d+\.\d\d  protected: sign of trouble +│ --- FAIL`, out.stdout)
	require.Regexp(t, `(?m)^      1 +\d+\.\d\d  below the cut: test +│ === RUN`, out.stdout)
}

func TestWhySaysWhichWordsWereFound(t *testing.T) {
	text := "func retry() {\n\tretries++\n}\n" + strings.Repeat("something else entirely\n", 40)
	out := runPruneVerb(t, text, "-q", "where does `retry` count against the quota in limit.go?", "--why")
	require.Contains(t, out.stdout, "\nlines that have a word: retry 2, count 0, quota 0, limit.go 0, limit 0\n")
	list := "src/retry.go:3:\tx++\nsrc/retry.go:9:\ty++\n"
	require.Contains(t, runPruneVerb(t, list, "-q", "retry", "--why", "-k", "grep").stdout, "\nlines that have a word: retry 1\n")
	require.NotContains(t, runPruneVerb(t, text, "-q", "explain the exact logic", "--why").stdout, "have a word")
}

// What is kept for being shorter than its marker is kept for --why, too.
func TestWhyShowsWhatIsPrinted(t *testing.T) {
	text := "retry one\n\nretry two\n\nretry three\n" + strings.Repeat("something else entirely\n", 40)
	printed := runPruneVerb(t, text, "-q", "retry", "-b", "0.1")
	why := runPruneVerb(t, text, "-q", "retry", "-b", "0.1", "--why")
	require.Contains(t, printed.stdout, "retry one\n\nretry two\n")
	require.True(t, strings.HasSuffix(why.stdout, ", "+printed.stderr), "%s", why.stdout)
}

func TestWhySendsNothingToTheTerminal(t *testing.T) {
	out := runPruneVerb(t, "one \x1b[31mretry\x07\r\ntwo\n", "-q", "retry", "--why")
	require.Zero(t, out.status)
	require.Contains(t, out.stdout, "│ one ·[31mretry·\n")
	require.NotContains(t, out.stdout, "\x1b")
}

func TestWholeTextsAreUntouched(t *testing.T) {
	out := runPruneVerb(t, "one\r\ntwo", "-q", "three", "-")
	require.Equal(t, pruneResult{0, "one\r\ntwo", "[code: all 2 lines kept; not pruned: short]\n"}, out)
}

func TestWrongUsageOfPrune(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, `a question is needed: -q "what you want to know"`},
		{[]string{"-q", "x", "--budget", "2"}, "want a share above 0 and up to 1"},
		{[]string{"-q", "x", "--budget", "NaN"}, "want a share above 0 and up to 1"},
		{[]string{"-q", "x", "-b", "130%"}, "want a share above 0 and up to 1"},
		{[]string{"-q", "x", "-k", "poem"}, `invalid argument "poem" for "-k, --kind" flag: want code, logs, docs or grep`},
		{[]string{"-q", "x", "a", "b"}, "one file at a time, not 2"},
		{[]string{"-q", "x", "--json", "--why"}, "--json and --why are two forms of output; choose one"},
		{[]string{"--batch", "-q", "x"}, "--batch takes everything from its requests"},
		{[]string{"--frobnicate"}, "unknown flag: --frobnicate"},
	} {
		out := runPruneVerb(t, "", c.args...)
		require.Equal(t, command.Usage, out.status, c.args)
		require.Contains(t, out.stderr, c.want)
		require.Contains(t, out.stderr, "Try 'mcp-pruner prune --help'.")
		require.Empty(t, out.stdout)
	}
}

func TestPruneOfAMissingFile(t *testing.T) {
	out := runPruneVerb(t, "", "-q", "x", filepath.Join(t.TempDir(), "none.go"))
	require.Equal(t, command.Fail, out.status)
	require.Contains(t, out.stderr, "none.go")
}

// endless is an input without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestAnInputThatIsTooLargeIsRefused(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, command.Fail, executePrune([]string{"-q", "x"}, endless{}, &stdout, &stderr))
	require.Contains(t, stderr.String(), "the standard input is larger than 64 MiB")
	require.Empty(t, stdout.String())
}

// "| head" has read enough: that is no error.
func TestAReaderThatHasEnoughIsNoError(t *testing.T) {
	var stderr bytes.Buffer
	require.Zero(t, executePrune([]string{"-q", "x"}, strings.NewReader("a\n"), enough{}, &stderr))
	require.NotContains(t, stderr.String(), "broken pipe")
}

// enough is a pipe that nobody reads any more.
type enough struct{}

func (enough) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestHelpOfPruneIsOnStandardOutput(t *testing.T) {
	out := runPruneVerb(t, "", "--help")
	require.Zero(t, out.status)
	require.Contains(t, out.stdout, "Examples:")
	require.Empty(t, out.stderr)
}

func TestBatchAnswersEveryLine(t *testing.T) {
	text, err := json.Marshal(failedRun())
	require.NoError(t, err)
	out := runPruneVerb(t, `{"question":"`+testQuestion+`","text":`+string(text)+`,"source_type":"logs","budget":0.1}
not json
{"question":"x","text":"a\nb","budget":7}
{"question":"x","text":"a\nb","source_type":"poem"}
null

{"question":"x","text":"a\nb","source_type":"code"}`, "--batch")
	require.Zero(t, out.status, out.stderr)
	answers := strings.Split(strings.TrimSuffix(out.stdout, "\n"), "\n")
	require.Len(t, answers, 6, "a blank line is no request; a last line needs no newline")
	require.Contains(t, answers[0], `"total_lines":164`)
	require.Contains(t, answers[1], `"error":"not a JSON request`)
	require.Contains(t, answers[2], `"error":"a budget is a share`)
	require.JSONEq(t, `{"kind":"code","total_lines":2,"kept":[1,2],"omitted":[],"confidence":0,"warnings":["too_short"],"note":"not pruned: short"}`, answers[5])
	require.Contains(t, answers[3], `"error":"unknown kind`)
	require.Contains(t, answers[4], `"error":"a question is needed`)
}

// What a tool call says about its output is used where the request does not say it.
func TestBatchTakesTheCallAndItsSession(t *testing.T) {
	page := strings.Repeat("Some words about nothing in particular.\n", 3)
	request := func(rest string) string {
		text, err := json.Marshal(page)
		require.NoError(t, err)
		return `{"question":"what is it about","text":` + string(text) + rest + "}\n"
	}
	out := runPruneVerb(t, request(`,"tool":"read","args":{"file_path":"a.go"},"context":[{"kind":"say","text":"I will fix it","file":"a.go"}]`)+
		request(`,"tool":"bash","args":{"command":"make"},"context":[]`)+
		request(`,"file":"a.md","args":{"file_path":"a.go"}`)+
		request(`,"context":"nonsense"`), "--batch")
	require.Zero(t, out.status, out.stderr)
	answers := strings.Split(out.stdout, "\n")
	require.Contains(t, answers[0], `"kind":"code"`)
	require.Contains(t, answers[1], `"kind":"logs"`)
	require.Contains(t, answers[2], `"kind":"docs"`)
	require.Contains(t, answers[3], `"error":"not a JSON request`)
}

// brokenPipe is a standard output that went away.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestAClosedOutputIsAnError(t *testing.T) {
	var stderr bytes.Buffer
	require.Equal(t, command.Fail, executePrune([]string{"-q", "x"}, strings.NewReader("a\n"), brokenPipe{}, &stderr))
	require.Contains(t, stderr.String(), "broken pipe")
}
