//go:build unix

package verbs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
)

func statusOf(t *testing.T, state, input string, args ...string) string {
	t.Helper()
	code, stdout, stderr := runVerb(t, statusCommand, []string{"XDG_STATE_HOME=" + state, "PATH=/usr/bin:/bin"}, input, args...)
	require.Zero(t, code, stderr)
	require.Empty(t, stderr)
	return stdout
}

func TestStatusLine(t *testing.T) {
	state := t.TempDir()
	const input = `{"session_id":"s","model":{"id":"x"}}`
	require.Empty(t, statusOf(t, state, input), "nothing was cut")
	dir := filepath.Join(state, "mcp-pruner")
	at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	hook.AddNote(dir, hook.Note{Time: at, Client: "claude", Session: "s", ID: "prn_00000001", Tokens: 9000, Sent: 400})
	hook.AddNote(dir, hook.Note{Time: at, Client: "claude", Session: "other", ID: "prn_00000002", Tokens: 9000, Sent: 400})
	require.Equal(t, "mcp-pruner: 1 result cut, 8.6k tokens less\n", statusOf(t, state, input))
	hook.AddNote(dir, hook.Note{Time: at, Client: "claude", Session: "s", ID: "prn_00000003", Tokens: 120_000, Sent: 500})
	hook.AddNote(dir, hook.Note{Time: at, ID: "prn_00000003", Back: true, Sent: 700})
	hook.AddNote(dir, hook.Note{Time: at, ID: "prn_00000002", Back: true, Sent: 700})
	const line = "mcp-pruner: 2 results cut, 128k tokens less, 1 fetched again (700, and a further turn each)\n"
	require.Equal(t, line, statusOf(t, state, input))
	require.Equal(t, "mine "+input+"\n"+line, statusOf(t, state, input, "--first", `printf 'mine '; cat`), "the same input, and first")
	require.Equal(t, "fails\n"+line, statusOf(t, state, input, "--first", "printf fails; exit 3"))
	require.Equal(t, line, statusOf(t, state, input, "--first", "/no/such/program 2>/dev/null"))
	told := hook.ReadTold(dir, "s")
	told.Saved = &hook.GainPart{Net: 50_000, Pct: 3.14, Dollars: 0.25}
	told.Write(dir, "s")
	require.Contains(t, statusOf(t, state, input), "net +50.0k fresh input tokens (+3.1 %, +$0.25 at list price)")
	require.Contains(t, statusOf(t, state, `{"session_id":"s","rate_limits":{"five_hour":{"used_percentage":7}}}`), "net +50.0k fresh input tokens (+3.1 %)\n", "a subscriber")
	for _, bad := range []string{"", "no JSON", "{}", `{"session_id":7}`} {
		require.Empty(t, statusOf(t, state, bad), bad)
	}
}

func TestNoteLine(t *testing.T) {
	n := hook.Note{Time: time.Now(), Client: "claude", Tool: "Bash", ID: "prn_00000001", Tokens: 9000, Sent: 400, About: "go test"}
	require.Contains(t, noteLine(n), "claude Bash: 400 tokens instead of 9000  prn_00000001  go test")
	require.Contains(t, noteLine(hook.Note{Back: true, ID: "prn_00000001", Sent: 7}), "brought back prn_00000001: 7 tokens")
}

func TestGainIsCounted(t *testing.T) {
	g := &hook.Gain{Sessions: 1, Total: hook.GainPart{Results: 1, Again: 1, Cleared: 1, Net: 50_000, Pct: 3.14, Dollars: 0.25}, Days: map[string]hook.GainPart{}}
	for day := range 9 {
		g.Days[fmt.Sprintf("2026-11-0%d", day+1)] = hook.GainPart{Gross: 100, Clearing: 20, Rereads: 30, Net: 90, Pct: 4.5, Dollars: float64(day) - 3}
	}
	var out strings.Builder
	require.NoError(t, showGain(g, &out))
	require.Contains(t, out.String(), "Net +50.0k fresh input tokens (+3.1 %, +$0.25 at list price) in 1 session.\n1 result cut:")
	require.Contains(t, out.String(), "1 was fetched again")
	require.Contains(t, out.String(), "1 result cleared by the proxy")
	require.NotContains(t, out.String(), "2026-11-02", "the latest seven days")
	require.Regexp(t, `day +by cuts +by clearing +lost +net +of the bill +at list price *\n *2026-11-03 +\+100 +\+20 +30 +\+90 +\+4\.5 % +-\$1\.00`, out.String())
	require.Regexp(t, `2026-11-04 .* - *\n`, out.String(), "a price that is not known")
}

// TestGainNamesWhatLost: the undo that gain names is of the part that lost.
func TestGainNamesWhatLost(t *testing.T) {
	for part, total := range map[string]hook.GainPart{
		"hooks": {Results: 1, Gross: 10, Rereads: 90, Cleared: 1, Clearing: 20, Net: -60},
		"proxy": {Cleared: 27, Clearing: -4577, Net: -4577},
	} {
		var out strings.Builder
		require.NoError(t, showGain(&hook.Gain{Sessions: 1, Total: total}, &out))
		require.Contains(t, out.String(), `You lost: "mcp-pruner init CLIENT --`+part+` --uninstall" takes the `+part+" out.\n")
	}
}
