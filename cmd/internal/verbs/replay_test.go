package verbs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
)

// replaySample is a session with a large read, a message about it, and an edit of one of its lines.
const replaySample = "../../../states/replay/testdata/sample.jsonl"

func TestTranscriptsOfThisMachine(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	paths, err := initcmd.Transcripts(func(name string) (string, bool) { return home, name == "HOME" })
	require.NoError(t, err)
	require.Equal(t, []string{dir}, paths)
	data := filepath.Join(home, ".local", "share", "opencode")
	require.NoError(t, os.MkdirAll(filepath.Join(data, "storage", "session"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(data, "repos", "opencode.db"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(data, "opencode.db"), nil, 0o600))
	paths, err = initcmd.Transcripts(func(name string) (string, bool) { return home, name == "HOME" })
	require.NoError(t, err)
	require.Equal(t, []string{dir, filepath.Join(data, "opencode.db"), filepath.Join(data, "storage", "session")}, paths)
	_, err = initcmd.Transcripts(func(string) (string, bool) { return "", false })
	require.ErrorContains(t, err, "HOME is not set")
}

// TestReplayJSON checks the contract of SPEC part J.
func TestReplayJSON(t *testing.T) {
	code, stdout, stderr := runVerb(t, replayCommand, nil, "", "--json", replaySample)
	require.Zero(t, code, stderr)
	var got struct {
		Sessions int                           `json:"sessions"`
		Bill     float64                       `json:"bill"`
		Share    map[string]float64            `json:"share_pct"`
		Limit    map[string]float64            `json:"limit_pct"`
		Policies map[string]map[string]float64 `json:"policies"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Equal(t, 1, got.Sessions)
	require.Positive(t, got.Bill)
	require.Positive(t, got.Share["Read"])
	require.Greater(t, got.Limit["keep10"], got.Limit["keep30"])
	for _, policy := range []string{"hook", "mcp", "proxy", "gc", "context", "hook+gc", "all"} {
		for _, key := range []string{"gross_pct", "net_pct", "net_pct_wide", "net_pct_misses2", "net_pct_misses3", "median_pct", "p10_pct", "p90_pct", "losing_pct"} {
			require.Contains(t, got.Policies[policy], key, policy)
		}
	}
	for _, key := range []string{"input_pct", "reread_pct", "worst_session_pct", "fixed_rule_pct", "fixed_rule_worst_session_pct"} {
		require.Contains(t, got.Policies["gc"], key)
	}
}

func TestReplayTextExplainAndPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "report.html")
	code, stdout, stderr := runVerb(t, replayCommand, nil, "", replaySample, "--policy", "hook", "--html", page)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "policy")
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.True(t, bytes.Contains(html, []byte(`"replay":{"sessions":1,`)), "the model is in the page")
	code, stdout, _ = runVerb(t, replayCommand, nil, "", "--explain", "s1", replaySample)
	require.Zero(t, code)
	require.Contains(t, stdout, "40 x 1 + 42600 x 1.25 + 22000 x 0.1 + 80 x 5 = 55890.0")
	require.Contains(t, stdout, "definitions = 760 x 2.70, the weights of 1 contexts")
	require.Regexp(t, `(?m)^4 +6 +edit +42 +\d+ +2\.60 +21010 +\d+\.\d$`, stdout, "every term of a miss")
	require.Regexp(t, `(?m)^4 +15 +2\.60 +114\.0$`, stdout, "the question: 15 x (5 + 2.6)")
}

func TestReplayListsThePrices(t *testing.T) {
	code, stdout, stderr := runVerb(t, replayCommand, nil, "", "--prices", "list")
	require.Zero(t, code, stderr)
	require.Regexp(t, `(?m)^fable +5\.1 +1 +1\.25 +2 +0\.025 +5 +2\.26 +counted, bound +2026-11`, stdout)
	require.Contains(t, stdout, "above 272000: input x 2, output x 1.5")
}

func TestWrongUsageOfReplay(t *testing.T) {
	for _, args := range [][]string{{"--policy", "none"}, {"--prices", "x=1"}, {"--prices", "input=-1"}, {"--unknown"}, {"--json", "--explain", "x"}} {
		code, stdout, _ := runVerb(t, replayCommand, nil, "", args...)
		require.Equal(t, 2, code, args)
		require.Empty(t, stdout)
	}
	code, _, _ := runVerb(t, replayCommand, nil, "", filepath.Join(t.TempDir(), "none"))
	require.Equal(t, 1, code)
}
