package states

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// world is a pipeline with real tools and files, without a pruner.
type world struct {
	*Pipeline
	t      *testing.T
	root   string
	stored map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Pipeline: newPipeline(nil), t: t, root: t.TempDir(), stored: map[string]string{}}
	list, err := tools.New(tools.Settings{
		Root: w.root, NonzeroExitAsOutput: true,
		Env: func() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.root} },
		Original: func(_ context.Context, id string) (string, bool, error) {
			text, ok := w.stored[id]
			return text, ok, nil
		},
	})
	require.NoError(t, err)
	w.Tools = list
	w.Keep = func(_ context.Context, text string) (string, error) {
		id := fmt.Sprintf("prn_%08x", len(w.stored))
		w.stored[id] = text
		return id, nil
	}
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(filepath.Join(w.root, name), []byte(text), 0o600))
}

func (w *world) call(client, tool string, args map[string]any) Answer {
	w.t.Helper()
	return w.Run(w.t.Context(), Request{Client: client, Params: map[string]any{"name": tool, "arguments": args}}).Answer()
}

// source returns a file of numbered lines with a function at every hundredth line.
func source(lines int) string {
	var b strings.Builder
	for n := 1; n <= lines; n++ {
		if n%100 == 0 {
			fmt.Fprintf(&b, "func part%d() {\n", n)
		} else {
			fmt.Fprintf(&b, "\tline(%d)\n", n)
		}
	}
	return b.String()
}

// TestAFileIsCutWhereTheClientsOwnToolWould: the output has as many lines as the client
// would show, an outline of the rest, and the line at which to continue.
func TestAFileIsCutWhereTheClientsOwnToolWould(t *testing.T) {
	w := newWorld(t)
	text := source(5000)
	w.write("a.go", text)
	a := w.call("claude-code", "read", map[string]any{"file_path": "a.go"})
	assert.True(t, strings.HasPrefix(text, a.Text))
	assert.Equal(t, 2000, strings.Count(a.Text, "\n"))
	for _, part := range []string{"total_lines=5000", "next_start_line=2001", "\n2100 func part2100() {\n", "\n5000 func part5000() {"} {
		assert.Contains(t, a.Notice, part)
	}
	assert.Empty(t, a.PruneID, "a file is read on, not stored")
	assert.Equal(t, len(text), a.Pruning.RawBytes)

	next := w.call("claude-code", "read", map[string]any{"file_path": "a.go", "start_line": 2001.0})
	assert.Equal(t, 2000, strings.Count(next.Text, "\n"), "an open range goes as far")
	assert.Contains(t, next.Notice, "next_start_line=4001")
	for _, explicit := range []map[string]any{
		{"file_path": "a.go", "start_line": 1.0, "end_line": 5000.0},
		{"file_path": "a.go", "max_output_bytes": 5e6},
	} {
		assert.Equal(t, text, w.call("claude-code", "read", explicit).Text, "what a call asks for wins")
	}
	short := w.call("claude-code", "read", map[string]any{"file_path": "a.go", "end_line": 10.0})
	assert.NotContains(t, short.Notice, "cut")
}

// TestTokensBoundWhatUnknownClientsGet: the limit holds for any kind of text.
func TestTokensBoundWhatUnknownClientsGet(t *testing.T) {
	w := newWorld(t)
	for name, text := range map[string]string{
		"words":  strings.Repeat("some words stand on every line of this text\n", 40_000),
		"digits": strings.Repeat("8f3a91c07be25d64\n", 60_000),
		"cjk":    strings.Repeat("数据库连接失败\n", 40_000),
	} {
		w.write(name, text)
		a := w.call("some-client", "read", map[string]any{"file_path": name})
		assert.Less(t, len(a.Text), len(text), name)
		assert.True(t, strings.HasPrefix(text, a.Text), name)
		assert.True(t, strings.HasSuffix(a.Text, "\n"), name)
		assert.LessOrEqual(t, len(a.Text), agent.UnknownLimit.Bytes, name)
		assert.Contains(t, a.Notice, "next_start_line=", name)
	}
	w.write("min.js", strings.Repeat("var a=function(){return 1};", 40_000))
	a := w.call("some-client", "read", map[string]any{"file_path": "min.js"})
	assert.NotEmpty(t, a.Text)
	assert.LessOrEqual(t, len(a.Text), agent.UnknownLimit.Bytes)
	assert.Contains(t, a.Notice, "cut within a line")
}

