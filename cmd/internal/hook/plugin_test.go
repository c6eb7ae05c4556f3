package hook

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

var updatePlugin = flag.Bool("update", false, "write the hooks of plugin/claude")

// A hook that a client ends has printed nothing and has cost its whole time: the client waits longer than a hook takes at most.
func TestClientsWaitForAHook(t *testing.T) {
	for _, c := range agent.Clients {
		if c.Hooks == nil {
			continue
		}
		for _, e := range c.Hooks.Events {
			within := time.Duration(e.Timeout) * time.Second
			if e.Timeout >= 1000 { // some clients count milliseconds
				within = time.Duration(e.Timeout) * time.Millisecond
			}
			assert.Equal(t, 5*time.Second, within, "%s %s", c.Name, e.Name)
			assert.Greater(t, within, 2*longest, "%s %s", c.Name, e.Name)
		}
	}
}

// The plugin has the hooks that init writes: the same events, matchers and timeouts.
func TestThePluginsHooks(t *testing.T) {
	const file = "../../../plugin/claude/hooks/hooks.json"
	type entry struct {
		Matcher string           `json:"matcher,omitempty"`
		Hooks   []map[string]any `json:"hooks"`
	}
	events := map[string][]entry{}
	for _, e := range agent.Named("claude").Hooks.Events {
		run := map[string]any{"type": "command", "command": `"${CLAUDE_PLUGIN_ROOT}/run" hook claude`, "timeout": e.Timeout}
		events[e.Name] = append(events[e.Name], entry{e.Matcher, []map[string]any{run}})
	}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(map[string]any{"hooks": events}))
	if *updatePlugin {
		require.NoError(t, os.WriteFile(file, want.Bytes(), 0o600))
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.JSONEq(t, want.String(), string(have), "go test ./cmd/internal/hook -update")
}
