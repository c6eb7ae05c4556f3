package replay

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

func TestRulesOfNeed(t *testing.T) {
	search := "pkg/alpha.go:10:func openConnection() error {\npkg/beta.go:77:\treturn openConnection()\npkg/gamma.go:5:var unrelatedThing = 1\n"
	bash := func(id, command string) sessions.Step {
		return sessions.Step{Kind: sessions.Use, ID: id, Tool: "Bash", Args: map[string]any{"command": command}}
	}
	code := func(text string) sessions.Step {
		return sessions.Step{Kind: sessions.Use, ID: "x", Tool: "exec", Args: map[string]any{"input": text}}
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
		{"code opens a hit", code("text((await tools.exec_command({cmd: `sed -n '1,20p' pkg/gamma.go`})).output)"), ruleOpen, 2},
		{"code patches a line", code(`text(await tools.apply_patch("*** Begin Patch\n*** Update File: pkg/gamma.go\n@@\n-var unrelatedThing = 1\n+var y = 2\n*** End Patch"))`), ruleEdit, 2},
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
			needs := NeedsOf(sessions.NewBill(s, sessions.DefaultPrices))[0]
			require.NotEmpty(t, needs)
			found := map[int]rule{}
			for _, n := range needs {
				if n.Rule != RuleWide {
					found[n.Line] = n.Rule
				}
			}
			require.Equal(t, c.rule, found[c.line])
		})
	}
}
