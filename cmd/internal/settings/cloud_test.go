package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/deepinfra"
)

func loadPruner(t *testing.T, file string, env ...string) (Settings, error) {
	t.Helper()
	if file != "" {
		path := filepath.Join(t.TempDir(), "config.toml")
		require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
		env = append(env, "MCP_PRUNER_CONFIG="+path)
	}
	return LoadPruner(nil, FromEnv(env))
}

func TestPrunerDefaults(t *testing.T) {
	s, err := loadPruner(t, "")
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1", s.Access.Host)
	assert.Equal(t, 8006, s.Port)
	assert.Equal(t, 2_000_000, s.MaxInputChars)
	assert.Equal(t, 10*time.Minute, s.RecoveryTTL)
	assert.Nil(t, s.Cloud)
}

func TestFlagsWin(t *testing.T) {
	s, err := LoadPruner(map[string]string{"port": "1", "host": "::1"}, FromEnv([]string{"MCP_PRUNER_PORT=2", "MCP_PRUNER_HOST=localhost"}))
	require.NoError(t, err)
	assert.Equal(t, "::1", s.Access.Host)
	assert.Equal(t, 1, s.Port)
}

func TestBackendChoice(t *testing.T) {
	const file = "[mcp_pruner]\nbackend = \"deepinfra\"\n"
	for name, tc := range map[string]struct {
		file  string
		env   string
		cloud bool
	}{
		"nothing said":            {"", "", false},
		"environment":             {"", "deepinfra", true},
		"alias":                   {"", "Cloud", true},
		"unknown word":            {"", "openai", false},
		"file":                    {file, "", true},
		"environment beats file":  {file, "heuristic", false},
		"unknown word, file asks": {file, "openai", true},
		"file says heuristic":     {"[mcp_pruner]\nbackend = \"heuristic\"\n", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := loadPruner(t, tc.file, "KIMI_PRUNING_BACKEND="+tc.env)
			require.NoError(t, err)
			assert.Equal(t, tc.cloud, s.Cloud != nil)
		})
	}
}

func TestDeepInfraSettings(t *testing.T) {
	const file = `
other = 1
[mcp_pruner]
backend = "deepinfra"
deepinfra_timeout_ms = 111
deepinfra_max_docs = 5
cache_ttl_s = 7
cache_max_entries = 9
deepinfra_api_key = "sk-file"
[another.table]
x = "y"
`
	type values struct {
		timeout, ttl   time.Duration
		maxDocs, items int
		key            string
	}
	for name, tc := range map[string]struct {
		file string
		env  []string
		want values
	}{
		"defaults": {"", nil, values{20 * time.Second, 30 * time.Second, 64, 256, ""}},
		"file":     {file, nil, values{111 * time.Millisecond, 7 * time.Second, 5, 9, ""}},
		"environment": {file, []string{"DEEPINFRA_TIMEOUT_MS=222", "DEEPINFRA_MAX_DOCS=8", "MCP_PRUNER_CACHE_TTL_S=0", "MCP_PRUNER_CACHE_MAX_ITEMS=3", "DEEPINFRA_API_KEY=sk-env"},
			values{222 * time.Millisecond, 0, 8, 3, "sk-env"}},
		"alias":                {file, []string{"MCP_PRUNER_CACHE_MAX_ENTRIES=4"}, values{111 * time.Millisecond, 7 * time.Second, 5, 4, ""}},
		"name beats alias":     {file, []string{"MCP_PRUNER_CACHE_MAX_ENTRIES=4", "MCP_PRUNER_CACHE_MAX_ITEMS=6"}, values{111 * time.Millisecond, 7 * time.Second, 5, 6, ""}},
		"too many docs":        {file, []string{"DEEPINFRA_MAX_DOCS=100000"}, values{111 * time.Millisecond, 7 * time.Second, 512, 9, ""}},
		"too few docs":         {file, []string{"DEEPINFRA_MAX_DOCS=-1"}, values{111 * time.Millisecond, 7 * time.Second, 1, 9, ""}},
		"empty counts as none": {file, []string{"DEEPINFRA_MAX_DOCS="}, values{111 * time.Millisecond, 7 * time.Second, 5, 9, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := loadPruner(t, tc.file, append(tc.env, "KIMI_PRUNING_BACKEND=deepinfra")...)
			require.NoError(t, err)
			d := s.Cloud
			require.NotNil(t, d)
			assert.Equal(t, tc.want, values{d.Timeout, *d.CacheTTL, d.MaxDocs, *d.CacheMaxItems, d.Key})
			assert.Equal(t, deepinfra.DefaultEndpoint, d.Endpoint)
			assert.Equal(t, tc.file != "", len(s.Notes) > 0, "a key in the file is pointed out")
		})
	}
}

