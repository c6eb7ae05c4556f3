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
		s.Add(planner.Item{Kind: planner.Command, Tokens: 4000, Stub: 25})
		decision := planner.DefaultPolicy().Decide(s.Window(s.Sent()))
		cleared += len(decision.Clear)
		s.Call(decision.Clear, s.Sent())
	}
	fmt.Println(cleared > 0)
	// Output: true
}
