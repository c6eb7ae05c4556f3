package service_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
)

// both decodes JSON the two ways transports do: numbers as spelled, and as float64.
func both(t *testing.T, raw string) []map[string]any {
	t.Helper()
	var spelled, floats map[string]any
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&spelled))
	if json.Unmarshal([]byte(raw), &floats) != nil {
		return []map[string]any{spelled} // a number no float64 can hold
	}
	return []map[string]any{spelled, floats}
}

func TestParseCode(t *testing.T) {
	for _, args := range both(t, `{"query":"q","code":"c","threshold":0.7,"always_keep_first_frags":true,"chunk_overlap_tokens":50}`) {
		a, bad := service.ParseCode(args)
		require.Empty(t, bad)
		threshold := 0.7
		assert.Equal(t, service.CodeArgs{Query: "q", Code: "c", Threshold: &threshold, KeepFirst: true}, a)
	}
	_, bad := service.ParseCode(map[string]any{"code": 1, "threshold": "x", "always_keep_first_frags": "x"})
	assert.Equal(t, []service.Detail{
		{Type: "missing", Loc: []string{"body", "query"}, Msg: "Field required"},
		{Type: "string_type", Loc: []string{"body", "code"}, Msg: "Input should be a valid string"},
		{Type: "float_parsing", Loc: []string{"body", "threshold"}, Msg: "Input should be a valid number"},
		{Type: "bool_parsing", Loc: []string{"body", "always_keep_first_frags"}, Msg: "Input should be a valid boolean"},
	}, bad)
}

func FuzzParseCode(f *testing.F) {
	f.Add(`{"query":"q","code":"c","threshold":"1e999","always_keep_first_frags":1}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var args map[string]any
		dec := json.NewDecoder(strings.NewReader(raw))
		dec.UseNumber()
		if dec.Decode(&args) != nil {
			return
		}
		if a, bad := service.ParseCode(args); len(bad) == 0 && a.Threshold != nil {
			require.False(t, *a.Threshold != *a.Threshold, "NaN")
		}
	})
}
