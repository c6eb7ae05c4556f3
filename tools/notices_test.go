package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// numbered returns lines that say their numbers, each of five bytes.
func numbered(first, last int) string {
	var b strings.Builder
	for n := first; n <= last; n++ {
		fmt.Fprintf(&b, "%04d\n", n)
	}
	return b.String()
}

func cutNotice(t *testing.T, out Output, limit Limit) (text, notice string) {
	t.Helper()
	cut, ok := out.(Cutter).Cut(limit)
	require.True(t, ok)
	return cut.Text(), cut.(interface{ Notice() string }).Notice()
}

// TestNoticeNamesTheLastLineShown: the line in the notice is the last one of the text, and reading goes on with the next.
func TestNoticeNamesTheLastLineShown(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte(numbered(1, 100)), 0o600))
	read := newTools(t, Settings{Root: dir})["read"]
	for _, c := range []struct{ first, lines, last int }{{1, 10, 10}, {1, 1, 1}, {1, 99, 99}, {41, 10, 50}, {100, 1, 0}, {99, 1, 99}} {
		out := run(t, read, fmt.Sprintf(`{"file_path":"f","start_line":%d}`, c.first))
		if c.last == 0 {
			_, cut := out.(Cutter).Cut(Limit{Lines: c.lines})
			assert.False(t, cut, "the last line is all of it")
			continue
		}
		text, notice := cutNotice(t, out, Limit{Lines: c.lines})
		assert.Equal(t, numbered(c.first, c.last), text)
		assert.Contains(t, notice, fmt.Sprintf("cut after line %d; ", c.last))
		assert.Contains(t, notice, fmt.Sprintf("; next_start_line=%d", c.last+1))
		assert.Contains(t, notice, "; total_lines=100;")
	}
}

// TestNoticeNamesTheLinesNotShown: the lines in the notice and in the gap are exactly those that the text lacks.
func TestNoticeNamesTheLinesNotShown(t *testing.T) {
	for name, c := range map[string]struct {
		out          bashOutput
		limit        Limit
		text, notice string
	}{
		"stdout": {
			bashOutput{Stdout: numbered(1, 100)}, Limit{Lines: 10},
			numbered(1, 4) + "... 5-94\n" + numbered(95, 100), "not shown: stdout lines 5-94 of 100",
		},
		"one line": {
			bashOutput{Stdout: numbered(1, 11)}, Limit{Lines: 10},
			numbered(1, 4) + "... 5-5\n" + numbered(6, 11), "not shown: stdout lines 5-5 of 11",
		},
		"bytes": {
			bashOutput{Stdout: numbered(1, 100)}, Limit{Bytes: 50},
			numbered(1, 4) + "... 5-94\n" + numbered(95, 100), "not shown: stdout lines 5-94 of 100",
		},
		"without a last line end": {
			bashOutput{Stdout: strings.TrimSuffix(numbered(1, 100), "\n")}, Limit{Lines: 10},
			numbered(1, 4) + "... 5-94\n" + strings.TrimSuffix(numbered(95, 100), "\n"), "not shown: stdout lines 5-94 of 100",
		},
		"stderr": {
			bashOutput{Stderr: numbered(1, 100)}, Limit{Lines: 10},
			numbered(1, 4) + "... 5-94\n" + numbered(95, 100), "not shown: stderr lines 5-94 of 100",
		},
		"both, as they are stored one after the other": {
			bashOutput{Stdout: numbered(1, 100), Stderr: numbered(1, 50)}, Limit{Lines: 20},
			numbered(1, 6) + "... 7-91\n" + numbered(92, 100) + stderrMark + numbered(1, 2) + "... 103-147\n" + numbered(48, 50),
			"not shown: stdout lines 7-91 of 100, stderr lines 103-147 of 150",
		},
	} {
		text, notice := cutNotice(t, &c.out, c.limit)
		assert.Equal(t, c.text, text, name)
		assert.Equal(t, c.notice, notice, name)
	}
}

// TestBinaryIsLookedForInTheFirst8000Bytes as git does: a NUL there makes a file binary, one after them does not.
func TestBinaryIsLookedForInTheFirst8000Bytes(t *testing.T) {
	dir := t.TempDir()
	read := newTools(t, Settings{Root: dir})["read"]
	for at, binary := range map[int]bool{0: true, 3999: true, 4000: true, 7999: true, 8000: false, 9000: false} {
		text := []byte(strings.Repeat("x", 10_000))
		text[at] = 0
		require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), text, 0o600))
		_, err := call(t, read, `{"file_path":"f"}`)
		if binary {
			require.ErrorContains(t, err, "binary", "NUL at %d", at)
			continue
		}
		require.NoError(t, err, "NUL at %d", at)
	}
}

// TestAQuestionLooksAtMoreMatches: the answer may be in any of them. A call that names a number has its number.
func TestAQuestionLooksAtMoreMatches(t *testing.T) {
	grep := newTools(t, Settings{})["grep"]
	for args, want := range map[string]int{
		`{"pattern":"x"}`: 500, `{"pattern":"x","context_focus_question":"where?"}`: 5000,
		`{"pattern":"x","context_focus_question":"where?","max_matches":7}`: 7,
	} {
		assert.Equal(t, want, checked(t, grep, args).(*grepCall).search.MaxMatches, args)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte(strings.Repeat("x\n", 5001)), 0o600))
	grep = newTools(t, Settings{Root: dir})["grep"]
	out := run(t, grep, `{"pattern":"x","context_focus_question":"where?"}`)
	assert.Equal(t, []any{5000., true}, []any{structured(t, out)["match_count"], structured(t, out)["truncated"]})
}

// TestIssuesOfArgumentsAreSorted: by path, then by code, each once.
func TestIssuesOfArgumentsAreSorted(t *testing.T) {
	a := arguments{}
	for _, i := range []Issue{{"b", "custom"}, {"a", "too_big"}, {"a.b", "custom"}, {"a", "custom"}, {"a", "too_big"}, {"", "unrecognized_keys"}} {
		a.bad(i.Path, i.Code)
	}
	assert.Equal(t, []Issue{{"", "unrecognized_keys"}, {"a", "custom"}, {"a", "too_big"}, {"a.b", "custom"}, {"b", "custom"}}, a.done())
}

// TestNoticeOfALineShownInPart: of a line of which the beginning is shown only the rest is not shown.
func TestNoticeOfALineShownInPart(t *testing.T) {
	long := strings.Repeat("x", 100)
	for name, c := range map[string]struct{ stdout, text, notice string }{
		"one":            {long, long[:16] + "\n... the rest of line 1\n", "the rest of stdout line 1 of 1"},
		"all too long":   {long + "\n" + long + "\n" + long, long[:16] + "\n... the rest of line 1, 2-3\n", "the rest of stdout line 1 and lines 2-3 of 3"},
		"with an ending": {long + "\n" + long + "\nend\n", long[:16] + "\n... the rest of line 1, 2-2\nend\n", "the rest of stdout line 1 and lines 2-2 of 3"},
	} {
		text, notice := cutNotice(t, &bashOutput{Stdout: c.stdout}, Limit{Bytes: 40})
		assert.Equal(t, c.text, text, name)
		assert.Equal(t, "not shown: "+c.notice, notice, name)
	}
	pruned, ok := (&bashOutput{Stdout: long, pruned: true}).Cut(Limit{Bytes: 40})
	require.True(t, ok)
	assert.Equal(t, "not shown: the rest of a line of the pruned stdout", pruned.(*bashOutput).Notice())
}
