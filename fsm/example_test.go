package fsm_test

import (
	"context"
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// A request with invalid arguments takes two rows of the table.
func Example() {
	m := fsm.MustCompile(fsm.RequestTable()).New("req_1", fsm.Hooks{})
	for _, trigger := range []fsm.Trigger{fsm.Accept, fsm.ArgumentsInvalid} {
		if err := m.Fire(context.Background(), trigger, nil); err != nil {
			fmt.Println(err)
		}
	}
	for _, s := range m.Steps() {
		fmt.Println(s.From, "->", s.To)
	}
	// Output:
	// req:received -> req:validating
	// req:validating -> req:invalid_request
}
