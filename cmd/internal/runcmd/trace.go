package runcmd

import (
	"fmt"
	"io"

	"mcp-pruner/fsm"
)

// traceVariable names the file that finished machines are appended to, the
// server's requests and the runner's runs alike.
const traceVariable = "MCP_PRUNER_TRACE"

// appendTrace appends the run's record to the trace. A trace that cannot be
// written is said, and changes nothing else.
func appendTrace(path string, record fsm.Record, stderr io.Writer) {
	failed := func(err error) { fmt.Fprintf(stderr, "mcp-pruner: trace: %v\n", err) }
	trace, err := fsm.OpenTrace(path, 0, failed)
	if err != nil {
		failed(err)
		return
	}
	defer trace.Close()
	trace.Append(record)
}
