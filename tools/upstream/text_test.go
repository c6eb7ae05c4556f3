package upstream

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Descriptions of megabytes are cut before anything else reads them.
func TestEndlessDescriptions(t *testing.T) {
	endless := strings.Repeat("😀", maxText)
	raw, err := json.Marshal(map[string]any{"tools": []any{map[string]any{"name": "alpha", "title": endless, "description": endless}}})
	require.NoError(t, err)
	list, _, err := ParseList("server", raw)
	require.NoError(t, err)
	want := endless[:maxText] + "…"
	require.Equal(t, []string{want, want}, []string{list[0].Title, list[0].Description})
	require.Equal(t, "alpha …", Shorten("alpha "+strings.Repeat(" ", maxText)+"beta", 2), "of a parameter")
}
