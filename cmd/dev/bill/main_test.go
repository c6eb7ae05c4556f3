package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// Some parts of the page are written by hand. A change of their sources must also be made in the page.
func TestPageHasTheTextsOfItsSources(t *testing.T) {
	page, err := os.ReadFile("../../../docs/evidence/BILL.md")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(page), head), "head.md")
	require.True(t, strings.HasSuffix(string(page), goals), "goals.md")
	require.True(t, strings.Contains(string(page), repositoriesHead), "repositoriesHead")
	require.True(t, strings.Contains(string(page), askingHead), "askingHead")
}

// The table of the README is replaced as a whole, and nothing else but the number of sessions.
func TestTableOfTheReadme(t *testing.T) {
	p := page{reports: map[string]replay.Report{}, only: map[string]replay.Report{}}
	want := ""
	for i, one := range sets {
		if one.readme == "" {
			continue
		}
		report := func(net float64) replay.Report {
			policies := map[replay.Policy]any{}
			for _, policy := range []replay.Policy{replay.Hook, replay.MCP, replay.All} {
				policies[policy] = replay.Pruning{Net: net, Misses3: 3, Median: 2, Losing: 4}
			}
			return replay.Report{Sessions: 10 + i, Policies: policies}
		}
		p.reports[one.name], p.only[one.name] = report(1), report(-9)
		want += fmt.Sprintf("| %d %s | **+1.0** | +3.0 | +2.0 | 4 %% | +1.0 | +1.0 | -9.0 |\n", 10+i, one.readme)
	}
	got := p.inReadme("# A\nof 585 recorded sessions\n\n| sessions | hooks save | x |\n|---|\n| 1 old | 2 |\n\n| another | table |\n")
	require.Equal(t, "# A\nof 62 recorded sessions\n\n"+readmeHead+want+"\n| another | table |\n", got)
}
