package initcmd

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated checks that all plugins start the hook from the same length, and that the page of opencode states it.
func TestStated(t *testing.T) {
	for _, c := range []agent.Client{agent.Opencode, agent.Kilo, agent.Cline, agent.Pi} {
		assert.Contains(t, c.Hooks.Plugin, "text.length < shortestOutput", c.Name)
	}
	m := regexp.MustCompile(`shortestOutput = (\d+)`).FindStringSubmatch(setup.Plugin("opencode", agent.Opencode.Hooks.Plugin, "mcp-pruner"))
	require.NotNil(t, m)
	shortest, err := strconv.Atoi(m[1])
	require.NoError(t, err)
	page := stated.On(t, "docs/clients/opencode.md")
	page.Says("for each result of %s characters and more", "shortestOutput of ask.js", shortest)
}
