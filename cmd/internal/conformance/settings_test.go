package conformance

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
)

func load(env map[string]string) error {
	_, _, err := settings.Load(settings.Stdio, nil, func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	})
	return err
}

// TestSettingsEqualTheDesign compares the names and defaults of the settings with the design, in both directions, and
// tries values inside and outside the allowed range.
func TestSettingsEqualTheDesign(t *testing.T) {
	_, entries, err := settings.Load(settings.Stdio, nil, func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	defaults := make(map[string]string)
	for _, e := range entries {
		defaults[e.Name] = e.Value
	}
	rows := readSpec(t, "settings.md").rows
	assert.Len(t, defaults, len(rows), "a setting is missing on one side")
	for _, row := range rows {
		name := row["setting"]
		have, known := defaults[name]
		require.True(t, known, "the code has no setting %s", name)
		assert.Equal(t, row["default"], have, name)
		for _, value := range strings.Fields(row["accepted"]) {
			assert.NoError(t, load(map[string]string{name: strings.TrimPrefix(value, "-")}))
		}
		for _, value := range strings.Fields(row["refused"]) {
			err := load(map[string]string{name: value})
			require.Error(t, err, "%s=%s", name, value)
			assert.Contains(t, err.Error(), name+`="`+value+`": want `, "the message names variable, value and what is allowed")
		}
	}
}

func TestEverySettingIsDocumented(t *testing.T) {
	requireDocumented(t, "settings.md", "CONFIG.md")
}

// requireDocumented requires that a page for users lists every transcribed setting with its default.
func requireDocumented(t *testing.T, spec, page string) {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/" + page)
	require.NoError(t, err)
	for _, row := range readSpec(t, spec).rows {
		want := "`" + row["default"] + "`"
		if row["default"] == "" {
			want = "unset"
		}
		assert.Contains(t, string(raw), "| `"+row["setting"]+"` | "+want+" |")
	}
}

func TestABadSettingShowsNoPassword(t *testing.T) {
	for _, value := range []string{"ftp://user:hunter2@host/", "http://u:hunter2@h:bad/", "u:hunter2@h"} {
		err := load(map[string]string{"PRUNER_URL": value})
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "hunter2")
		assert.Contains(t, err.Error(), "xxxxx@h")
	}
}
