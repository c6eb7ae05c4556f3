package existing

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
)

// The id in a header is found again, whatever the header says, and in no other text.
func TestCutID(t *testing.T) {
	for _, c := range []Cut{{Kept: []int{1}, Total: 9}, {Kept: []int{1}, Total: 9, Kind: lineprune.Grep}, {Total: 9, Kind: lineprune.Logs}, {Kept: []int{1}, Total: 9, Repeats: true}} {
		assert.Equal(t, "prn_3ddf8b97", CutID(Header(c, ExampleWay)+"\nline\n"), Header(c, ExampleWay))
	}
	for _, text := range []string{"", "line\n" + Header(Cut{Kept: []int{1}, Total: 9}, ExampleWay), "[1 of 9 lines; rest: `x`]", "[cleared: 9 tokens; `mcp-pruner recover prn_3ddf8b97` prints them]"} {
		assert.Empty(t, CutID(text), text)
	}
}
