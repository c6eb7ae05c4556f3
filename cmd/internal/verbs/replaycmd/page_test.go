package replaycmd

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// losingReport is a report in which pruning gains with some tools and sessions and loses with others.
func losingReport() replay.Report {
	tools := map[string]replay.Group{"mcp__a_server_with_a_long_name__a_tool_with_a_long_name": {Net: -3.5}, "worst": {Net: -9}, "even": {}}
	for i := range 9 {
		tools["gain "+strconv.Itoa(i)] = replay.Group{Net: float64(i) / 4}
	}
	return replay.Report{
		Sessions: 5, Bill: 1000, Share: map[string]float64{"Read": 30, "Bash": 12.5}, Sizes: map[string]float64{"20k+": 3, "under 1k": 20},
		Policies: map[replay.Policy]any{replay.Hook: replay.Pruning{Gross: 5, Net: -4.25, Misses2: -9, Misses3: -14, Median: -1, P10: -20, P90: 6, Losing: 60}},
		Details: map[replay.Policy]replay.Detail{replay.Hook: {Markers: .25, Misses: 9, Pruned: 7, Missed: 3, Tools: tools,
			PerSession: []float64{-30, -8, -1, 2, 12}}},
	}
}

var shownBar = regexp.MustCompile(`<span class="name">([^<]*)</span><span class="bar"><i class="(\w*)" style="left:([\d.-]+)%;width:([\d.-]+)%"></i>` +
	`(?:<b style="left:([\d.-]+)%"></b>)?</span><span class="value">([^<]*)</span>`)

// TestLossesAreDrawnAsLosses checks on the page that losses lie left of the zero line and gains right of it, each with its
// class and sign, and that nothing is drawn outside of the plot.
func TestLossesAreDrawnAsLosses(t *testing.T) {
	var page strings.Builder
	require.NoError(t, writePage(&page, losingReport()))
	found := shownBar.FindAllStringSubmatch(page.String(), -1)
	require.Len(t, found, 2+len(replay.SizeClasses)+8+mostGroups)
	seen := map[string]string{}
	for _, m := range found {
		number := func(i int) float64 {
			x, err := strconv.ParseFloat(m[i], 64)
			require.NoError(t, err, m[0])
			return x
		}
		left, width := number(3), number(4)
		assert.GreaterOrEqual(t, left, -0.01, m[0])
		assert.LessOrEqual(t, left+width, 100.01, m[0])
		seen[m[1]] = m[2] + " " + m[6]
		if m[2] == "" {
			continue
		}
		zero := number(5)
		if strings.HasPrefix(m[6], "-") {
			assert.Equal(t, "loss", m[2], m[0])
			assert.InDelta(t, zero, left+width, 0.02, m[0])
			continue
		}
		assert.Equal(t, "gain", m[2], m[0])
		assert.InDelta(t, zero, left, 0.02, m[0])
	}
	assert.Equal(t, "loss -4.25 %", seen["net"])
	assert.Equal(t, "loss -9.00 %", seen["misses"])
	assert.Equal(t, "loss -9.00 %", seen["worst"], "the largest losses are among the tools shown")
	assert.Equal(t, "gain &#43;0.00 %", seen["questions"], "nothing is no loss")
	assert.Contains(t, page.String(), `<polyline class="loss" points="0.0,160.0 160.0,76.2 320.0,49.5 373.3,45.7"/><polyline class="gain" points="373.3,45.7 480.0,38.1 640.0,0.0"/>`)
}
