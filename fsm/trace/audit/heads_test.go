package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
)

// chains returns the lines that some processes wrote one after the other, each in batches, and the log with their heads.
func chains(t *testing.T, processes, lines, batch int) (text [][]byte, log []string) {
	t.Helper()
	heads := new(tracetest.HeadLog)
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	for p := range processes {
		f, err := trace.Open(path, trace.Options{Heads: heads})
		require.NoError(t, err)
		for i := range lines {
			f.Append(new(answerOf(t, fmt.Sprintf("req_%d_%d", p, i))), 0)
			if (i+1)%batch == 0 {
				require.NoError(t, f.Flush())
			}
		}
		require.NoError(t, f.Close())
	}
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	text = tracetest.Lines(raw)
	require.Len(t, text, processes*lines)
	return text, strings.SplitAfter(heads.String(), "\n")
}

func answerOf(t *testing.T, id string) trace.Record {
	t.Helper()
	way := []fsm.Trigger{fsm.Accept, fsm.ArgumentsValid, fsm.ToolSucceeded, fsm.OutputCaptured, fsm.NoQuestion, fsm.Written}
	r := recordOf(t, fsm.MustCompile(fsm.RequestTable()), way, 0)
	r.ID = id
	return r
}

// problems verifies lines against the heads of a log; without a log against nothing.
func problems(t *testing.T, lines [][]byte, log []string) []string {
	t.Helper()
	o := Options{All: true}
	if log != nil {
		heads, err := ReadHeads(strings.NewReader(strings.Join(log, "")))
		require.NoError(t, err)
		o.Heads = heads
	}
	v, err := Verify([]*Source{NewSource("trace", bytes.NewReader(bytes.Join(lines, nil)))}, o)
	require.NoError(t, err)
	return v.Verdict().Problems
}

func TestHeadsAreReadFromATextLog(t *testing.T) {
	h, ok := headOf(`2026-01-01T00:00:00.000000Z INFO  mcp_pruner.trace_head writer=00112233445566ff seq=0 link="" key=abc+/ final=false`)
	require.True(t, ok)
	assert.Equal(t, trace.Head{Writer: "00112233445566ff", Key: "abc+/"}, h)
	h, ok = headOf(`2026-01-01T00:00:00.000000Z INFO  mcp_pruner.trace_head writer=00112233445566ff seq=7 link=0a1b key=abc final=true`)
	require.True(t, ok)
	assert.Equal(t, trace.Head{Writer: "00112233445566ff", Seq: 7, Link: "0a1b", Key: "abc", Final: true}, h)
	_, ok = headOf("hello")
	require.False(t, ok)
}

// A hundred forgeries that an agent could make from inside: each is found with the heads at hand.
func TestForgeriesAreFoundWithTheHeads(t *testing.T) {
	lines, log := chains(t, 2, 60, 20)
	require.Empty(t, problems(t, lines, log))
	tried := 0
	try := func(name string, forged [][]byte) {
		tried++
		require.NotEmpty(t, problems(t, forged, log), name)
	}
	for n := 1; n <= 30; n++ { // cut off at the end, at the beginning, in the middle
		try("end", lines[:len(lines)-n])
		try("beginning", lines[n:])
		try("middle", slices.Concat(lines[:60-n], lines[60:]))
	}
	try("everything", nil)
	try("the first process", lines[60:])
	for n := range 8 {
		try("an invented call", append(slices.Clone(lines), invented(t, lines, n)))
	}
	try("written anew", rewritten(t, lines))
	require.GreaterOrEqual(t, tried, 100)
}

// invented is a call that never was, as the n-th kind of forger would add it.
func invented(t *testing.T, lines [][]byte, n int) []byte {
	t.Helper()
	last := tracetest.Decode(t, lines[len(lines)-1])
	r := answerOf(t, fmt.Sprint("req_forged_", n))
	r.Writer, r.Seq, r.Prev = last.Writer, last.Seq+1, last.Link
	switch n % 4 {
	case 1: // a process of its own
		r.Writer, r.Seq, r.Prev = "feedfeedfeedfeed", 1, ""
	case 2: // left by a process that ended in order
		r.Writer, r.Seq, r.Prev, r.Recovered = "feedfeedfeedfeed", 1, "", last.Writer
	case 3: // with somebody's seal
		r.Seal = &trace.Seal{By: last.Seal.Next, Next: last.Seal.Next, Sig: last.Seal.Sig}
	}
	return tracetest.Encode(&r)
}

