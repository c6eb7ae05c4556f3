package existing

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// TestTheClientsWordsAreNoLines checks for each client's form of an output what is the client's and what is the tool's.
func TestTheClientsWordsAreNoLines(t *testing.T) {
	const lines = "=== RUN TestA\nnumber: 3\nOutput: x\n"
	for name, c := range map[string]struct{ head, tail string }{
		"no words":             {"", ""},
		"Codex":                {"Chunk ID: 9014a9\nWall time: 0.1744 seconds\nProcess exited with code 3\nOriginal token count: 2021\nOutput:\n", ""},
		"Codex, still running": {"Wall time: 10.0001 seconds\nProcess running with session ID 4\nOutput:\n", ""},
		"Codex, before":        {"Exit code: 101\nWall time: 0.2 seconds\nTotal output lines: 3\nOutput:\n", ""},
		"with our status":      {WithStatus(-1, ""), ""},
		"Gemini CLI":           {"<untrusted_context>\nOutput: ", "\nExit Code: 3\nProcess Group PGID: 1127\n</untrusted_context>"},
		"Gemini CLI, success":  {"<untrusted_context>\nOutput: ", "\nProcess Group PGID: 1127\n</untrusted_context>\n"},
		"Gemini CLI, before": {"Command: go test\nDirectory: (root)\nOutput: ",
			"\nError: (none)\nExit Code: 1\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 12"},
		"Gemini CLI, MCP":         {"<untrusted_context>\n", "\n</untrusted_context>"},
		"opencode, timeout":       {"", "\n\n<bash_metadata>\nbash tool terminated command after exceeding timeout 120000 ms\n</bash_metadata>"},
		"Claude Code, a reminder": {"", "\n\n<system-reminder>\nWhenever you read a file, consider <this>.\n</system-reminder>\n"},
		"two reminders":           {"", "\n<system-reminder>\na\n</system-reminder>\n\n<system-reminder>\nb\n</system-reminder>"},
		"a harness":               {"<output>\n", "\n</output>"},
		"a search of Gemini CLI":  {"Found 2 matches for pattern \"return\" in path \".\" (results limited to 2 matches):\n---\n", "\n---"},
		"a search of opencode":    {"Found 100 matches\n", "\n\n(Results are truncated: showing first 100 results)"},
		"Claude Code, pages":      {"", "\n\n[Showing results with pagination = limit: 100, offset: 0]"},
	} {
		t.Run(name, func(t *testing.T) {
			text := c.head + strings.TrimSuffix(lines, "\n") + c.tail
			if c.tail == "" {
				text = c.head + lines
			}
			b := NewBody(history.Bash, text)
			assert.Equal(t, c.head, b.Head)
			assert.Equal(t, c.tail, b.Tail)
			assert.Equal(t, strings.TrimSuffix(lines, "\n"), b.Code())
			whole, first := b.Original()
			assert.Equal(t, text, whole, "what is stored is all that the client shows")
			assert.Equal(t, 1, first)
			assert.Equal(t, "number: 3", strings.Split(whole, "\n")[b.First], "a line's number counts all lines of the client's text")
			cut := Text(b, kept(3, 2), "back")
			assert.Contains(t, cut, c.head)
			assert.True(t, strings.HasSuffix(cut, c.tail), cut)
		})
	}
}

// TestWordsAreFoundByTheirBeginning checks the plain words for which an expression is compiled: each of them alone suffices.
func TestWordsAreFoundByTheirBeginning(t *testing.T) {
	for _, head := range []string{
		"Chunk ID: 1\nOutput:\n", "Wall time: 1\nOutput:\n", "Exit code: 1\nOutput:\n", "Original token count: 1\nOutput:\n",
		"Total output lines: 1\nOutput:\n", "Process exited with code 1\nOutput:\n", "Process running with session ID 4\nOutput:\n",
		"Command: a\nDirectory: b\nStdout: ", "IMPORTANT: The file content has been truncated.\na\n--- FILE CONTENT (truncated) ---\n",
		"Showing lines 1-2 of 30 total lines.\n\n---\n\n", "[Command exited with code 3]\n", "Found 1 file\n", "Found 2 matches\n---\n",
	} {
		assert.Equal(t, head, NewBody(history.Grep, head+"a\nb\n").Head)
	}
	for _, tail := range []string{
		"\n<system-reminder>\na\n</system-reminder>", "\n<bash_metadata>\na\n</bash_metadata>", "\n\n(End of file - total 3 lines)",
		"\n(Showing lines 1-2)", "\n(Output truncated at 3)", "\n(Output capped at 3)", "\n(Result is truncated)", "\n(Results are truncated)",
		"\n(File has more lines)", "\n[Showing results with pagination = limit: 1]", "\n<shellId: 3 completed with exit code -1>",
		"\n[Showing lines 1-2 of 3]", "\n\n[12 more lines in file. Use offset]", "\nCommand exited with code 1", "\n\nCommand aborted",
		"\nCommand timed out after 3 s\n", "\nSignal: 9\nBackground PIDs: 3", "\nProcess Group PGID: 1",
	} {
		assert.Equal(t, tail, NewBody(history.Bash, "a\nb"+tail).Tail)
	}
}

