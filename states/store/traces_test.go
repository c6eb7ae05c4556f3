package store_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// TestCopy: the database has the bytes of the files of two processes, also of the lines that were written while it was away,
// and its heads prove them.
func TestCopy(t *testing.T) {
	server := storetest.Start(t)
	name := server.Database(t)
	folder := t.TempDir()
	var failures []error
	open := func(file string) *trace.File {
		f, err := trace.Open(filepath.Join(folder, file), trace.Options{Copy: store.TracesIn(database(t, name)), Failed: func(err error) { failures = append(failures, err) }})
		require.NoError(t, err)
		return f
	}
	lines := tracetest.Lines(tracetest.New(t).Trace(6))
	write := func(f *trace.File, line []byte) {
		r := tracetest.Decode(t, line)
		r.Seal = nil
		f.Append(r, 0)
		require.NoError(t, f.Flush())
	}
	one, two := open("one.jsonl"), open("two.jsonl")
	write(one, lines[0])
	write(two, lines[1])
	require.Empty(t, failures)
	server.Stop(t, "fast")
	write(one, lines[2])
	write(one, lines[3])
	require.Len(t, failures, 1, "an outage is reported once")
	server.Start(t)
	require.Eventually(t, func() bool { return read(t, name, nil) != "" }, time.Minute, 10*time.Millisecond, "it is left alone for a moment")
	write(one, lines[4])
	require.NoError(t, errors.Join(one.Close(), two.Close()))

	var heads bytes.Buffer
	text := read(t, name, &heads)
	for _, file := range []string{"one.jsonl", "two.jsonl"} {
		raw, err := os.ReadFile(filepath.Join(folder, file))
		require.NoError(t, err)
		for line := range strings.Lines(string(raw)) {
			assert.Equal(t, 1, strings.Count(text, line), line)
		}
	}
	whole := verdict(t, text, heads.String())
	assert.Empty(t, whole.Problems)
	assert.Zero(t, whole.Unproved)
	cut := text[:strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1]
	assert.NotEmpty(t, verdict(t, cut, heads.String()).Problems, "the last line was removed")
}

func verdict(t *testing.T, text, heads string) audit.Verdict {
	t.Helper()
	known, err := audit.ReadHeads(strings.NewReader(heads))
	require.NoError(t, err)
	verified, err := audit.Verify([]*audit.Source{audit.NewSource("traces", strings.NewReader(text))}, audit.Options{Heads: known})
	require.NoError(t, err)
	return verified.Verdict()
}

func database(t *testing.T, name string) *store.DB {
	t.Helper()
	db, err := store.Open(store.Database{Name: name})
	require.NoError(t, err)
	return db
}

// read returns the lines in the database.
func read(t *testing.T, name string, heads *bytes.Buffer) string {
	t.Helper()
	db := database(t, name)
	defer func() { assert.NoError(t, db.Close()) }()
	if heads == nil {
		heads = &bytes.Buffer{}
	}
	var text strings.Builder
	if err := store.ReadTraces(t.Context(), db, &text, heads); err != nil {
		return ""
	}
	return text.String()
}
