package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// listing returns a read of n lines in the form of Claude Code, with a function every few lines.
func listing(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		switch {
		case i%10 == 1:
			fmt.Fprintf(&b, "%6d→func step%d(input []byte) error {\n", i, i)
		case i%10 == 9:
			fmt.Fprintf(&b, "%6d→}\n", i)
		case i%10 == 0:
			fmt.Fprintf(&b, "%6d→\n", i)
		default:
			fmt.Fprintf(&b, "%6d→\tcounter%d = counter%d + len(input) // accumulates %d\n", i, i, i-1, i)
		}
	}
	return b.String()
}

func counted(in, write, read, out int) *sessions.Usage {
	return &sessions.Usage{Input: in, CacheWrite: write, CacheRead: read, Output: out}
}

// sample returns one session: a large read, a message about it, and an edit of one of its lines.
func sample() sessions.Session {
	read := map[string]any{"file_path": "/repo/steps.go"}
	edit := map[string]any{"file_path": "/repo/steps.go", "old_string": "\tcounter42 = counter41 + len(input) // accumulates 42", "new_string": "\tcounter42++"}
	return sessions.Session{ID: "s1", Source: "test", Steps: []sessions.Step{
		{Kind: sessions.User, Text: "why does step201 fail"},
		{Kind: sessions.Call, Usage: counted(10, 1000, 0, 20)},
		{Kind: sessions.Say, Text: "I look where step201 is declared."},
		{Kind: sessions.Use, ID: "a", Tool: "Read", Args: read},
		{Kind: sessions.Result, ID: "a", Tool: "Read", Args: read, Out: listing(600)},
		{Kind: sessions.Call, Usage: counted(10, 20000, 1000, 20)},
		{Kind: sessions.Use, ID: "b", Tool: "Edit", Args: edit},
		{Kind: sessions.Result, ID: "b", Tool: "Edit", Args: edit, Out: "done"},
		{Kind: sessions.Call, Usage: counted(10, 100, 21000, 20)},
		{Kind: sessions.Call, Usage: counted(10, 21500, 0, 20)},
	}}
}

func TestBillIsUsageTimesPrice(t *testing.T) {
	b := newBill(sample(), DefaultPrices)
	require.True(t, b.measured)
	require.InDelta(t, 40*1+42600*1.25+22000*0.1+80*5, b.total, 1e-6)
}

func TestWeightOfAResult(t *testing.T) {
	b := newBill(sample(), DefaultPrices)
	require.Equal(t, 1, b.results[0].call, "it first stands in the second prompt")
	require.InDelta(t, 1.25+0.1+1.25, b.results[0].weight, 1e-9, "written, read, and written again when the cache had expired")
}

func TestWeightEndsWithTheContext(t *testing.T) {
	s := sample()
	s.Steps = append(s.Steps[:8], append([]sessions.Step{{Kind: sessions.Compact}}, s.Steps[8:]...)...)
	require.InDelta(t, 1.25, newBill(s, DefaultPrices).results[0].weight, 1e-9)
}

func TestUsageIsModelledWhereItIsMissing(t *testing.T) {
	s := sample()
	for i := range s.Steps {
		s.Steps[i].Usage = nil
	}
	b := newBill(s, DefaultPrices)
	require.False(t, b.measured)
	last := b.calls[len(b.calls)-1].usage
	require.Equal(t, b.calls[len(b.calls)-2].prompt, last.CacheRead, "everything older is read from the cache")
	require.Greater(t, b.total, 0.0)
}

// TestTurnBefore checks the terms of a miss against a calculation by hand: the context at the time, and the
// weight of the lines from then on.
func TestTurnBefore(t *testing.T) {
	tr := &trial{bill: newBill(sample(), DefaultPrices)}
	context, weight := tr.turnBefore(6)
	require.Equal(t, 21010, context)
	require.InDelta(t, 1.25+0.1+1.25, weight, 1e-9)
}

func TestRulesOfNeed(t *testing.T) {
	search := "pkg/alpha.go:10:func openConnection() error {\npkg/beta.go:77:\treturn openConnection()\npkg/gamma.go:5:var unrelatedThing = 1\n"
	bash := func(id, command string) sessions.Step {
		return sessions.Step{Kind: sessions.Use, ID: id, Tool: "Bash", Args: map[string]any{"command": command}}
	}
	cases := []struct {
		name string
		then sessions.Step
		rule rule
		line int
	}{
		{"an edit replaces a line", sessions.Step{Kind: sessions.Use, Tool: "Edit", Args: map[string]any{"file_path": "x", "old_string": "var unrelatedThing = 1", "new_string": "var y = 2"}}, ruleEdit, 2},
		{"a name in backticks", sessions.Step{Kind: sessions.Say, Text: "so `unrelatedThing` is it"}, ruleCite, 2},
		{"a place", sessions.Step{Kind: sessions.Say, Text: "see beta.go:77"}, ruleFileLine, 1},
		{"the next look opens a hit", sessions.Step{Kind: sessions.Use, Tool: "Read", Args: map[string]any{"file_path": "/r/pkg/beta.go", "offset": 60.0, "limit": 40.0}}, ruleOpen, 1},
		{"sed opens a hit", bash("c", "sed -n '1,20p' pkg/gamma.go"), ruleOpen, 2},
		{"the next search looks for it", sessions.Step{Kind: sessions.Use, Tool: "Grep", Args: map[string]any{"pattern": "openConnection"}}, ruleIdent, 0},
		{"a line in words", sessions.Step{Kind: sessions.Say, Text: "It says:\npkg/gamma.go:5:var unrelatedThing = 1"}, ruleQuoteSay, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := sessions.Session{Steps: []sessions.Step{
				{Kind: sessions.Call}, bash("s", "rg -n x"),
				{Kind: sessions.Result, ID: "s", Tool: "Bash", Args: map[string]any{"command": "rg -n x"}, Out: search},
				{Kind: sessions.Call}, c.then,
			}}
			needs := newBill(s, DefaultPrices).gold()[0]
			require.NotEmpty(t, needs)
			found := map[int]rule{}
			for _, n := range needs {
				found[n.line] = n.rule
			}
			require.Equal(t, c.rule, found[c.line])
		})
	}
}