// rewritten is the trace as somebody writes it who has the program and not the key.
func rewritten(t *testing.T, lines [][]byte) [][]byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	f, err := trace.Open(path, trace.Options{})
	require.NoError(t, err)
	for _, line := range lines {
		r := tracetest.Decode(t, line)
		r.Seal = nil
		f.Append(r, 0)
	}
	require.NoError(t, f.Close())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return [][]byte{raw}
}

// Without heads, too, what does not fit a seal is found.
func TestASealedLineCannotBeChanged(t *testing.T) {
	lines, _ := chains(t, 1, 2, 1)
	r := tracetest.Decode(t, lines[1])
	r.Bytes.Wire++
	lines[1] = tracetest.Encode(r)
	assert.Equal(t, []string{"trace: line 2: its seal does not fit: the line, or one of its process before it, was changed by somebody without the key"},
		problems(t, lines, nil))
}

// TestAllSealsMissing: without its seals, and with chains worked out anew, a trace of several batches is not in order.
func TestAllSealsMissing(t *testing.T) {
	lines, _ := chains(t, 2, 60, 20)
	links := map[string]string{}
	for i, line := range lines {
		r := tracetest.Decode(t, line)
		r.Seal, r.Prev = nil, links[r.Writer]
		r.Start = r.Start.Add(time.Duration(i) * time.Second)
		lines[i] = tracetest.Encode(r)
		links[r.Writer] = r.Link
	}
	found := problems(t, lines, nil)
	require.Len(t, found, 2)
	for _, problem := range found {
		assert.Contains(t, problem, "seals missing: the last 60 lines of process")
	}
}

// TestSealWithAnotherKey: a seal may be valid for its line. It must also be made with the key that the seal before
// announced, or the first line of the process.
func TestSealWithAnotherKey(t *testing.T) {
	for n := range 3 {
		lines, _ := chains(t, 1, 3, 1)
		require.Empty(t, problems(t, lines, nil))
		lines[n] = tracetest.Seal(tracetest.Decode(t, lines[n]))
		require.True(t, tracetest.Decode(t, lines[n]).Seal.Valid(), "else something else is wrong with it")
		assert.Equal(t, []string{fmt.Sprintf("trace: line %d: its seal was made with another key than the one announced before", n+1)},
			problems(t, lines[:n+1], nil))
	}
}

// TestLinesAfterTheFinalHead: a process that said how it ended wrote nothing after it, with a seal or without.
func TestLinesAfterTheFinalHead(t *testing.T) {
	lines, log := chains(t, 1, 3, 1)
	require.Empty(t, problems(t, lines, log))
	last := tracetest.Decode(t, lines[2])
	next := answerOf(t, "req_3")
	next.Writer, next.Seq, next.Prev = last.Writer, last.Seq+1, last.Link
	assert.Equal(t, []string{fmt.Sprintf("trace: line 4: process %s had ended after its line 3", last.Writer)},
		problems(t, append(lines, tracetest.Encode(&next)), log))
	assert.Equal(t, []string{"trace: line 4: its seal was made with another key than the one announced before"},
		problems(t, append(lines, tracetest.Seal(&next)), log), "the key of the seal is looked at first")
}

// TestWrongStartKey: the log has the key with which a process started. Whoever writes the trace of the process anew has
// another one, and seals every line with it.
func TestWrongStartKey(t *testing.T) {
	lines, log := chains(t, 1, 1, 1)
	first := tracetest.Decode(t, lines[0])
	first.Process = nil
	lines[0] = tracetest.Seal(first)
	assert.Empty(t, problems(t, lines, nil), "by itself it is in order")
	assert.Equal(t, []string{fmt.Sprintf("trace: line 1: process %s started with another key", first.Writer)}, problems(t, lines, log[:1]),
		"the process was killed: there is no other head")
}
