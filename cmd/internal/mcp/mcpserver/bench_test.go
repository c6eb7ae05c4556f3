package mcpserver

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

func newBenchServer(b *testing.B) (*Server, string) {
	b.Helper()
	root := b.TempDir()
	offered, err := tools.New(tools.Settings{Root: root})
	require.NoError(b, err)
	return New(Config{Version: "0", Result: "auto", MaxCalls: 64, Pipeline: &states.Pipeline{
		Machine: fsm.MustCompile(fsm.RequestTable()), Tools: offered, Emit: fsm.NewEventLog(io.Discard, fsm.LevelDebug).Emit,
	}}), root
}

// BenchmarkSmallRead measures one call from the request line to the bytes of its answer, including the
// machine and the log.
func BenchmarkSmallRead(b *testing.B) {
	s, root := newBenchServer(b)
	require.NoError(b, os.WriteFile(filepath.Join(root, "small.txt"), []byte("hello\n"), 0o600))
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"file_path":"small.txt"}}}`)
	var session Session
	b.ReportAllocs()
	for b.Loop() {
		reply := s.Answer(b.Context(), &session, Parse(line))
		_, err := reply.Begin(b.Context())
		require.NoError(b, err)
		reply.Written(b.Context())
	}
}

// BenchmarkEncode measures the encoding of a result of 1 MiB, once as content alone and once with
// structuredContent.
func BenchmarkEncode(b *testing.B) {
	text := strings.Repeat("func main() { fmt.Println(\"a < b && c > d\") }\n", 1<<20/46)
	answer := states.Answer{Kind: states.Result, Text: text, Structured: map[string]string{"content": text}}
	for name, textOnly := range map[string]bool{"text": true, "full": false} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := encodeResult([]byte("1"), newToolResult(answer, textOnly))
				require.NoError(b, err)
			}
		})
	}
}
