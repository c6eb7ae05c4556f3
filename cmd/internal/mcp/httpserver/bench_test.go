package httpserver

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// newBenchHandler returns a handler for a folder with a small file, and a call that reads it.
func newBenchHandler(b *testing.B) (*Handler, string) {
	b.Helper()
	root := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(root, "small.txt"), []byte("hello\n"), 0o600))
	config, _, err := settings.Load(settings.HTTP, map[string]string{"root": root}, settings.FromEnv(nil))
	require.NoError(b, err)
	logs := fsm.NewEventLog(io.Discard, fsm.LevelDebug)
	b.Cleanup(func() { logs.Close(time.Minute) })
	parts, err := assemble.Make(b.Context(), assemble.HTTP, assemble.Options{Settings: config, Emit: logs.Emit})
	require.NoError(b, err)
	return NewHandler(Config{Server: parts.Server}), call("read", map[string]any{"file_path": "small.txt"})
}

// BenchmarkSmallRead measures a request from its headers to the bytes of its answer, including the machine
// and the log but not the network.
func BenchmarkSmallRead(b *testing.B) {
	h, body := newBenchHandler(b)
	b.ReportAllocs()
	for b.Loop() {
		r, err := http.NewRequestWithContext(b.Context(), "POST", "http://localhost/mcp", strings.NewReader(body))
		require.NoError(b, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", both)
		h.ServeHTTP(&recorder{header: make(http.Header)}, r)
	}
}
