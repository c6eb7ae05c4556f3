package runcmd

import (
	"fmt"
	"io"

	server "mcp-pruner/cmd/internal/settings"
	"mcp-pruner/fsm/trace"
)

// The variables of the file that finished machines are appended to, the server's
// requests and the runner's runs alike.
const (
	traceVariable      = "MCP_PRUNER_TRACE"
	traceLimitVariable = "MCP_PRUNER_TRACE_MAX_BYTES"
)

// appendTrace appends the run's record to the trace. A trace that cannot be
// written is said, and changes nothing else.
func appendTrace(path string, limit int64, record trace.Record, stderr io.Writer) {
	failed := func(err error) { fmt.Fprintf(stderr, "mcp-pruner: trace: %v\n", err) }
	trace, err := trace.Open(path, limit, failed)
	if err != nil {
		failed(err)
		return
	}
	defer trace.Close()
	trace.Append(&record)
}

// traceLimit is the size above which the trace is put aside, as the server reads
// it. One that the server does not take is none: the server says what is wrong.
func traceLimit(env []string) int64 {
	given := server.FromEnv(env)
	set, _, err := server.Load(server.Stdio, nil, func(name string) (string, bool) {
		value, ok := given(name)
		return value, ok && name == traceLimitVariable
	})
	if err != nil {
		return 0
	}
	return set.TraceMaxBytes
}
