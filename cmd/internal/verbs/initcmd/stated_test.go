package initcmd

import (
	"os"
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

// TestWorthIsWhatTheBillSays holds the sentences that init --mcp prints against the tables of docs/evidence/BILL.md: how many sessions lose
// beside a client's tools, and what is saved without these, on Claude Code's sessions.
func TestWorthIsWhatTheBillSays(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/evidence/BILL.md")
	require.NoError(t, err)
	numbers := func(row string) (found []float64) {
		for _, m := range regexp.MustCompile(row).FindAllStringSubmatch(string(page), -1) {
			n, err := strconv.ParseFloat(m[1], 64)
			require.NoError(t, err)
			found = append(found, n)
		}
		return found
	}
	lose := numbers(`(?m)^\| mcp \| [-+\d.].* \| (\d+) % \|$`)
	require.NotEmpty(t, lose)
	most := 0
	for _, n := range lose {
		if n > 50 {
			most++
		}
	}
	assert.Greater(t, most, len(lose)/2, "most sessions lose")
	only := numbers(`(?m)^\| claude-code-3 \| the only tools \| reads and searches \| [\d.]+ \| [\d.]+ \| 0\.0 \| \+?(-?[\d.]+) `)
	require.Len(t, only, 1)
	assert.Positive(t, only[0])
}
