package verbs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
)

func TestHeadsArePrinted(t *testing.T) {
	path := writtenTrace(t, tracetest.New(t).Trace(60))
	stdout, stderr, code := runTrace(t, "heads", path)
	require.Equal(t, traceOK, code, stderr)
	require.Equal(t, 6, strings.Count(stdout, "\n"), "one of each process")
	kept := filepath.Join(t.TempDir(), "heads")
	require.NoError(t, os.WriteFile(kept, []byte(stdout), 0o600))
	stdout, stderr, code = runTrace(t, "verify", "--heads", kept, path)
	require.Equal(t, traceUnproved, code, stderr)
	assert.Contains(t, stdout, "nothing proves that no lines were cut off after its line")
	_, stderr, code = runTrace(t, "verify", "--heads", path, path)
	require.Equal(t, traceInvalid, code)
	assert.Contains(t, stderr, "there is no head in it")
}

// TestAllIsProved: with the log of a process that ended in order, nothing is left to be proved, until a line is cut off.
func TestAllIsProved(t *testing.T) {
	path, log := filepath.Join(t.TempDir(), "trace.jsonl"), new(tracetest.HeadLog)
	f, err := trace.Open(path, trace.Options{Heads: log})
	require.NoError(t, err)
	for _, line := range tracetest.Lines(tracetest.New(t).Trace(3)) {
		r := tracetest.Decode(t, line)
		r.Seal = nil
		f.Append(r, 0)
	}
	require.NoError(t, f.Close())
	heads := filepath.Join(t.TempDir(), "events.jsonl")
	require.NoError(t, os.WriteFile(heads, log.Bytes(), 0o600))
	stdout, stderr, code := runTrace(t, "verify", "--heads", heads, path)
	require.Equal(t, traceOK, code, stdout+stderr)
	assert.NotContains(t, stdout, "note:")

	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := tracetest.Lines(raw)
	stdout, _, code = runTrace(t, "verify", "--heads", heads, writtenTrace(t, bytes.Join(lines[:2], nil)))
	assert.Equal(t, traceInvalid, code)
	assert.Contains(t, stdout, "the end was cut off")
}
