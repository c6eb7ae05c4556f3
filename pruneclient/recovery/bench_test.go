package recovery_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// filled is the number of originals in the database that BenchmarkPutShort compares with an empty one; it has 10,000 keys too.
const filled = 1_000_000

// BenchmarkPutShort measures the time that a pruned call adds to its answer: its original, of 40 kB, is stored. The stores take turns,
// so that what else the machine does slows all of them. p50-ms-* are the medians.
func BenchmarkPutShort(b *testing.B) {
	server := storetest.Start(b)
	empty, full := server.Database(b), server.Database(b)
	server.SQL(b, full, fmt.Sprintf(`INSERT INTO mcp_pruner.texts SELECT 's' || i %% 1000, sha256(i::text::bytea), 10, i::text::bytea FROM generate_series(1, %[1]d) i;
		INSERT INTO mcp_pruner.originals (subject, id, hash, expires_at) SELECT 's' || i %% 1000, 'prn_' || i, sha256(i::text::bytea), now() + interval '1 day' FROM generate_series(1, %[1]d) i;
		INSERT INTO mcp_pruner.api_keys (id, hash, subject, created_at) SELECT 'k' || i, sha256(i::text::bytea), 's' || i %% 1000, now() FROM generate_series(1, 10000) i; ANALYZE`, filled))
	file, err := store.OpenOriginals(filepath.Join(b.TempDir(), "s.db"), recovery.Settings{MaxBytes: 1 << 30})
	require.NoError(b, err)
	all := []struct {
		kind  string
		store *recovery.Store
		took  []time.Duration
	}{{kind: "sqlite", store: file}, {kind: "postgres", store: inDatabase(b, empty)}, {kind: "postgres-filled", store: inDatabase(b, full)}}
	ctx, text := agent.WithSubject(context.Background(), "ann"), strings.Repeat("a line of the output of some command\n", 1100)
	for i := 0; b.Loop(); i++ {
		for s := range all {
			start := time.Now()
			_, err := all[s].store.PutShort(ctx, fmt.Sprint(i, text))
			all[s].took = append(all[s].took, time.Since(start))
			require.NoError(b, err)
		}
	}
	for _, s := range all {
		slices.Sort(s.took)
		b.ReportMetric(float64(s.took[len(s.took)/2].Microseconds())/1e3, "p50-ms-"+s.kind)
		require.NoError(b, s.store.Close())
	}
}

func inDatabase(b *testing.B, name string) *recovery.Store {
	b.Helper()
	db, err := store.Open(store.Database{Name: name})
	require.NoError(b, err)
	s, err := store.OriginalsIn(db, recovery.Settings{MaxBytes: 1 << 30})
	require.NoError(b, err)
	return s
}
