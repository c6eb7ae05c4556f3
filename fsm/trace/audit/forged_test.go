package audit

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// chainOf returns the lines that a process wrote, one batch each, and the log with its heads.
func chainOf(t *testing.T, n int) (lines [][]byte, log []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	f, err := trace.Open(path, trace.Options{Head: func(h trace.Head) { log = append(log, headLine(h)) }})
	require.NoError(t, err)
	for i := range n {
		f.Append(new(answerOf(t, fmt.Sprint("req_", i))), 0)
		require.NoError(t, f.Flush())
	}
	require.NoError(t, f.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines = bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	require.Len(t, lines, n)
	lines[n-1] = append(lines[n-1], '\n')
	return lines, log
}

func headLine(h trace.Head) string {
	return fmt.Sprintf(`{"event":"mcp_pruner.trace_head","data":{"writer":%q,"seq":%d,"link":%q,"key":%q,"final":%t}}`, h.Writer, h.Seq, h.Link, h.Key, h.Final)
}

func answerOf(t *testing.T, id string) trace.Record {
	t.Helper()
	way := []fsm.Trigger{fsm.Accept, fsm.ArgumentsValid, fsm.ToolSucceeded, fsm.OutputCaptured, fsm.NoQuestion, fsm.Written}
	r := recordOf(t, fsm.MustCompile(fsm.RequestTable()), way, 0)
	r.ID = id
	return r
}

func decoded(t *testing.T, line []byte) *trace.Record {
	t.Helper()
	r := new(trace.Record)
	require.NoError(t, trace.NewDecoder().Decode(bytes.TrimSuffix(line, []byte("\n")), r))
	return r
}

// forge encodes a record, with a seal that is valid for its text and made with a key of the forger's own.
func forge(r *trace.Record, sealed bool) []byte {
	r.Seal = nil
	if sealed {
		key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte("k"), ed25519.SeedSize))
		public := base64.RawStdEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
		r.Seal = &trace.Seal{By: public, Next: public}
		text, _, _ := bytes.Cut(trace.Reseal(r), []byte(`,"sig":`))
		r.Seal.Sig = base64.RawStdEncoding.EncodeToString(ed25519.Sign(key, text))
	}
	return append(trace.Reseal(r), '\n')
}

// problems verifies lines against the heads of a log; without a log against nothing.
func problems(t *testing.T, lines [][]byte, log []string) []string {
	t.Helper()
	o := Options{All: true}
	if log != nil {
		heads, err := ReadHeads(strings.NewReader(strings.Join(log, "\n")))
		require.NoError(t, err)
		o.Heads = heads
	}
	v, err := Verify([]*Source{NewSource("trace", bytes.NewReader(bytes.Join(lines, nil)))}, o)
	require.NoError(t, err)
	return v.Verdict().Problems
}

// TestSealWithAnotherKey: a seal may be valid for its line. It must also be made with the key that the seal before
// announced, or the first line of the process.
func TestSealWithAnotherKey(t *testing.T) {
	for n := range 3 {
		lines, _ := chainOf(t, 3)
		require.Empty(t, problems(t, lines, nil))
		lines[n] = forge(decoded(t, lines[n]), true)
		require.True(t, decoded(t, lines[n]).Seal.Valid(), "else something else is wrong with it")
		found := problems(t, lines[:n+1], nil)
		require.Len(t, found, 1)
		assert.Equal(t, fmt.Sprintf("trace: line %d: its seal was made with another key than the one announced before", n+1), found[0])
	}
}

// TestLinesAfterTheFinalHead: a process that said how it ended wrote nothing after it, with a seal or without.
func TestLinesAfterTheFinalHead(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		lines, log := chainOf(t, 3)
		require.Empty(t, problems(t, lines, log))
		last := decoded(t, lines[2])
		next := answerOf(t, "req_3")
		next.Schema, next.Writer, next.Seq, next.Prev = last.Schema, last.Writer, last.Seq+1, last.Link
		found := problems(t, append(lines, forge(&next, sealed)), log)
		require.NotEmpty(t, found)
		want := fmt.Sprintf("trace: line 4: process %s had ended after its line 3", last.Writer)
		if sealed { // the key of the seal is looked at first
			want = "trace: line 4: its seal was made with another key than the one announced before"
		}
		assert.Equal(t, []string{want}, found)
	}
}

// TestWrongStartKey: the log has the key with which a process started. Whoever writes the trace of the process anew has
// another one, and seals every line with it.
func TestWrongStartKey(t *testing.T) {
	lines, log := chainOf(t, 1)
	first := decoded(t, lines[0])
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte("k"), ed25519.SeedSize))
	first.Process.Key = base64.RawStdEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
	lines[0] = forge(first, true)
	assert.Empty(t, problems(t, lines, nil), "by itself it is in order")
	assert.Equal(t, []string{fmt.Sprintf("trace: line 1: process %s started with another key", first.Writer)}, problems(t, lines, log[:1]),
		"the process was killed: there is no other head")
}
