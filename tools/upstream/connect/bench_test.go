package connect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkPassed measures what a server's result takes on its way to the client, after it was received.
func BenchmarkPassed(b *testing.B) {
	for name, text := range map[string]string{"small": "hello\n", "1MB": strings.Repeat("a line of the \"result\" of a server\n", 30_000)} {
		b.Run(name, func(b *testing.B) {
			raw, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
			require.NoError(b, err)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := passed(Config{}, raw, "")
				require.NoError(b, err)
			}
		})
	}
}
