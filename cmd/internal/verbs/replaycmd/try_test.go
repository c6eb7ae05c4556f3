package replaycmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// TestTry proves that try shows a cut result in two columns, with what was used later marked, and writes nothing.
func TestTry(t *testing.T) {
	home := t.TempDir()
	var stdout, stderr bytes.Buffer
	run := func(args ...string) int {
		stdout.Reset()
		stderr.Reset()
		p := command.Process{Args: args, Env: []string{"HOME=" + home, "COLUMNS=100"}, Stdout: &stdout, Stderr: &stderr}
		return command.Verb(context.Background(), TryCommand(p), p)
	}
	require.Zero(t, run("--lines", "400", sample), stderr.String())
	out := stdout.String()
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
	require.Contains(t, stderr.String(), "no result that hooks would cut")
	require.Equal(t, 2, run("--results", "0", sample))
	require.Equal(t, 1, run(filepath.Join(home, "none.jsonl")))
}

func TestClean(t *testing.T) {
	require.Equal(t, "a b?[31mred?", clean("a\tb\x1b[31mred\u202e", 40))
	require.Equal(t, "äöü", clean("äöüß", 3))
}