// A value of the wrong type costs nothing but itself.
func TestWrongTypesInTheFile(t *testing.T) {
	s, err := loadPruner(t, `[mcp_pruner]
backend = "deepinfra"
deepinfra_timeout_ms = "SECRET"
deepinfra_max_docs = 5
cache_ttl_s = 1.5
cache_max_entries = [1]
deepinfra_api_key = 5
`)
	require.NoError(t, err)
	require.NotNil(t, s.Cloud)
	assert.Equal(t, deepinfra.DefaultTimeout, s.Cloud.Timeout)
	assert.Equal(t, 5, s.Cloud.MaxDocs)
	assert.Equal(t, deepinfra.DefaultCacheTTL, *s.Cloud.CacheTTL)
	assert.Equal(t, deepinfra.DefaultCacheMaxItems, *s.Cloud.CacheMaxItems)
	assert.Len(t, s.Notes, 4)
	assert.NotContains(t, strings.Join(s.Notes, " "), "SECRET")

	s, err = loadPruner(t, "[mcp_pruner]\nbackend = 5\n")
	require.NoError(t, err)
	assert.Nil(t, s.Cloud)
	assert.Equal(t, []string{"the configuration file's backend is ignored: want heuristic, deepinfra or cloud"}, s.Notes)
}

// What concerns the cloud fails open: it is pointed out, and the rest is served.
func TestBadCloudSettingsAreNoted(t *testing.T) {
	s, err := loadPruner(t, "[mcp_pruner]\ndeepinfra_timeout_ms = 0\ncache_ttl_s = 7\n",
		"KIMI_PRUNING_BACKEND=deepinfra", "DEEPINFRA_MAX_DOCS=many", "MCP_PRUNER_CACHE_TTL_S=-1")
	require.NoError(t, err)
	assert.Equal(t, deepinfra.DefaultTimeout, s.Cloud.Timeout)
	assert.Equal(t, deepinfra.DefaultMaxDocs, s.Cloud.MaxDocs)
	assert.Equal(t, 7*time.Second, *s.Cloud.CacheTTL)
	assert.Len(t, s.Notes, 3)
	assert.Contains(t, s.Notes, `DEEPINFRA_MAX_DOCS="many" is ignored: want an integer`)
	assert.Contains(t, s.Notes[1], `MCP_PRUNER_CACHE_TTL_S="-1" is ignored: want an integer from 0 to`)
}

// A misspelled backend is pointed out, wherever it stands.
func TestUnknownBackendsAreNoted(t *testing.T) {
	s, err := loadPruner(t, "[mcp_pruner]\nbackend = \"deepinfr\"\n", "KIMI_PRUNING_BACKEND=clod")
	require.NoError(t, err)
	assert.Nil(t, s.Cloud)
	assert.Equal(t, []string{
		"the configuration file's backend is ignored: want heuristic, deepinfra or cloud",
		`KIMI_PRUNING_BACKEND="clod" is ignored: want heuristic, deepinfra or cloud`,
	}, s.Notes)
}

func TestBadFileIsNoted(t *testing.T) {
	for name, file := range map[string]string{
		"not TOML": "[mcp_pruner\nkey = \"SECRET\"",
		"no table": "mcp_pruner = \"SECRET\"\n",
	} {
		s, err := loadPruner(t, file)
		require.NoError(t, err, name)
		assert.Nil(t, s.Cloud, "nothing of a broken file counts")
		require.Len(t, s.Notes, 1, name)
		assert.Contains(t, s.Notes[0], "MCP_PRUNER_CONFIG", name)
		assert.NotContains(t, s.Notes[0], "SECRET", name)
	}
}
