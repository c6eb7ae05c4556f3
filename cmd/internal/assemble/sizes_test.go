package assemble

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Bytes of tables and indexes that docs/TEAMS.md states, for texts of textBytes bytes.
const (
	textBytes     = 8 << 10
	originalBytes = 5000
	entryBytes    = 7000
	recordBytes   = 2300

	// tolerance is how far a measured size may be from the stated one: random ids leave pages of an index more or less full.
	tolerance = 0.15
)

// What docs/TEAMS.md assumes of an agent, whose every call is pruned and comes into the ledger.
const (
	callsADay  = 480
	hoursADay  = 8
	daysKept   = 90 // the ledger and the traces; originals are kept for a day
	rowsOfCall = 6  // a text and an id; a text, a segment and its words; a batch of the trace
)

// TestSizingTable: the table of docs/TEAMS.md is what follows from the sizes.
func TestSizingTable(t *testing.T) {
	table := fmt.Sprintf(`| what a call stores | tables and indexes |
|---|---|
| the original of an output of %d KiB | %.1f kB |
| an entry of the ledger with such an output | %.1f kB |
| a record of the trace, without texts | %.1f kB |

| agents | calls a second | rows a day | after %d days |
|---|---|---|---|
`, textBytes>>10, originalBytes/1e3, entryBytes/1e3, recordBytes/1e3, daysKept)
	for _, row := range []struct {
		label  string
		agents float64
	}{{"10", 10}, {"100", 100}, {"10,000", 10_000}} {
		calls := row.agents * callsADay
		table += fmt.Sprintf("| %s | %.1f | %.2f million | %.0f GB |\n", row.label, calls/hoursADay/3600, calls*rowsOfCall/1e6,
			calls*(originalBytes+daysKept*(entryBytes+recordBytes))/1e9)
	}
	page, err := os.ReadFile("../../../docs/TEAMS.md")
	require.NoError(t, err)
	assert.Contains(t, string(page), table)
}

// TestSizes measures what docs/TEAMS.md says of the sizes in a database.
func TestSizes(t *testing.T) {
	server := storetest.Start(t)
	const n = 200
	random := rand.New(rand.NewPCG(1, 2))
	record := tracetest.Decode(t, tracetest.Lines(tracetest.New(t).Trace(6))[0])
	record.Seal = nil
	for kind, c := range map[string]struct {
		stated float64
		store  func(*store.DB) (add func(i int), done func() error)
	}{
		"original": {originalBytes, func(db *store.DB) (func(int), func() error) {
			s, err := store.OriginalsIn(db, recovery.Settings{})
			require.NoError(t, err)
			return func(int) {
				_, err := s.PutShort(t.Context(), output(random))
				require.NoError(t, err)
			}, s.Close
		}},
		"ledger entry": {entryBytes, func(db *store.DB) (func(int), func() error) {
			s := store.LedgerIn(db, time.Now)
			return func(i int) {
				_, err := s.Put(t.Context(), contextgc.Entry{Text: output(random), Key: fmt.Appendf(nil, "%032d", i), Segment: contextgc.Segment{Project: "project",
					Session: fmt.Sprint("sess_0123456789abcdef", i/50), Tool: "Read", Path: "/home/somebody/project/folder/file.go"}})
				require.NoError(t, err)
			}, s.Close
		}},
		"trace record": {recordBytes, func(db *store.DB) (func(int), func() error) {
			f, err := trace.Open(filepath.Join(t.TempDir(), "trace.jsonl"), trace.Options{Copy: store.TracesIn(db), Failed: func(err error) { t.Error(err) }})
			require.NoError(t, err)
			return func(int) {
				f.Append(record, 0)
				require.NoError(t, f.Flush())
			}, f.Close
		}},
	} {
		t.Run(kind, func(t *testing.T) {
			name := server.Database(t)
			server.SQL(t, name, "ALTER INDEX mcp_pruner.words_words SET (fastupdate = off)") // its list of new words is a constant that would count here
			db, err := store.Open(store.Database{Name: name, Patience: time.Minute})
			require.NoError(t, err)
			add, done := c.store(db)
			before := size(t, name)
			for i := range n {
				add(i)
			}
			bytes := float64(size(t, name)-before) / n
			require.NoError(t, done())
			t.Logf("%.0f bytes", bytes)
			assert.InEpsilon(t, c.stated, bytes, tolerance)
		})
	}
}

// size returns the bytes of all tables of a database, with their indexes.
func size(t *testing.T, name string) int64 {
	t.Helper()
	st, err := store.Inspect(context.Background(), store.Database{Name: name})
	require.NoError(t, err)
	return st.Bytes
}

// output returns a text as tools print it: lines of a few thousand different words and numbers.
func output(random *rand.Rand) string {
	var b strings.Builder
	for b.Len() < textBytes {
		for range 4 + random.IntN(8) {
			fmt.Fprintf(&b, "%s%d ", []string{"file", "error", "test.", "line:", "func", "return", "src/"}[random.IntN(7)], random.IntN(40))
		}
		b.WriteByte('\n')
	}
	return b.String()[:textBytes]
}
