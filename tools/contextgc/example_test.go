package contextgc_test

import (
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Old results are cleared once that pays off.
func ExamplePlanner() {
	s := contextgc.NewPlanner(contextgc.DefaultPolicy())
	cleared := 0
	for range 40 {
		s.Add(contextgc.Item{Kind: contextgc.KindCommand, Tokens: 4000, Stub: 25})
		decision := contextgc.DefaultPolicy().Decide(s.Window(s.Sent()))
		cleared += len(decision.Clear)
		s.Call(decision.Clear, s.Sent())
	}
	fmt.Println(cleared > 0)
	// Output: true
}
