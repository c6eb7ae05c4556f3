package tracecmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// anchored is the trace of two processes with the heads they told.
func anchored(t *testing.T) (path string, heads []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "trace.jsonl")
	var log bytes.Buffer
	for process := range 2 {
		f, err := trace.Open(path, trace.Options{Head: func(h trace.Head) {
			fmt.Fprintf(&log, `{"ts":"2026-01-01T00:00:00.000000Z","level":"info","event":"mcp_pruner.trace_head","data":{"writer":%q,"seq":%d,"link":%q,"key":%q,"final":%t}}`+"\n",
				h.Writer, h.Seq, h.Link, h.Key, h.Final)
		}})
		require.NoError(t, err)
		for i := range 60 {
			f.Append(answeredRecord(t, fmt.Sprintf("req_%d_%d", process, i)), 0)
			if i%20 == 19 {
				require.NoError(t, f.Flush())
			}
		}
		require.NoError(t, f.Close())
	}
	return path, log.Bytes()
}

func answeredRecord(t *testing.T, id string) *trace.Record {
	t.Helper()
	m := fsm.MustCompile(fsm.RequestTable()).New(id, fsm.Hooks{})
	for _, trigger := range []fsm.Trigger{fsm.Accept, fsm.ArgumentsValid, fsm.ToolSucceeded, fsm.OutputCaptured, fsm.NoQuestion, fsm.Written} {
		require.NoError(t, m.Fire(t.Context(), trigger, fsm.Facts{"tool": "read", "raw_bytes": 100, "mode": "raw"}))
	}
	r := trace.NewRecord(m)
	r.Tool, r.Bytes, r.Tokens = "read", trace.Bytes{Raw: 100, Sent: 100, Wire: 300}, trace.Tokens{Raw: 25, Sent: 25, Estimated: true}
	return &r
}

func verifyWith(t *testing.T, text, heads []byte) (stdout string, code int) {
	t.Helper()
	dir := t.TempDir()
	file, known := filepath.Join(dir, "trace.jsonl"), filepath.Join(dir, "heads")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	args := []string{"verify", "--all", file}
	if heads != nil {
		require.NoError(t, os.WriteFile(known, heads, 0o600))
		args = append(args, "--heads", known)
	}
	stdout, stderr, code := runTrace(t, args...)
	require.Empty(t, stderr)
	return stdout, code
}

// A hundred forgeries that an agent could make from inside: each is found with the heads
// at hand.
func TestForgeriesAreFoundWithTheHeads(t *testing.T) {
	path, heads := anchored(t)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	stdout, code := verifyWith(t, raw, heads)
	require.Equal(t, exitOK, code, stdout)
	lines := bytes.SplitAfter(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(slices.Clone(lines[len(lines)-1]), '\n')
	tried := 0
	try := func(name string, forged [][]byte) {
		tried++
		stdout, code := verifyWith(t, bytes.Join(forged, nil), heads)
		require.Equal(t, exitBad, code, "%s: %s", name, stdout)
	}
	for n := 1; n <= 30; n++ { // cut off at the end, at the beginning, in the middle
		try("end", lines[:len(lines)-n])
		try("beginning", lines[n:])
		try("middle", slices.Concat(lines[:60-n], lines[60:]))
	}
	try("everything", nil)
	try("the first process", lines[60:])
	for n := range 10 {
		try("an invented call", append(slices.Clone(lines), invented(t, lines, n)))
	}
	try("written anew", rewritten(t, lines))
	require.GreaterOrEqual(t, tried, 100)
}

// invented is a call that never was, as the n-th kind of forger would add it.
func invented(t *testing.T, lines [][]byte, n int) []byte {
	t.Helper()
	last := parsed(t, lines[len(lines)-1])
	r := answeredRecord(t, fmt.Sprint("req_forged_", n))
	r.Schema, r.Writer, r.Seq, r.Prev = 3, last.Writer, last.Seq+1, last.Link
	switch n % 5 {
	case 1: // a process of its own
		r.Writer, r.Seq, r.Prev = "feedfeedfeedfeed", 1, ""
	case 2: // an older version knows no seals
		r.Schema, r.Writer, r.Seq, r.Prev = 2, "feedfeedfeedfeed", 1, ""
	case 3: // left by a process that ended in order
		r.Writer, r.Seq, r.Prev, r.Recovered = "feedfeedfeedfeed", 1, "", last.Writer
	case 4: // with somebody's seal
		r.Seal = &trace.Seal{By: last.Seal.Next, Next: last.Seal.Next, Sig: last.Seal.Sig}
	}
	return seal(r)
}

// rewritten is the trace as somebody writes it who has the program and not the key.
func rewritten(t *testing.T, lines [][]byte) [][]byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	f, err := trace.Open(path, trace.Options{})
	require.NoError(t, err)
	for _, line := range lines {
		f.Append(parsed(t, line), 0)
	}
	require.NoError(t, f.Close())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return [][]byte{raw}
}

// Without heads, too, what does not fit a seal is found.
func TestASealedLineCannotBeChanged(t *testing.T) {
	path, _ := anchored(t)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := bytes.SplitAfter(raw, []byte("\n"))
	r := parsed(t, lines[59])
	r.Bytes.Wire++
	lines[59] = seal(r)
	stdout, code := verifyWith(t, bytes.Join(lines, nil), nil)
	require.Equal(t, exitBad, code)
	assert.Contains(t, stdout, "its seal does not fit")
}

func TestHeadsArePrinted(t *testing.T) {
	path, _ := anchored(t)
	stdout, stderr, code := runTrace(t, "heads", path)
	require.Equal(t, exitOK, code, stderr)
	require.Equal(t, 2, strings.Count(stdout, "\n"))
	kept := filepath.Join(t.TempDir(), "heads")
	require.NoError(t, os.WriteFile(kept, []byte(stdout), 0o600))
	stdout, stderr, code = runTrace(t, "verify", "--heads", kept, path)
	require.Equal(t, exitUnproved, code, stderr)
	assert.Contains(t, stdout, "nothing proves that no lines were cut off after its line")
	_, stderr, code = runTrace(t, "verify", "--heads", path, path)
	require.Equal(t, exitBad, code)
	assert.Contains(t, stderr, "there is no head in it")
}
