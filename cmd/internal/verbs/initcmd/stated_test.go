package initcmd

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The length from which opencode's plugin starts the hook is as stated.
func TestStated(t *testing.T) {
	m := regexp.MustCompile(`text\.length < (\d+)`).FindStringSubmatch(agent.Opencode.Hooks.Plugin)
	require.NotNil(t, m)
	least, err := strconv.Atoi(m[1])
	require.NoError(t, err)
	page := stated.On(t, "docs/clients/opencode.md")
	page.Says("for each result of %s characters and more", "text.length of opencode.js", least)
}
