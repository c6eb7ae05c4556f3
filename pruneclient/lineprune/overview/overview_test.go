package overview_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/overview"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/query"
)

func TestWhatQuestionsWant(t *testing.T) {
	for question, want := range map[string]overview.Want{
		"give me an overview of this file":                         overview.Outline,
		"What does this file do?":                                  overview.Outline,
		"summarize this module":                                    overview.Outline,
		"list all functions":                                       overview.Outline,
		"what is this document about":                              overview.Outline,
		"are there any bugs":                                       overview.Judged,
		"is this code correct?":                                    overview.Judged,
		"review this file":                                         overview.Judged,
		"how many orders came from JP":                             overview.Computed,
		"which order has the highest amount":                       overview.Computed,
		"what is the average latency per region":                   overview.Computed,
		"list all customers in France":                             overview.Extent,
		"overview of the websocket handshake":                      overview.Passage,
		"where is the retry limit configured":                      overview.Passage,
		"what does order 4711 contain":                             overview.Passage,
		"why did the tests fail":                                   overview.Passage,
		"where is the code that reviews pull requests for malware": overview.Passage,
	} {
		require.Equal(t, want, overview.Of(query.Parse(question)), question)
	}
}
