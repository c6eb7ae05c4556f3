package pruneclient_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient"
)

// A text with little to leave out comes back whole, with the reason.
func ExampleEmbedded() {
	pruner := pruneclient.NewEmbedded(0)
	res, err := pruner.Prune(context.Background(), pruneclient.Request{Question: "which port", Text: "port = 8005\n", File: "a.toml"})
	fmt.Println(strings.TrimSpace(res.Text), err)
	// Output: port = 8005 <nil>
}
