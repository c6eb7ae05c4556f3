package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// Some parts of the page are written by hand. A change of their sources must also be made in the page.
func TestPageHasTheTextsOfItsSources(t *testing.T) {
	page, err := os.ReadFile("../../../docs/evidence/BILL.md")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(page), head), "head.md")
	require.True(t, strings.HasSuffix(string(page), goals), "goals.md")
	for _, text := range []string{bySetHead, todayHead, groupsHead, goalsHead, askingHead} {
		require.Contains(t, string(page), text)
	}
}

// The newest sets stand first, and each has its age and the model as which it is judged once more.
func TestSetsAreOrderedByAge(t *testing.T) {
	for i, one := range sets {
		require.NotEmpty(t, one.ended, one.name)
		require.NotEmpty(t, one.model, one.name)
		if i > 0 {
			require.GreaterOrEqual(t, sets[i-1].ended+"-99", one.ended, one.name)
		}
	}
	require.Equal(t, "2026, first half", named("codex").halfYear(sessions.Session{}))
	require.Equal(t, "2026, second half", named("codex").halfYear(sessions.Session{Begun: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)}))
	require.Equal(t, "2025", named("mini-swe").halfYear(sessions.Session{}))
	require.Equal(t, "entireio/git-sync", named("codex-2").repository(sessions.Session{Source: "codex", Project: "/home/user/gitsync"}))
	require.Equal(t, "entireio/git-sync", named("claude-code-3").repository(sessions.Session{Source: "entireio/git-sync"}))
}

// Only the last three cells of each row of the README's table are replaced.
func TestTableOfTheReadme(t *testing.T) {
	p := page{then: newTable()}
	for i, client := range columns {
		*sum(p.then.clients, client) = figures{bill: 200, net: map[replay.Policy]float64{replay.GC: float64(20 * i), replay.Context: 1, replay.Hook: -4}}
	}
	text := "# A\n\n| | Claude Code | Codex | opencode |\n|---|---|---|---|\n| **Clearing** old results | +1.0 | +2.0 | 3 |\n" +
		"| **Prefix**: off | `context --apply` | +1 | +2 | +3 |\n| **Hooks** | a | b | c |\n\n| b |\n"
	got, err := p.inReadme(text)
	require.NoError(t, err)
	require.Equal(t, "# A\n\n| | Claude Code | Codex | opencode |\n|---|---|---|---|\n| **Clearing** old results | +0.0 | +10.0 | +20.0 |\n"+
		"| **Prefix**: off | `context --apply` | +0.5 | +0.5 | +0.5 |\n| **Hooks** | -2.0 | -2.0 | -2.0 |\n\n| b |\n", got)
	_, err = p.inReadme("# A\n")
	require.ErrorContains(t, err, "Clearing")
}