// TestALineLongerThanAResultLeadsToTheWord: of one long line a part is shown, and grep finds the rest by the id or the file.
func TestALineLongerThanAResultLeadsToTheWord(t *testing.T) {
	w := newWorld(t)
	line := strings.Repeat("abc def ", 40_000) + "needle " + strings.Repeat("zz ", 20_000)
	w.write("one.txt", line)
	w.write("many.txt", "first\n"+line+"\nthird\nlast\n")
	found := func(path, at string) {
		t.Helper()
		a := w.call("claude-code", "grep", map[string]any{"pattern": "needle", "path": path})
		assert.False(t, a.IsError, a.Text)
		assert.True(t, strings.HasPrefix(a.Text, path+":"+at+":320001:"), a.Text)
		assert.Contains(t, a.Text, "def needle zz")
	}
	for file, c := range map[string]struct{ mark, notice, at string }{
		"one.txt":  {"... the rest of line 1\n", "not shown: the rest of stdout line 1 of 1", "1"},
		"many.txt": {"first\n... 2-2\nthird\nlast\n", "not shown: stdout lines 2-2 of 4", "2"},
	} {
		a := w.call("claude-code", "bash", map[string]any{"command": "cat " + file})
		require.NotEmpty(t, a.PruneID, file)
		assert.True(t, strings.HasSuffix(a.Text, c.mark), "%s: %q", file, a.Text[max(0, len(a.Text)-100):])
		assert.True(t, strings.HasPrefix(a.Notice, c.notice), "%s: %s", file, a.Notice)
		found(a.PruneID, c.at)

		read := w.call("claude-code", "read", map[string]any{"file_path": a.PruneID, "start_line": 1})
		if file == "one.txt" {
			assert.Equal(t, c.notice+"; read file_path="+a.PruneID+" shows more, grep path="+a.PruneID+" what is around a match", a.Notice)
			assert.Contains(t, read.Notice, "cut within a line longer than a result may be; grep path="+a.PruneID+" what is around a match")
		}
	}
	read := w.call("claude-code", "read", map[string]any{"file_path": "one.txt"})
	assert.Contains(t, read.Notice, "; grep path=one.txt what is around a match, max_output_bytes shows all of it")
	found("one.txt", "1")

	gone := w.call("claude-code", "grep", map[string]any{"pattern": "needle", "path": "prn_00ff00ff"})
	assert.True(t, gone.IsError)
	assert.Equal(t, "Error (not_found): prn_00ff00ff: this output is not kept any more", gone.Text)
}

// TestTheMiddleOfACommandsOutputIsStored: the beginning and the end are shown, and the rest
// can be read by its id.
func TestTheMiddleOfACommandsOutputIsStored(t *testing.T) {
	w := newWorld(t)
	a := w.call("claude-code", "bash", map[string]any{"command": "seq 1 100000; echo oops >&2; exit 3"})
	assert.LessOrEqual(t, len(a.Text), agent.Claude.Results.Limits["bash"].Bytes+len("... 100000-100000\n[stderr]\noops\n"))
	assert.True(t, strings.HasPrefix(a.Text, "1\n2\n"))
	assert.True(t, strings.HasSuffix(a.Text, "\n100000\n[stderr]\noops\n"))
	assert.Contains(t, a.Notice, "exit code 3")
	gap := regexp.MustCompile(`\n\.\.\. (\d+)-(\d+)\n(\d+)\n`).FindStringSubmatch(a.Text)
	require.NotNil(t, gap)
	first, _ := strconv.Atoi(gap[1])
	last, _ := strconv.Atoi(gap[2])
	assert.Equal(t, strconv.Itoa(last+1), gap[3])
	require.Regexp(t, `^prn_[0-9a-f]{8}$`, a.PruneID)
	assert.Contains(t, a.Notice, "read file_path="+a.PruneID)

	rest := w.call("claude-code", "read", map[string]any{"file_path": a.PruneID, "start_line": float64(first), "end_line": float64(first + 1)})
	assert.Equal(t, fmt.Sprintf("%d\n%d\n", first, first+1), rest.Text)
	gone := w.call("claude-code", "read", map[string]any{"file_path": "prn_ffffffff"})
	assert.Contains(t, gone.Text, "not_found")
	assert.Contains(t, gone.Text, "not kept any more")
}

// TestWhatCannotBeStoredIsLeftWhole: a command's output would be lost if it were cut.
func TestWhatCannotBeStoredIsLeftWhole(t *testing.T) {
	w := newWorld(t)
	w.Keep = nil
	a := w.call("claude-code", "bash", map[string]any{"command": "seq 1 100000"})
	assert.Len(t, strings.Split(a.Text, "\n"), 100001)
}

