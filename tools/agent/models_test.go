package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCodexUses: which model Codex uses by its settings, and how it calls tools.
func TestCodexUses(t *testing.T) {
	list := []byte(`{"models":[{"slug":"hidden","visibility":"hide","priority":0},{"slug":"second","visibility":"list","priority":2},
{"slug":"first","visibility":"list","priority":1,"tool_mode":"code_mode_only"},{"slug":"first-direct","visibility":"list","priority":3}]}`)
	profile := func(model string) map[string]any {
		return map[string]any{"model": "second", "profile": "p", "profiles": map[string]any{"p": map[string]any{"model": model}}}
	}
	for name, c := range map[string]struct {
		config, profile map[string]any
		want            Model
	}{
		"the default":         {nil, nil, Model{"first", true, true}},
		"named":               {map[string]any{"model": "second"}, nil, Model{"second", false, false}},
		"not listed":          {map[string]any{"model": "mine"}, nil, Model{"mine", false, false}},
		"longer than listed":  {map[string]any{"model": "first-2026-11-01"}, nil, Model{"first-2026-11-01", false, true}},
		"the longest counts":  {map[string]any{"model": "first-direct-1"}, nil, Model{"first-direct-1", false, false}},
		"by a profile":        {profile("first"), nil, Model{"first", false, true}},
		"by a profile's file": {profile("first"), map[string]any{"model": "third"}, Model{"third", false, false}},
		"by a feature":        {map[string]any{"model": "second", "features": map[string]any{"code_mode_only": true}}, nil, Model{"second", false, true}},
	} {
		got, err := codexUses(list, func(file string) map[string]any {
			return map[string]map[string]any{"config.toml": c.config, "p.config.toml": c.profile}[file]
		})
		require.NoError(t, err)
		assert.Equal(t, c.want, got, name)
	}
	_, err := codexUses([]byte("no list"), nil)
	require.Error(t, err)
}
