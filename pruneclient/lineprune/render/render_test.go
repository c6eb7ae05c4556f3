package render_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/render"
)

func TestGap(t *testing.T) {
	for want, b := range map[string]render.Block{
		"... 120-154":   {Start: 120, End: 154},
		"... 7":         {Start: 7, End: 7},
		"...998-1000":   {Start: 998, End: 1000},
		"...9041-12045": {Start: 9041, End: 12045},
	} {
		require.Equal(t, want, render.Gap(b, 1))
		require.True(t, render.IsMarker(want), want)
	}
	require.Equal(t, "... 46-47", render.Gap(render.Block{Start: 7, End: 8}, 40))
	for _, line := range []string{"...", "... and so on", "...args", "... 12-x", "... -3", "... 3 more"} {
		require.False(t, render.IsMarker(line), line)
	}
}
