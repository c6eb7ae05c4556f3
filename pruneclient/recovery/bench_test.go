package recovery_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	recoverypg "github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/postgres"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/sqlite"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres/postgrestest"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// BenchmarkPutShort is what a pruned call adds to its answer's time: its original, of 40 kB, is stored. p50-ms is the median.
func BenchmarkPutShort(b *testing.B) {
	measure := func(b *testing.B, s *recovery.Store) {
		b.Helper()
		text := strings.Repeat("a line of the output of some command\n", 1100)
		ctx := subject.With(b.Context(), "ann")
		took := make([]time.Duration, 0, b.N)
		for i := 0; b.Loop(); i++ {
			start := time.Now()
			_, err := s.PutShort(ctx, fmt.Sprint(i, text))
			took = append(took, time.Since(start))
			require.NoError(b, err)
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "p50-ms")
	}
	inDatabase := func(b *testing.B, rows int) {
		server := postgrestest.Start(b)
		name := server.Database(b)
		server.SQL(b, name, fmt.Sprintf(`INSERT INTO mcp_pruner.texts SELECT 's' || i %% 1000, sha256(i::text::bytea), 10, i::text::bytea FROM generate_series(1, %[1]d) i;
			INSERT INTO mcp_pruner.originals (subject, id, hash, expires_at) SELECT 's' || i %% 1000, 'prn_' || i, sha256(i::text::bytea), now() + interval '1 day' FROM generate_series(1, %[1]d) i;
			INSERT INTO mcp_pruner.api_keys (id, hash, subject, created_at) SELECT 'k' || i, sha256(i::text::bytea), 's' || i %% 1000, now() FROM generate_series(1, 10000) i; ANALYZE`, rows))
		db, err := postgres.Open(postgres.Settings{Name: name})
		require.NoError(b, err)
		s, err := recoverypg.In(db, recovery.Settings{MaxBytes: 1 << 30})
		require.NoError(b, err)
		defer func() { _ = s.Close() }()
		measure(b, s)
	}
	b.Run("sqlite", func(b *testing.B) {
		s, err := sqlite.Open(filepath.Join(b.TempDir(), "s.db"), recovery.Settings{MaxBytes: 1 << 30})
		require.NoError(b, err)
		defer func() { _ = s.Close() }()
		measure(b, s)
	})
	b.Run("postgres", func(b *testing.B) { inDatabase(b, 0) })
	b.Run("postgres-million", func(b *testing.B) { inDatabase(b, 1_000_000) })
}
