package runcmd

import (
	"encoding/json"
	"io"
	"slices"
)

// serverEvents is the file of a run's events as its own server writes to it. That the
// server is ready and that it stopped is said by the run, in events of the same names.
type serverEvents struct{ io.Writer }

var saidByTheRun = []string{"mcp_pruner.ready", "mcp_pruner.stopped"}

// Write takes one line.
func (s serverEvents) Write(line []byte) (int, error) {
	var e struct{ Event string }
	if json.Unmarshal(line, &e) == nil && slices.Contains(saidByTheRun, e.Event) {
		return len(line), nil
	}
	return s.Writer.Write(line)
}
