package planner_test

import (
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
)

// Old results are cleared once that pays off.
func ExampleSession() {
	s := planner.NewSession(planner.DefaultPolicy())
	cleared := 0
	for range 40 {
		s.Result(4000, "", false)
		decision := planner.DefaultPolicy().Decide(s.Window(false))
		cleared += len(decision.Clear)
		s.Call(decision.Clear, false)
	}
	fmt.Println(cleared > 0)
	// Output: true
}
