package audit_test

import (
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
)

// A trace is verified, then summarized.
func Example() {
	err := audit.Open([]string{"../../../testdata/audit/requests.jsonl"}, nil, func(files []*audit.Source) error {
		trace, err := audit.Verify(files, audit.Options{})
		if err != nil {
			return err
		}
		sums, err := trace.Summarize(audit.Selection{Tool: "bash"}, nil)
		if err != nil {
			return err
		}
		fmt.Println("in order:", trace.Verdict().OK)
		fmt.Println(sums.Stats.Requests, "calls of bash saved", sums.Stats.Saved.Net, "tokens")
		return nil
	})
	fmt.Println(err)
	// Output:
	// in order: true
	// 6 calls of bash saved 1982 tokens
	// <nil>
}
