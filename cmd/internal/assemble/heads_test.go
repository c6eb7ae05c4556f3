package assemble

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
)

// place opens an empty place for heads. kept returns what the place has, as `trace verify --heads` is given it.
type place func(t *testing.T) (heads trace.Heads, kept func() string)

// run runs the tests that every place passes.
func (p place) run(t *testing.T) {
	t.Helper()
	t.Run("a trace is proved by its heads", p.proves)
	t.Run("processes at once", p.atOnce)
}

// proves: with the heads a trace is in order, and no more when a line is cut off its end.
func (p place) proves(t *testing.T) {
	heads, kept := p(t)
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	file, err := trace.Open(path, trace.Options{Heads: heads, Failed: func(err error) { t.Error(err) }})
	require.NoError(t, err)
	for _, line := range tracetest.Lines(tracetest.New(t).Trace(3)) {
		r := tracetest.Decode(t, line)
		r.Seal = nil
		file.Append(r, 0)
		require.NoError(t, file.Flush())
	}
	require.NoError(t, file.Close())
	text := wait(t, kept, `"final":true`, 1)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := tracetest.Lines(raw)
	for n, problems := range map[int]int{len(lines): 0, len(lines) - 1: 1} {
		known, err := audit.ReadHeads(strings.NewReader(text))
		require.NoError(t, err)
		verified, err := audit.Verify([]*audit.Source{audit.NewSource("trace", bytes.NewReader(bytes.Join(lines[:n], nil)))}, audit.Options{Heads: known})
		require.NoError(t, err)
		v := verified.Verdict()
		assert.Len(t, v.Problems, problems, "%d lines", n)
		assert.Zero(t, v.Unproved, "%d lines", n)
	}
}

// atOnce: heads of several processes stay whole, and those of each process in order.
func (p place) atOnce(t *testing.T) {
	heads, kept := p(t)
	const processes, each = 8, 5
	var all sync.WaitGroup
	for process := range processes {
		all.Go(func() {
			for seq := range each {
				assert.NoError(t, heads.Keep(trace.Head{Writer: fmt.Sprintf("%016x", process), Seq: uint64(seq), Key: "k"}))
			}
		})
	}
	all.Wait()
	text := wait(t, kept, "mcp_pruner.trace_head", processes*each)
	_, err := audit.ReadHeads(strings.NewReader(text))
	require.NoError(t, err)
	for process := range processes {
		at := 0
		for seq := range each {
			next := strings.Index(text[at:], fmt.Sprintf(`"writer":"%016x","seq":%d,`, process, seq))
			require.GreaterOrEqual(t, next, 0, "head %d of process %d", seq, process)
			at += next
		}
	}
}

// wait waits until the place has a word so many times: a program or a journal writes when it likes.
func wait(t *testing.T, kept func() string, word string, times int) (text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		text = kept()
		return strings.Count(text, word) >= times
	}, 10*time.Second, 5*time.Millisecond, "%s", word)
	return text
}
