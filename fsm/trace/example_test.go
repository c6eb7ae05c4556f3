package trace_test

import (
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// Each record names its table by hash, and the program contains an archive of all tables.
func ExampleArchiveName() {
	table, err := trace.DecodeTable(trace.EncodeTable(fsm.RequestTable()))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Name, trace.ArchiveName(table) == trace.ArchiveName(fsm.RequestTable()))
	// Output: request true
}
