package lineprune_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

func TestGap(t *testing.T) {
	for want, b := range map[string]lineprune.Block{
		"... 120-154":   {Start: 120, End: 154},
		"... 7":         {Start: 7, End: 7},
		"...998-1000":   {Start: 998, End: 1000},
		"...9041-12045": {Start: 9041, End: 12045},
	} {
		require.Equal(t, want, lineprune.Gap(b, 1))
		require.True(t, lineprune.IsMarker(want), want)
	}
	require.Equal(t, "... 46-47", lineprune.Gap(lineprune.Block{Start: 7, End: 8}, 40))
	for _, line := range []string{"...", "... and so on", "...args", "... 12-x", "... -3", "... 3 more"} {
		require.False(t, lineprune.IsMarker(line), line)
	}
}

// A marker names what begins in the range: first what encloses the lines after it, then the outermost.
func TestGapNamesWhatBeginsInIt(t *testing.T) {
	function := func(line, end, depth int, name string) structure.Opening {
		return structure.Opening{Line: line, End: end, Keyword: "func", Name: name, Depth: depth}
	}
	two := []structure.Opening{function(120, 130, 0, "Resolve"), {Line: 131, End: 143, Keyword: "type", Name: "ref"}}
	for want, b := range map[string]lineprune.Block{
		"... 117-143: func Resolve, type ref": {Start: 117, End: 143, Openings: two, Size: 900},
		"... 117-143":                         {Start: 117, End: 143, Openings: two, Size: 39},

		"... 5-90: func b +2":        {Start: 5, End: 90, Openings: []structure.Opening{function(5, 9, 0, "longNameOfFirst"), function(10, 20, 0, "second"), function(80, 95, 1, "b")}, Size: 900},
		"... 5-90: func a, c":        {Start: 5, End: 90, Openings: []structure.Opening{function(5, 9, 0, "a"), function(10, 20, 0, "a"), function(30, 40, 0, "c")}, Size: 900},
		"... 5-90: test_it_keeps...": {Start: 5, End: 90, Openings: []structure.Opening{{Line: 5, End: 9, Keyword: "def", Name: "test_it_keeps_everything_that_was_there_before"}}, Size: 900},

		`"... 5-9: alice, bob",`:       {Start: 5, End: 9, Place: lineprune.Element, Records: 2, Openings: []structure.Opening{{Line: 5, End: 6, Name: "alice"}, {Line: 7, End: 8, Name: "bob"}}, Size: 900},
		`"... 5-9": "scripts",`:        {Start: 5, End: 9, Place: lineprune.Member, Openings: []structure.Opening{{Line: 5, End: 6, Name: "scripts"}}, Size: 900},
		"# ... 5-9: services, volumes": {Start: 5, End: 9, Place: lineprune.Comment, Openings: []structure.Opening{{Line: 5, End: 6, Name: "services"}, {Line: 7, End: 8, Name: "volumes"}}, Size: 900},
	} {
		require.Equal(t, want, lineprune.Gap(b, 1))
		from, to, ok := lineprune.GapRange(want)
		require.True(t, ok && from == b.Start && to == b.End, want)
	}
	many := make([]structure.Opening, 1<<18) // comparing each with each would take minutes
	for i := range many {
		many[i] = function(i+1, i+1, 0, "f"+strconv.Itoa(i))
	}
	require.Equal(t, "...1-262144: f0 +262143", lineprune.Gap(lineprune.Block{Start: 1, End: len(many), Openings: many, Size: len(many)}, 1))
	require.Equal(t, "...: func Resolve, type ref", lineprune.NumberedGap(lineprune.Block{Start: 117, End: 143, Openings: two, Size: 900}))
}