// TestMatchesOfOtherFilesAreNamed: a search reports how many matches it found, and in which
// files.
func TestMatchesOfOtherFilesAreNamed(t *testing.T) {
	w := newWorld(t)
	for n := range 30 {
		w.write(fmt.Sprintf("f%02d.txt", n), strings.Repeat("a word is here, and the line is long enough to fill a result soon\n", 20))
	}
	a := w.call("claude-code", "grep", map[string]any{"pattern": "word"})
	assert.LessOrEqual(t, len(a.Text), agent.Claude.Results.Limits["grep"].Bytes)
	assert.Regexp(t, `^\d+ of 600 matches shown; the others: f\d+.txt \(\d+\), .*f29.txt \(20\); read file_path=prn_`, a.Notice)
	few := w.call("x", "grep", map[string]any{"pattern": "word", "max_matches": 50.0})
	assert.Contains(t, few.Notice, "50 of 600 matches shown; the others: f02.txt (10), f03.txt (20)")
	assert.Contains(t, few.Notice, "8 more files")
}

// TestAPrunedTextIsCutToo: and the notice says where the whole text is stored.
func TestAPrunedTextIsCutToo(t *testing.T) {
	w := newWorld(t)
	w.Pruner = answering(strings.Repeat("kept\n", 30_000), nil)
	w.write("a", strings.Repeat("text\n", 60_000))
	a := w.call("claude-code", "read", map[string]any{"file_path": "a", "context_focus_question": "what?"})
	assert.Equal(t, 2000, strings.Count(a.Text, "kept\n"))
	assert.Contains(t, a.Notice, "read file_path="+a.PruneID+" shows all of it")
}

// TestLimitOfCodexModels: for a model that Codex does not know, it shows 12,000 bytes of a
// result, notice included, and drops the notice of a larger one.
func TestLimitOfCodexModels(t *testing.T) {
	w := newWorld(t)
	w.write("long.go", source(5000))
	for model, most := range map[string]int{"": 40_000, "gpt-5.5": 40_000, "llama-4": 12_000} {
		a := w.Run(t.Context(), Request{Client: agent.Codex.Announces, Model: model, Params: map[string]any{"name": "read", "arguments": map[string]any{"file_path": "long.go"}}}).Answer()
		assert.LessOrEqual(t, len(a.Text)+len(a.Notice), most, model)
		assert.Greater(t, len(a.Text), most/2, model)
		assert.Contains(t, a.Notice, "next_start_line=")
	}
}

// TestProgressOfACommandShowsItsLastState: of a line that a command wrote over itself the model gets the last state, and
// what was written can be read. If it cannot be stored it comes as it is.
func TestProgressOfACommandShowsItsLastState(t *testing.T) {
	w := newWorld(t)
	const command = `for i in 1 2 3 4 5 6 7 8 9; do printf 'Receiving the objects of the repository: %s0%%\r' $i; done; printf 'Receiving all: done.\nready\n'`
	written := ""
	for i := range 9 {
		written += fmt.Sprintf("Receiving the objects of the repository: %d0%%\r", i+1)
	}
	written += "Receiving all: done.\nready\n"
	a := w.call("claude-code", "bash", map[string]any{"command": command})
	assert.Equal(t, "Receiving all: done.\nready\n", a.Text)
	assert.Equal(t, "progress shows its last state; read file_path="+a.PruneID+" shows all", a.Notice)
	assert.Equal(t, written, w.stored[a.PruneID], "the exact output")

	many := command + `; echo oops >&2; i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done`
	a = w.call("claude-code", "bash", map[string]any{"command": many})
	assert.Contains(t, a.Text, "Receiving all: done.\n")
	assert.Regexp(t, `not shown: stdout lines \d+-\d+ of 20002; read file_path=prn_`, a.Notice)
	gap := regexp.MustCompile(`(?m)^\.\.\. (\d+)-(\d+)$`).FindStringSubmatch(a.Text)
	require.NotNil(t, gap, a.Text)
	first, err := strconv.Atoi(gap[1])
	require.NoError(t, err)
	original := strings.Split(w.stored[a.PruneID], "\n")
	before, _, _ := strings.Cut(a.Text, gap[0])
	shown := strings.Split(strings.TrimSuffix(before, "\n"), "\n")
	assert.Equal(t, shown[len(shown)-1], original[first-2], "the gap's numbers are those of the stored lines")

	w.Keep = nil
	assert.Equal(t, written, w.call("claude-code", "bash", map[string]any{"command": command}).Text)
}
