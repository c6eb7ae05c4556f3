package connect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfig(t *testing.T) {
	lookup := func(name string) (string, bool) {
		return map[string]string{"TOKEN": "s3cret"}[name], name == "TOKEN"
	}
	got, err := ReadConfig([]byte(`{"other":1,"mcpServers":{"b":{"command":"x","args":["${DIR:-/d}/y"],"type":"stdio"},
		"a":{"url":"https://h/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}},"off":{"command":"z","disabled":true}}}`), lookup)
	require.NoError(t, err)
	assert.Equal(t, []Config{
		{Name: "b", Command: "x", Args: []string{"/d/y"}},
		{Name: "a", URL: "https://h/mcp", Headers: map[string]string{"Authorization": "Bearer s3cret"}},
	}, got)
	for config, want := range map[string]string{
		`[]`: `the configuration is not JSON of the form {"mcpServers": {...}}`,
		`{}`: "the configuration has no server under mcpServers",
		`{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}`: "server a is there twice",
	} {
		_, err := ReadConfig([]byte(config), lookup)
		require.Error(t, err, config)
		assert.Contains(t, err.Error(), want)
	}
}

// TestAnEntryThatCannotBeUsedCostsItself reads configurations with one bad entry and one good one.
func TestAnEntryThatCannotBeUsedCostsItself(t *testing.T) {
	for entry, want := range map[string]string{
		`{"command":"x","args":["${subject.token:a}"]}`:   "in the values of env and headers only",
		`{"url":"https://h/${subject.token:a}"}`:          "in the values of env and headers only",
		`{"command":"x","env":{"A":"${subject.tokn:a}"}}`: "in the values of env and headers only",
		`{}`:                               "it has neither command nor url",
		`7`:                                "it cannot be read: the entry has to be an object, not a value of type number",
		`{"command":["x"]}`:                "it cannot be read: command has to be a text, not a value of type array",
		`{"command":"x","url":"http://h"}`: "it has both command and url",
		`{"url":"x"}`:                      "its url has to begin with http:// or https://",
		`{"command":"${NOPE}"}`:            "the variable NOPE is not set; set it or write ${NOPE:-default}",
	} {
		got, err := ReadConfig([]byte(`{"mcpServers":{"bad":`+entry+`,"good":{"command":"x"}}}`), func(string) (string, bool) { return "", false })
		require.NoError(t, err, entry)
		require.Len(t, got, 2)
		assert.Contains(t, got[0].Problem, want)
		assert.Equal(t, Config{Name: "good", Command: "x"}, got[1])

		s := New(got[0], Options{})
		_, err = s.connect(t.Context())
		require.ErrorContains(t, err, "its entry in the configuration cannot be used: ")
		assert.Contains(t, unavailable(got[0], err).Message, "the MCP server bad is not there: ")
		s.Close()
	}
}

func TestSecretsAreHidden(t *testing.T) {
	config := Config{URL: "https://me:hunter2@h/mcp?key=hunter3", Headers: map[string]string{"A": "Bearer hunter4"}}
	assert.Equal(t, "https://[hidden]@h/mcp?[hidden] [hidden] [hidden]",
		withoutSecrets("https://me:hunter2@h/mcp?key=hunter3 Bearer hunter4 hunter4", config))
	assert.Equal(t, `Post "https://h[hidden]": EOF`, withoutSecrets(`Post "https://h/s/hunter5/mcp": EOF`, Config{URL: "https://h/s/hunter5/mcp"}))
}

func TestTheLimitsOfConnections(t *testing.T) {
	for raw, want := range map[string]Limits{
		`{"mcpServers": {}}`: {},
		`{"connections": {"max": 1000, "max_each": 8, "idle_s": 60}}`: {1000, 8, time.Minute},
	} {
		limits, err := ReadLimits([]byte(raw))
		require.NoError(t, err)
		assert.Equal(t, want, limits)
	}
	for _, raw := range []string{`{"connections": {"max": -1}}`, `{"connections": {"idle_s": "5m"}}`} {
		_, err := ReadLimits([]byte(raw))
		assert.EqualError(t, err, "max, max_each and idle_s of connections have to be whole numbers of at least 1", raw)
	}
}
