package replay

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where nobody can say what was missed, the JSON has null in place of a net, and why.
func TestNoNetIsNull(t *testing.T) {
	r := Report{Large: 40, Needed: 5, Policies: map[Policy]any{Hook: Pruning{Gross: 9, Net: 8}, GC: Clearing{Pruning: Pruning{Gross: 7}}},
		Details: map[Policy]Detail{Hook: {Interval: [2]float64{1, 2}}}}
	text, err := json.Marshal(r)
	require.NoError(t, err)
	var got struct {
		NoNet    string                    `json:"no_net"`
		Policies map[string]map[string]any `json:"policies"`
	}
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Contains(t, got.NoNet, "nobody can say")
	net, written := got.Policies["hook"]["net_pct"]
	assert.True(t, written)
	assert.Nil(t, net)
	assert.InDelta(t, 7, got.Policies["gc"]["gross_pct"], 1e-9)
	assert.Equal(t, [2]float64{1, 2}, r.Details[Hook].Interval, "the report itself is as it was")
	r.Needed = 50
	text, err = json.Marshal(r)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"net_pct":8`)

	for needed, order := range map[float64]int{5: 0, 50: 2} { // a page draws no net that nobody can say
		r.Needed = needed
		text, err = json.Marshal(r.Tab())
		require.NoError(t, err)
		var tab struct {
			Order    []string       `json:"order"`
			Classes  []any          `json:"classes"`
			Policies map[string]any `json:"policies"`
		}
		require.NoError(t, json.Unmarshal(text, &tab))
		assert.Len(t, tab.Order, order)
		assert.Len(t, tab.Classes, len(SizeClasses))
		assert.Len(t, tab.Policies, 2)
	}
}
