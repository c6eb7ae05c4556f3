package verbs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// TestTry: try says in at most ten lines what would have paid; with --results it shows a cut result in two columns, with what was
// used later marked; it writes nothing.
func TestTry(t *testing.T) {
	home := t.TempDir()
	var code int
	var out, stderr string
	run := func(args ...string) int {
		code, out, stderr = runVerb(t, tryCommand, []string{"HOME=" + home, "COLUMNS=100"}, "", args...)
		return code
	}
	require.Zero(t, run(replaySample), stderr)
	require.Regexp(t, `(?m)^  hooks +[+-]\d+\.\d % \([+-]\d+\.\d\), \d lose`, out)
	require.Regexp(t, `(?m)^  together +[+-]\d+\.\d % \([+-]\d+\.\d\)$`, out)
	require.Regexp(t, `(?m)^Best cut: Read \S+: \d+ lines to \d+, \d+ tokens to \d+; `, out)
	require.LessOrEqual(t, strings.Count(out, "\n"), 10)
	broken := filepath.Join(t.TempDir(), "broken.jsonl")
	require.NoError(t, os.WriteFile(broken, []byte("no session\n"), 0o600))
	said := out
	require.Zero(t, run(replaySample, broken))
	require.Contains(t, stderr, "left out: "+broken)
	require.Equal(t, said, out)

	require.Zero(t, run("--results", "20", "--lines", "400", replaySample), stderr)
	require.Contains(t, out, "1  Read ")
	require.Contains(t, out, "lines not sent")
	require.Regexp(t, `(?m)^  [>!] .{46} \| `, out, "a line that was used later")
	require.Regexp(t, `(?m)^1 result: \d+ tokens as they came, \d+ as hooks would send them`, out)
	for line := range strings.Lines(out) {
		if strings.Contains(line, " | ") {
			require.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), 100)
		}
	}
	left, err := os.ReadDir(home)
	require.NoError(t, err)
	require.Empty(t, left, "nothing is written")

	require.Equal(t, 1, run())
	require.Contains(t, stderr, "no sessions of ")
	require.Equal(t, 2, run("--results", "-1", replaySample))
	require.Equal(t, 1, run(filepath.Join(home, "none.jsonl")))
}

// TestTryCountsNumbers: the size of a result is that of the text as the client shows it, with line numbers, so that a cut result
// never counts for more than the whole.
func TestTryCountsNumbers(t *testing.T) {
	for name, mark := range map[string]string{"Claude Code": "\t", "opencode": ": "} {
		var shown strings.Builder
		for n := range 160 {
			fmt.Fprintf(&shown, "%d%sx%d := f(%d)\n", n+1, mark, n, n)
		}
		body := existing.NewBody(history.Read, shown.String())
		require.Equal(t, mark, body.Mark)
		p := replay.Prediction{Body: body, Cut: existing.Cut{Total: 160}}
		for n := range 148 {
			p.Cut.Kept = append(p.Cut.Kept, n+1)
		}
		p.Cut.Main = existing.Window{From: 1, To: 148}
		s := newTrySide(p, 100)
		require.Equal(t, tokens.Claude(strings.TrimSuffix(shown.String(), "\n")), s.whole, name)
		require.LessOrEqual(t, s.sent, s.whole, name)
		require.Greater(t, s.sent, s.whole*3/4, name)
	}
}

func TestTryCleansLines(t *testing.T) {
	require.Equal(t, "a b?[31mred?", cleanLine("a\tb\x1b[31mred\u202e", 40))
	require.Equal(t, "äöü", cleanLine("äöüß", 3))
}
