package tracecmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkTracing is the round trip of one call over stdio without a trace and
// with one, in blocks that alternate between two servers, and what the trace adds
// to the median.
func BenchmarkTracing(b *testing.B) {
	root := b.TempDir()
	text := strings.Repeat("func handle(w http.ResponseWriter, r *http.Request) error {\n\treturn serve(w, r)\n}\n\n", 100)
	require.NoError(b, os.WriteFile(filepath.Join(root, "small.go"), []byte(text[:800]), 0o600))
	require.NoError(b, os.WriteFile(filepath.Join(root, "large.go"), []byte(strings.Repeat(text, 8)), 0o600))
	for name, args := range map[string]map[string]any{
		"small":  {"file_path": "small.go"},
		"large":  {"file_path": "large.go"},
		"pruned": {"file_path": "large.go", "context_focus_question": "how is a request handled"},
	} {
		b.Run(name, func(b *testing.B) { compare(b, root, args) })
	}
}

func compare(b *testing.B, root string, args map[string]any) {
	off := startServer(b, root, "PRUNER_URL=embedded")
	on := startServer(b, root, "PRUNER_URL=embedded", "MCP_PRUNER_TRACE="+filepath.Join(b.TempDir(), "trace.jsonl"))
	servers, times := []*server{off, on}, make([][]time.Duration, 2)
	const block = 10
	for warm := true; b.Loop(); warm = false {
		for i, s := range servers {
			for n := range block {
				began := time.Now()
				require.NoError(b, s.call(n, "read", args))
				_, err := s.out.ReadSlice('\n')
				require.NoError(b, err)
				if !warm {
					times[i] = append(times[i], time.Since(began))
				}
			}
		}
		slices.Reverse(servers)
		slices.Reverse(times)
	}
	off.close(b)
	on.close(b)
	if len(times[0]) == 0 {
		return
	}
	if servers[0] != off {
		slices.Reverse(times)
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Nanoseconds()) / 1000
	}
	without, with := median(times[0]), median(times[1])
	b.ReportMetric(without, "p50-off-µs")
	b.ReportMetric(with, "p50-on-µs")
	b.ReportMetric((with/without-1)*100, "added-%")
}