// TestWordsOfAnOutput lists outputs that look like a client's words, and are the tool's.
func TestWordsOfAnOutput(t *testing.T) {
	for _, text := range []string{
		"Output: 3\nb\nc", "Process exited with code 3\nb\n", "<a>\nb\n</c>", "a\n---", "a\nExit Code: 3", "Wall time: 3\nb", "<output>\n</output>", "",
		"(End of file\na",
	} {
		b := NewBody(history.Bash, text)
		assert.Empty(t, b.Head, text)
		assert.Empty(t, b.Tail, text)
	}
}

// TestAGapCountsTheHead checks that the numbers of a gap are those of the stored text.
func TestAGapCountsTheHead(t *testing.T) {
	b := NewBody(history.Bash, WithStatus(3, "a\nb\nc\nd\n"))
	assert.Equal(t, "[1 of 4 lines; rest: `back --lines A-B`]\nProcess exited with code 3\nOutput:\n... 3-4\nc\n... 6\n", Text(b, kept(4, 3), "back"))
}

// TestAGapOfAPartOfAFile: the numbers are the file's, also for a client that shows none.
func TestAGapOfAPartOfAFile(t *testing.T) {
	const lines = "a\nb\nc\nd\n"
	const head = "Showing lines 301-304 of 972 total lines.\n\n---\n\n"
	for _, c := range []struct {
		args      map[string]any
		out, want string
	}{
		{map[string]any{"path": "a.go", "view_range": []any{300., 303.}}, lines, "... 300-301\nc\n... 303\n"},
		{map[string]any{"path": "a.go", "offset": 300., "limit": 4.}, lines + "\n[9 more lines in file. Use offset=304 to continue.]", "... 300-301\nc\n... 303\n\n[9 more"},
		{map[string]any{"file_path": "a.go", "offset": 300., "limit": 4.}, head + lines, head + "... 301-302\nc\n... 304\n"},
		{map[string]any{"path": "a.go"}, lines, "... 1-2\nc\n... 4\n"},
	} {
		b := ResultBody(history.ParseCall("view", c.args), c.out)
		assert.Contains(t, Text(b, kept(len(b.Lines), 3), "back"), strings.TrimSpace(c.want))
		text, first := b.Original()
		assert.Equal(t, b.First, first)
		assert.True(t, strings.HasPrefix(text, "a\n"), "the text to store begins with the line of that number: %s", text)
	}
}

func TestNoticesOfTheClientStay(t *testing.T) {
	b := NewBody(history.Bash, "a\n... [2072 characters truncated] ...\nb\n[12 lines truncated]\nthe list is truncated\nOutput truncated: see x\n")
	require.Equal(t, []int{1, 2, 4, 6}, b.notices([]int{1}))
}

// FuzzFrame checks that nothing of an output is lost or added when the client's words are taken off.
func FuzzFrame(f *testing.F) {
	f.Add(WithStatus(3, "a\nb"))
	f.Add("<untrusted_context>\nOutput: a\nExit Code: 3\nProcess Group PGID: 1\n</untrusted_context>")
	f.Add("Found 3 matches\n---\na\n---\n\n<system-reminder>\nx\n</system-reminder>")
	f.Fuzz(func(t *testing.T, text string) {
		head, output, tail := framed(text)
		if head+output+tail != text {
			t.Fatalf("%q, %q, %q is not %q", head, output, tail, text)
		}
	})
}