func TestNothingIsNeededAcrossACompaction(t *testing.T) {
	s := sample()
	s.Steps = append(s.Steps[:6], append([]sessions.Step{{Kind: sessions.Compact}}, s.Steps[6:]...)...)
	require.Empty(t, newBill(s, DefaultPrices).gold()[0])
}

// TestReplayFollowsTheHookOnOtherTools checks that replay prunes the results of another server under the same setting
// as the hook and the proxy.
func TestReplayFollowsTheHookOnOtherTools(t *testing.T) {
	s := sample()
	for i := range s.Steps {
		if s.Steps[i].ID == "a" {
			s.Steps[i].Tool = "mcp__files__page"
		}
	}
	for _, c := range []struct {
		others history.OtherTools
		pruned int
	}{{nil, 0}, {history.OtherTools{"files"}, 1}} {
		f, err := compute(context.Background(), s, Settings{Policies: []Policy{Hook, Proxy}, Prices: DefaultPrices, Others: c.others})
		require.NoError(t, err)
		require.Equal(t, c.pruned, f.outcomes[Hook].Pruned, "%q", c.others)
		require.Equal(t, c.pruned, f.outcomes[Proxy].Pruned, "%q", c.others)
	}
}

// TestJSON checks the contract of SPEC part J.
func TestJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sessions.jsonl")
	writeSession(t, file)
	var stdout, stderr bytes.Buffer
	require.Equal(t, 0, verb(&stdout, &stderr, "--json", file), stderr.String())
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
	for _, policy := range []string{"hook", "mcp", "proxy"} {
		for _, key := range []string{"gross_pct", "net_pct", "net_pct_misses2", "net_pct_misses3", "median_pct", "p10_pct", "p90_pct", "losing_pct"} {
			require.Contains(t, got.Policies[policy], key)
		}
	}
	for _, key := range []string{"input_pct", "reread_pct", "worst_session_pct", "median_pct", "losing_pct",
		"fixed_rule_pct", "fixed_rule_worst_session_pct", "fixed_rule_median_pct", "fixed_rule_losing_pct"} {
		require.Contains(t, got.Policies["gc"], key)
	}
}

func TestTextExplainAndPage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sessions.jsonl")
	writeSession(t, file)
	page := filepath.Join(t.TempDir(), "report.html")
	var stdout, stderr bytes.Buffer
	require.Equal(t, 0, verb(&stdout, &stderr, file, "--policy", "hook", "--html", page), stderr.String())
	require.Contains(t, stdout.String(), "policy")
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "<svg")
	stdout.Reset()
	require.Equal(t, 0, verb(&stdout, &stderr, "--explain", "s1", file))
	require.Contains(t, stdout.String(), "40 x 1 + 42600 x 1.25 + 22000 x 0.1 + 80 x 5 = 55890.0")
	require.Contains(t, stdout.String(), "definitions = 760 x 2.70, the weights of 1 contexts")
	require.Regexp(t, `(?m)^4 +10842 +\d+ +.*  edit line 42 +\d+ +21010 +2\.60$`, stdout.String(), "every term of a miss")
	require.Regexp(t, `(?m)^4 +15 +2\.60 +114\.0$`, stdout.String(), "the question: 15 x (5 + 2.6)")
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"--policy", "none"}, {"--prices", "x=1"}, {"--prices", "input=-1"}, {"--unknown"}, {"--json", "--explain", "x"}} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, 2, verb(&stdout, &stderr, args...), args)
		require.Empty(t, stdout.String())
	}
	var stdout, stderr bytes.Buffer
	require.Equal(t, 1, verb(&stdout, &stderr, filepath.Join(t.TempDir(), "none")))
}

func verb(stdout, stderr *bytes.Buffer, args ...string) int {
	p := command.Process{Args: args, Stdout: stdout, Stderr: stderr}
	return command.Verb(context.Background(), Command(p), p)
}

// writeSession writes the sample as one line of a collection file.
func writeSession(t *testing.T, file string) {
	t.Helper()
	type object = map[string]any
	var steps []object
	for _, s := range sample().Steps {
		step := object{"k": s.Kind, "text": s.Text, "id": s.ID, "tool": s.Tool, "args": s.Args, "out": s.Out}
		if s.Usage != nil {
			step["usage"] = object{"input_tokens": s.Usage.Input, "cache_creation_input_tokens": s.Usage.CacheWrite, "cache_read_input_tokens": s.Usage.CacheRead, "output_tokens": s.Usage.Output}
		}
		steps = append(steps, step)
	}
	line, err := json.Marshal(object{"id": "s1", "src": "test", "steps": steps})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(line, '\n'), 0o600))
}
