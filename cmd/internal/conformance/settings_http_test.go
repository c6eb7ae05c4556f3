package conformance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
)

func loadHTTP(flags, env map[string]string) (settings.Settings, map[string]settings.Entry, error) {
	s, entries, err := settings.Load(settings.HTTP, flags, func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	})
	byName := make(map[string]settings.Entry)
	for _, e := range entries {
		byName[e.Name] = e
	}
	return s, byName, err
}

// TestHTTPSettingsEqualTheDesign compares the names and defaults of the HTTP settings with the design, in both
// directions.
func TestHTTPSettingsEqualTheDesign(t *testing.T) {
	_, entries, err := loadHTTP(nil, nil)
	require.NoError(t, err)
	want := make(map[string]string)
	for _, row := range readSpec(t, "settings.md").rows {
		want[row["setting"]] = row["default"]
	}
	for _, row := range readSpec(t, "settings-http.md").rows {
		delete(want, row["shared"])
		want[row["setting"]] = row["default"]
	}
	have := make(map[string]string)
	for name, e := range entries {
		have[name] = e.Value
	}
	assert.Equal(t, want, have)
}

func TestHTTPSettingsAreChecked(t *testing.T) {
	for _, row := range readSpec(t, "settings-http.md").rows {
		for _, value := range strings.Fields(row["accepted"]) {
			_, _, err := loadHTTP(nil, map[string]string{row["setting"]: strings.TrimPrefix(value, "-")})
			assert.NoError(t, err, "%s=%s", row["setting"], value)
		}
		for _, value := range strings.Fields(row["refused"]) {
			_, _, err := loadHTTP(nil, map[string]string{row["setting"]: value})
			assert.ErrorContains(t, err, row["error"]+": "+row["setting"]+`="`+value+`": want `)
			if row["flag"] == "" {
				continue
			}
			_, _, err = loadHTTP(map[string]string{row["flag"]: value}, nil)
			assert.ErrorContains(t, err, row["error"]+": --"+row["flag"]+`="`+value+`": want `)
		}
	}
}

// TestWhichHTTPSettingWins proves that a flag has priority over the variable of the HTTP design, and that variable has
// priority over the one that both servers share.
func TestWhichHTTPSettingWins(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	env := map[string]string{"PRUNER_URL": "http://shared/", "PRUNER_TIMEOUT_MS": "60000", "MCP_PRUNER_CWD": other}
	s, entries, err := loadHTTP(nil, env)
	require.NoError(t, err, "the shared variable keeps its own range")
	assert.Equal(t, []any{"http://shared/", "1m0s", other}, []any{s.PrunerURL, s.PrunerTimeout.String(), s.Root})
	assert.Equal(t, "environment", entries["PRUNER_URL"].Source)
	assert.NotContains(t, entries, "JEEVES_PRUNER_ENDPOINT", "one entry for a setting")

	env["JEEVES_PRUNER_ENDPOINT"], env["JEEVES_PRUNER_TIMEOUT_MS"] = "http://jeeves/", "500"
	env["JEEVES_MCP_PRUNER_ROOT_DIR"], env["JEEVES_MCP_PRUNER_PORT"] = other, "8007"
	s, entries, err = loadHTTP(map[string]string{"root": root}, env)
	require.NoError(t, err)
	assert.Equal(t, []any{"http://jeeves/", "500ms", root, 8007}, []any{s.PrunerURL, s.PrunerTimeout.String(), s.Root, s.Port})
	assert.Equal(t, "flag", entries["JEEVES_MCP_PRUNER_ROOT_DIR"].Source)
	assert.NotContains(t, entries, "PRUNER_URL")
}

// TestAShadowedSettingIsNotChecked proves that an overridden variable may have any value: it may be meant for another
// program.
func TestAShadowedSettingIsNotChecked(t *testing.T) {
	_, _, err := loadHTTP(nil, map[string]string{"PRUNER_URL": "nonsense", "JEEVES_PRUNER_ENDPOINT": "http://jeeves/"})
	assert.NoError(t, err)
}

func TestEveryHTTPSettingIsDocumented(t *testing.T) {
	requireDocumented(t, "settings-http.md", "CONFIG.md")
}
