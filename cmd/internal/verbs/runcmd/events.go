package runcmd

import (
	"encoding/json"
	"io"
	"slices"
)

// serverEvents is the events file of a run, as its own server writes to it. It drops the server's events
// for ready and stopped, because the run emits events of the same names.
type serverEvents struct{ io.Writer }

var saidByTheRun = []string{"mcp_pruner.ready", "mcp_pruner.stopped"}

// Write writes one line.
func (s serverEvents) Write(line []byte) (int, error) {
	var e struct{ Event string }
	if json.Unmarshal(line, &e) == nil && slices.Contains(saidByTheRun, e.Event) {
		return len(line), nil
	}
	return s.Writer.Write(line)
}
