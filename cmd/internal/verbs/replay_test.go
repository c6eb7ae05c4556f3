package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
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
	var stdout, stderr bytes.Buffer
	require.Equal(t, 0, replayVerb(&stdout, &stderr, "--json", replaySample), stderr.String())
	var got struct {
		Sessions int                           `json:"sessions"`
		Bill     float64                       `json:"bill"`
		Share    map[string]float64            `json:"share_pct"`
		Limit    map[string]float64            `json:"limit_pct"`
		Policies map[string]map[string]float64 `json:"policies"`
	}
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &got))
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
	var stdout, stderr bytes.Buffer
	require.Equal(t, 0, replayVerb(&stdout, &stderr, replaySample, "--policy", "hook", "--html", page), stderr.String())
	require.Contains(t, stdout.String(), "policy")
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.True(t, bytes.Contains(html, []byte(`"replay":{"sessions":1,`)), "the model is in the page")
	stdout.Reset()
	require.Equal(t, 0, replayVerb(&stdout, &stderr, "--explain", "s1", replaySample))
	require.Contains(t, stdout.String(), "40 x 1 + 42600 x 1.25 + 22000 x 0.1 + 80 x 5 = 55890.0")
	require.Contains(t, stdout.String(), "definitions = 760 x 2.70, the weights of 1 contexts")
	require.Regexp(t, `(?m)^4 +6 +edit +42 +\d+ +2\.60 +21010 +\d+\.\d$`, stdout.String(), "every term of a miss")
	require.Regexp(t, `(?m)^4 +15 +2\.60 +114\.0$`, stdout.String(), "the question: 15 x (5 + 2.6)")
}

func TestReplayListsThePrices(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, 0, replayVerb(&stdout, &stderr, "--prices", "list"), stderr.String())
	require.Regexp(t, `(?m)^fable +5\.1 +1 +1\.25 +2 +0\.025 +5 +2\.26 +counted, bound +2026-11`, stdout.String())
	require.Contains(t, stdout.String(), "above 272000: input x 2, output x 1.5")
}

func TestWrongUsageOfReplay(t *testing.T) {
	for _, args := range [][]string{{"--policy", "none"}, {"--prices", "x=1"}, {"--prices", "input=-1"}, {"--unknown"}, {"--json", "--explain", "x"}} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, 2, replayVerb(&stdout, &stderr, args...), args)
		require.Empty(t, stdout.String())
	}
	var stdout, stderr bytes.Buffer
	require.Equal(t, 1, replayVerb(&stdout, &stderr, filepath.Join(t.TempDir(), "none")))
}

func replayVerb(stdout, stderr *bytes.Buffer, args ...string) int {
	p := command.Process{Args: args, Stdout: stdout, Stderr: stderr}
	return command.Verb(context.Background(), replayCommand(p), p)
}
