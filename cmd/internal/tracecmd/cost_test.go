package tracecmd

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"mcp-pruner/cmd/internal/assemble"
	"mcp-pruner/cmd/internal/eventlog"
	config "mcp-pruner/cmd/internal/settings"
	"mcp-pruner/cmd/internal/stdio"
	"mcp-pruner/fsm"
	"mcp-pruner/fsm/event"
)

type toolCall struct {
	tool string
	args map[string]any
}

// BenchmarkTracing is the round trip of calls over stdio without a trace and with
// one, in blocks that alternate between two servers, and what the trace adds to the
// median. A session is as many commands as searches as reads, so its median is a
// search's: what tracing costs a read is told by the others.
func BenchmarkTracing(b *testing.B) {
	root := b.TempDir()
	text := strings.Repeat("func handle(w http.ResponseWriter, r *http.Request) error {\n\treturn serve(w, r)\n}\n\n", 100)
	for name, size := range map[string]int{"small.go": 800, "file.go": 8 << 10, "large.go": 64 << 10} {
		require.NoError(b, os.WriteFile(filepath.Join(root, name), []byte(strings.Repeat(text, 8)[:size]), 0o600))
	}
	const question = "how is a request handled"
	small := toolCall{"read", map[string]any{"file_path": "small.go"}}
	file := toolCall{"read", map[string]any{"file_path": "file.go"}}
	large := toolCall{"read", map[string]any{"file_path": "large.go"}}
	pruned := toolCall{"read", map[string]any{"file_path": "large.go", "context_focus_question": question}}
	search := toolCall{"grep", map[string]any{"pattern": "Request", "path": "small.go"}}
	command := toolCall{"bash", map[string]any{"command": "cat file.go", "context_focus_question": question}}
	for _, bench := range []struct {
		name  string
		calls []toolCall
	}{
		{"session", []toolCall{small, search, command, file, search, command, large, search, command, pruned, search, command}},
		{"small", []toolCall{small}},
		{"file", []toolCall{file}},
		{"large", []toolCall{large}},
		{"pruned", []toolCall{pruned}},
		{"search", []toolCall{search}},
		{"command", []toolCall{command}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			off := startServer(b, root, "PRUNER_URL=embedded")
			on := startServer(b, root, "PRUNER_URL=embedded", "MCP_PRUNER_TRACE="+filepath.Join(b.TempDir(), "trace.jsonl"))
			compare(b, off, on, bench.calls)
		})
	}
	b.Run("least", func(b *testing.B) { compareReady(b, root, []toolCall{small}) })
}

// readyFile names the file to which a server appends ready bytes before each answer.
const readyFile = "TRACECMD_READY"

// readyBytes is the length of the record of a small read.
const readyBytes = 1257

// compareReady is the least that any trace can cost: the same server without a
// trace, and with an append of ready bytes before each answer.
func compareReady(b *testing.B, root string, calls []toolCall) {
	self, err := os.Executable()
	require.NoError(b, err)
	off := startProgram(b, self, root, readyFile+"=none")
	on := startProgram(b, self, root, readyFile+"="+filepath.Join(b.TempDir(), "ready"))
	compare(b, off, on, calls)
}

// serveReady is that server: this test program, started again.
func serveReady() {
	c, _, err := config.Load(config.Stdio, nil, config.FromEnv(os.Environ()))
	if err != nil {
		panic(err)
	}
	logs := eventlog.New(os.Stderr, event.Level(c.LogLevel))
	defer logs.Close(time.Second)
	server, err := assemble.Server(assemble.Options{Settings: c, Env: os.Environ(), Emit: logs.Emit, Table: fsm.RequestTable()})
	if err != nil {
		panic(err)
	}
	out := io.Writer(os.Stdout)
	if path := os.Getenv(readyFile); path != "none" {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			panic(err)
		}
		out = readyFirst{file, out, bytes.Repeat([]byte("."), readyBytes)}
	}
	stdio.Serve(context.Background(), server, os.Stdin, out)
}

type readyFirst struct {
	file, out io.Writer
	ready     []byte
}

func (w readyFirst) Write(answer []byte) (int, error) {
	if _, err := w.file.Write(w.ready); err != nil {
		return 0, err
	}
	return w.out.Write(answer)
}

// compare makes ten or more calls a block.
func compare(b *testing.B, off, on *server, calls []toolCall) {
	servers, times := []*server{off, on}, map[*server][]time.Duration{}
	block := slices.Repeat(calls, (9+len(calls))/len(calls))
	for warm := true; b.Loop(); warm = false {
		for _, s := range servers {
			for n, call := range block {
				began := time.Now()
				require.NoError(b, s.call(n, call.tool, call.args))
				_, err := s.out.ReadSlice('\n')
				require.NoError(b, err)
				if !warm {
					times[s] = append(times[s], time.Since(began))
				}
			}
		}
		slices.Reverse(servers)
	}
	off.close(b)
	on.close(b)
	if len(times[off]) == 0 {
		return
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Nanoseconds()) / 1000
	}
	without, with := median(times[off]), median(times[on])
	b.ReportMetric(without, "p50-off-µs")
	b.ReportMetric(with, "p50-on-µs")
	b.ReportMetric((with/without-1)*100, "added-%")
}
