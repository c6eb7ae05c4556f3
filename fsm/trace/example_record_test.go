package trace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// The record of an ended machine is appended, read back and replayed against its table.
func Example() {
	dir, err := os.MkdirTemp("", "trace")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "trace.jsonl")
	file, err := trace.Open(path, trace.Options{})
	if err != nil {
		panic(err)
	}
	m := fsm.MustCompile(fsm.RequestTable()).New("req_1", fsm.Hooks{})
	for _, trigger := range []fsm.Trigger{fsm.Accept, fsm.ArgumentsInvalid} {
		if err := m.Fire(context.Background(), trigger, nil); err != nil {
			panic(err)
		}
	}
	record := trace.NewRecord(m)
	file.Append(&record, 0)
	if err := file.Close(); err != nil { // writes the queued records
		panic(err)
	}

	line, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	var read trace.Record
	if err := trace.NewDecoder().Decode(line[:len(line)-1], &read); err != nil {
		panic(err)
	}
	_, err = trace.NewReplayer().Replay(&read, nil)
	fmt.Println(read.ID, read.Outcome, read.Steps[1].Row, err)
	// Output: req_1 invalid_request T10 E5 <nil>
}
