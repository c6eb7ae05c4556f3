package trace

import (
	"errors"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// Head is the state of the chain of one process. If it is kept where the audited agent cannot write, it proves that no
// earlier line was removed, changed or replaced.
type Head struct {
	Writer string `json:"writer"`
	Seq    uint64 `json:"seq"`   // number of lines written
	Link   string `json:"link"`  // link of the last line; "" before the first
	Key    string `json:"key"`   // public key of the next seal
	Final  bool   `json:"final"` // the process will write no more lines
}

// Event returns the head as the event log has it.
func (h Head) Event() fsm.Event {
	return fsm.NewEvent("mcp_pruner.trace_head", "", fsm.Facts{"writer": h.Writer, "seq": int64(h.Seq), "link": h.Link, "key": h.Key, "final": h.Final})
}

// Heads is a place that keeps heads. The tests of cmd/internal/assemble have those that every such place passes.
type Heads interface {
	// Keep returns when the place has the head or cannot take it. The next batch of the trace waits for it, a request
	// never does.
	Keep(Head) error
}

// Copy is a second place for the lines of one process.
type Copy interface {
	// Add returns when the place has the whole lines of a batch, with the head after them, or cannot take them. The next
	// batch waits for it, a request never does. It may store lines later that it could not take.
	Add(after Head, lines []byte) error
	// Close is called after the final head.
	Close() error
}

// AllHeads keeps heads in several places.
type AllHeads []Heads

// Keep implements [Heads].
func (a AllHeads) Keep(h Head) error {
	var failed error
	for _, place := range a {
		failed = errors.Join(failed, place.Keep(h))
	}
	return failed
}
