package runcmd

import (
	"fmt"
	"io"

	"mcp-pruner/fsm"
	"mcp-pruner/runnerfsm"
)

// traceVariable names the file that finished machines are appended to, the
// server's requests and the runner's runs alike.
const traceVariable = "MCP_PRUNER_TRACE"

// appendTrace appends the run's line to the trace, where there is one. A trace
// that cannot be written is said, and changes nothing else.
func appendTrace(path, client string, result runnerfsm.Result, stderr io.Writer) {
	if path == "" {
		return
	}
	failed := func(err error) { fmt.Fprintf(stderr, "mcp-pruner: trace: %v\n", err) }
	trace, err := fsm.OpenTrace(path, 0, failed)
	if err != nil {
		failed(err)
		return
	}
	defer trace.Close()
	record := fsm.NewRecord(result.Machine, nil)
	record.Client = client
	trace.Append(record)
}
