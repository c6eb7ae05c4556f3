//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/calls"
	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
	"github.com/mcp-pruner/mcp-pruner/cmd/dev/exact"
)

// Floors of the hooks on outputs of which the clients show only a part.
const (
	leastReached = 19    // of 20 outputs whose deciding line reaches the model
	mostReached  = 2_000 // o200k tokens of what takes the place of an output, or is added to a failed one
)

// reachedLong plays the long outputs with a client and returns, for each of them, what the model is sent of it, and what
// a hook added beside it.
func reachedLong(t *testing.T, c client, cases []calls.Call, hooks bool) (results, added []string) {
	w := newWorld(t, c)
	w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"), "SHELL=/bin/bash")
	require.NoError(t, calls.WriteLong(w.dir))
	if hooks {
		w.ours("init", c.name)
	}
	var turns []mockmodel.Turn
	for _, one := range cases {
		one.Args["command"] = filepath.Join(w.dir, "bin", one.Args["command"].(string))
		turn := w.ownCall(one)
		turn.Text = one.Question
		turn.Calls[0].Args["description"] = one.Args["description"]
		if c.name == "codex" {
			delete(turn.Calls[0].Args, "description")
		}
		turns = append(turns, turn)
	}
	w.model.Play(append(turns, done)...)
	var out string
	switch c.name {
	case "claude":
		out = w.claude()
	case "codex":
		out = w.codex()
	}
	for _, s := range w.results() {
		results = append(results, s.text)
	}
	require.Len(t, results, len(cases), out)
	return results, w.addedTexts(len(cases))
}

// addedTexts returns what hooks added to the results of Claude Code, by the order of the results.
func (w *world) addedTexts(n int) []string {
	const mark = "PostToolUseFailure:Bash hook additional context: "
	added := make([]string, n)
	var body struct{ Messages []any }
	require.NoError(w.t, json.Unmarshal(w.lastRequest(), &body))
	results := 0
	for _, message := range body.Messages {
		text, err := json.Marshal(message)
		require.NoError(w.t, err)
		results += strings.Count(string(text), `"type":"tool_result"`)
		for _, s := range stringsIn(message) {
			if i := strings.Index(s, mark); i >= 0 {
				added[results-1] = s[i+len(mark):]
			}
		}
	}
	return added
}

// TestLongOutputs proves that the deciding line of a long output reaches the model through the hooks of a client, and that it
// would not without. -update writes the table of docs/evidence/CALLS.md.
func TestLongOutputs(t *testing.T) {
	var rows strings.Builder
	for _, c := range both() {
		without, _ := reachedLong(t, c, longCalls(t), false)
		with, added := reachedLong(t, c, longCalls(t), true)
		var reached, before int
		for i, one := range longCalls(t) {
			extra := exact.Count(added[i])
			text := with[i] + "\n" + added[i]
			if one.Missing(text) == nil {
				reached++
			} else {
				t.Logf("%s: %s lacks %q:\n%.1500s", c.name, one.About, one.Missing(text), added[i]+"\n"+with[i])
			}
			if one.Missing(without[i]) == nil {
				before++
			}
			cost := exact.Count(with[i])
			shown := told(one, text)
			if strings.HasPrefix(with[i], "Exit code ") { // Claude Code shows it whatever a hook does
				shown = fmt.Sprintf("%d + %d", cost, extra)
				cost = extra
				if one.Missing(text) != nil {
					shown += ", without it"
				}
			}
			row := fmt.Sprintf("| %s | %s | %s | %s |\n", c.name, one.About, told(one, without[i]), shown)
			t.Log(row)
			rows.WriteString(row)
			assert.LessOrEqual(t, cost, mostReached, one.About)
		}
		t.Logf("%s: %d of %d without us, %d with us", c.name, before, len(with), reached)
		fmt.Fprintf(&rows, "| %s | **reaches the model** | %d of %d | %d of %d |\n", c.name, before, len(with), reached, len(with))
		assert.GreaterOrEqual(t, reached, leastReached, c.name)
	}
	if *update && !t.Failed() {
		require.NoError(t, os.WriteFile(filepath.Join(callsFolder, "long.md"), []byte(longHead+rows.String()), 0o644))
	}
}

const longHead = `## Long outputs

Claude Code shows 2 kB of an output above 30 kB, and 10,000 characters of a failed command's; Codex shows 10 kB. The real clients against a mock model: o200k tokens of what the model
is sent of 20 long outputs (test runners, builds, linters, logs; 10 of the commands fail), without hooks and with them. Of a failed command in Claude Code the second number is what the hook added.
"without it" says that the line that answers the question does not reach the model. Written by ` + "`go -C cmd/dev test -tags e2e ./e2e -run TestLongOutputs -update`" + `.

| client | output | without hooks | with hooks |
|---|---|---|---|
`

func longCalls(t *testing.T) []calls.Call {
	all, err := calls.Read(filepath.Join(callsFolder, "long.jsonl"))
	require.NoError(t, err)
	return all
}
