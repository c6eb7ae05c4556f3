package runcmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	server "github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm"
)

// traceVariable names the file that finished machines are appended to, the server's
// requests and the runner's runs alike.
const traceVariable = "MCP_PRUNER_TRACE"

// runVariable gives the server the id of the run that it belongs to.
const runVariable = "MCP_PRUNER_RUN_ID"

// appendTrace appends the run's record to the trace; the heads of its chain go into the
// run's event log. A trace that cannot be written is reported, and changes nothing else.
func appendTrace(path string, run runnerfsm.Options, record trace.Record, stderr io.Writer) {
	c := traceSettings(run.Settings.Env)
	c.RunID, c.Root = run.ID, run.Settings.Root
	failed := func(err error) { fmt.Fprintf(stderr, "mcp-pruner: trace: %v\n", err) }
	file, err := assemble.Door{Settings: c, Transport: "run", Emit: run.Emit, Failed: failed}.TraceAt(path)
	if err != nil {
		failed(err)
		return
	}
	defer file.Close()
	file.Append(&record, 0)
}

// traceSettings are the trace's settings as the server reads them. Values that the
// server refuses are left out: the server reports them.
func traceSettings(env []string) server.Settings {
	given := server.FromEnv(env)
	set, _, err := server.Load(server.Stdio, nil, func(name string) (string, bool) {
		value, ok := given(name)
		return value, ok && strings.HasPrefix(name, traceVariable+"_")
	})
	if err != nil {
		return server.Settings{}
	}
	return set
}
