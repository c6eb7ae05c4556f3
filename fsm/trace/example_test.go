package trace_test

import (
	"fmt"

	"mcp-pruner/fsm"
	"mcp-pruner/fsm/trace"
)

// A trace names the table of each record, and tables are archived beside the program.
func ExampleArchiveName() {
	table, err := trace.DecodeTable(trace.EncodeTable(fsm.RequestTable()))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Name, trace.ArchiveName(table) == trace.ArchiveName(fsm.RequestTable()))
	// Output: request true
}
