package verbs

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

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/stdio"
	config "github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
)

type toolCall struct {
	tool string
	args map[string]any
}

// BenchmarkTracing is the round trip of calls over stdio without a trace and with one, in
// paired rounds that alternate between two servers, and what the trace adds to the median.
// Calls come back to back, or with a pause before each (idle). The goal for the small read
// is 5 % either way. A session is as many commands as searches as reads, so its median is
// that of a search.
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
		pause time.Duration
	}{
		{"small", []toolCall{small}, 0},
		{"small-idle", []toolCall{small}, time.Millisecond},
		{"file", []toolCall{file}, 0},
		{"file-idle", []toolCall{file}, time.Millisecond},
		{"session", []toolCall{small, search, command, file, search, command, large, search, command, pruned, search, command}, 0},
		{"large", []toolCall{large}, 0},
		{"pruned", []toolCall{pruned}, 0},
		{"search", []toolCall{search}, 0},
		{"command", []toolCall{command}, 0},
	} {
		b.Run(bench.name, func(b *testing.B) {
			off := startServer(b, root, "PRUNER_URL=embedded")
			on := startServer(b, root, "PRUNER_URL=embedded", "MCP_PRUNER_TRACE="+filepath.Join(b.TempDir(), "trace.jsonl"))
			compareServers(b, off, on, bench.calls, bench.pause)
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
	compareServers(b, off, on, calls, 0)
}

// serveReady is that server: this test program, started again.
func serveReady() {
	c, _, err := config.Load(config.Stdio, nil, config.FromEnv(os.Environ()))
	if err != nil {
		panic(err)
	}
	logs := fsm.NewEventLog(os.Stderr, fsm.Level(c.LogLevel))
	defer logs.Close(time.Second)
	parts, err := assemble.Make(context.Background(), assemble.Stdio, assemble.Options{Settings: c, Env: os.Environ(), Emit: logs.Emit})
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
	stdio.Serve(context.Background(), parts.Server, os.Stdin, out)
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

// compareServers makes rounds of ten or more calls to each server, one right after the other,
// and reports what the second adds: to the median of each round and to the processor time
// of a call.
func compareServers(b *testing.B, off, on *tracedServer, calls []toolCall, pause time.Duration) {
	servers := []*tracedServer{off, on}
	block := slices.Repeat(calls, (9+len(calls))/len(calls))
	var with, without, added []float64 // medians of the rounds, and their ratios
	rounds := 0
	for ; b.Loop(); rounds++ {
		medians := make(map[*tracedServer]float64)
		for _, s := range servers {
			medians[s] = median(s.times(b, block, pause))
		}
		slices.Reverse(servers)
		if rounds > 0 { // the first one warms up
			with, without = append(with, medians[on]), append(without, medians[off])
			added = append(added, (medians[on]/medians[off]-1)*100)
		}
	}
	off.close(b)
	on.close(b)
	if len(added) == 0 {
		return
	}
	processor := func(s *tracedServer) float64 {
		used := s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
		return float64(used.Microseconds()) / float64(rounds*len(block))
	}
	b.ReportMetric(median(without), "p50-off-µs")
	b.ReportMetric(median(with), "p50-on-µs")
	b.ReportMetric(median(added), "added-%")
	b.ReportMetric((processor(on)/processor(off)-1)*100, "processor-%")
}

// times makes the calls, with a pause before each, and returns how long each took in µs.
func (s *tracedServer) times(b *testing.B, calls []toolCall, pause time.Duration) []float64 {
	times := make([]float64, 0, len(calls))
	for n, call := range calls {
		if pause > 0 {
			<-time.After(pause)
		}
		began := time.Now()
		require.NoError(b, s.call(n, call.tool, call.args))
		_, err := s.out.ReadSlice('\n')
		require.NoError(b, err)
		times = append(times, float64(time.Since(began).Nanoseconds())/1000)
	}
	return times
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}
