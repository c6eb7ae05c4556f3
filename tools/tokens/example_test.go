package tokens_test

import (
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

func ExampleEstimate() {
	fmt.Println(tokens.Estimate("func main() { fmt.Println(42) }"))
	// Output: 10
}
