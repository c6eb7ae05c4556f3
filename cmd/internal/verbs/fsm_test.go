package verbs

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/fsm"
)

func runFSM(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := runVerb(t, fsmCommand, nil, "", args...)
	require.Equal(t, want, code, stderr)
	return stdout, stderr
}

func TestStatesPageIsUpToDate(t *testing.T) {
	page, err := os.ReadFile("../../../docs/STATES.md")
	require.NoError(t, err)
	made, _ := runFSM(t, command.OK, "--format", "docs")
	assert.True(t, made == string(page), "docs/STATES.md is stale: run make docs")
}

// GitHub draws a state diagram only when no id holds a colon, and every id that a
// transition names has to be declared, or its label is lost.
func TestMermaidIdsAreDeclaredAndPlain(t *testing.T) {
	for _, table := range fsm.Tables() {
		out, _ := runFSM(t, command.OK, "--machine", table.Name, "--format", "mermaid")
		declared := map[string]bool{"[*]": true}
		for _, m := range regexp.MustCompile(`(?m)^    state "([^"]+)" as (\w+)$`).FindAllStringSubmatch(out, -1) {
			assert.False(t, declared[m[2]], "%s twice", m[2])
			declared[m[2]] = true
		}
		edges := regexp.MustCompile(`(?m)^    (\S+) --> (\S+)(?: : (\w+) \(([A-Z0-9 ]+)\))?$`).FindAllStringSubmatch(out, -1)
		for _, m := range edges {
			assert.True(t, declared[m[1]] && declared[m[2]], "%s", m[0])
		}
		assert.Len(t, edges, len(table.Rows)+1+len(table.Terminal))
		lines := strings.Split(strings.TrimSpace(out), "\n")
		assert.Len(t, lines, 1+len(declared)-1+len(edges), "there is a line of another form")
		for _, s := range fsm.MustCompile(table).States() {
			assert.Contains(t, out, `"`+string(s)+`"`)
		}
	}
}

func TestDotIsReadByGraphviz(t *testing.T) {
	program, missing := exec.LookPath("dot")
	if missing != nil {
		t.Log("dot is not installed: its reading of the graphs was not checked")
	}
	for _, table := range fsm.Tables() {
		out, _ := runFSM(t, command.OK, "--format", "dot", "--machine", table.Name)
		for _, r := range table.Rows {
			assert.Contains(t, out, `"`+string(r.From)+`" -> "`+string(r.To)+`" [label="`+string(r.Trigger)+`\n`+r.Spec+`"]`)
		}
		if missing != nil {
			continue
		}
		cmd := exec.Command(program, "-Tsvg")
		cmd.Stdin = strings.NewReader(out)
		svg, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", svg)
	}
}

// No program that draws takes several diagrams in one file.
func TestADiagramIsOfOneMachine(t *testing.T) {
	for _, format := range []string{"mermaid", "dot"} {
		out, err := runFSM(t, command.Usage, "--format", format)
		assert.Empty(t, out)
		assert.Contains(t, err, "a diagram is of one machine: choose it with --machine ("+strings.Join(tableNames(fsm.Tables()), ", ")+")")
	}
}

func TestJSONIsTheTable(t *testing.T) {
	for _, table := range fsm.Tables() {
		out, _ := runFSM(t, command.OK, "--format", "json", "--machine", table.Name)
		var back struct {
			Hash string
			Rows []struct{ From, Trigger, To, Row, Events, Sets string }
		}
		require.NoError(t, json.Unmarshal([]byte(out), &back))
		assert.Equal(t, table.Hash(), back.Hash)
		require.Len(t, back.Rows, len(table.Rows))
		for i, r := range table.Rows {
			assert.Equal(t, []string{string(r.From), string(r.Trigger), string(r.To), r.Spec, r.Events, r.Sets},
				[]string{back.Rows[i].From, back.Rows[i].Trigger, back.Rows[i].To, back.Rows[i].Row, back.Rows[i].Events, back.Rows[i].Sets})
		}
	}
	out, _ := runFSM(t, command.OK, "--format", "json")
	var all []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	assert.Len(t, all, len(fsm.Tables()))
}

func TestTheTableNamesEveryRow(t *testing.T) {
	out, _ := runFSM(t, command.OK)
	for _, table := range fsm.Tables() {
		assert.Contains(t, out, table.Name+" (hash "+table.Hash()+")")
		for _, r := range table.Rows {
			assert.Regexp(t, `(?m)^`+r.Spec+` +`+regexp.QuoteMeta(string(r.From))+` +`+string(r.Trigger)+` +`+string(r.To), out)
		}
	}
}

func TestWrongUseOfFSM(t *testing.T) {
	_, err := runFSM(t, command.Usage, "--machine", "tea")
	known := strings.Join(tableNames(fsm.Tables()), ", ")
	assert.Contains(t, err, `invalid argument "tea" for "--machine" flag: want `+command.Or(tableNames(fsm.Tables())))
	_, err = runFSM(t, command.Usage, "--format", "xml")
	assert.Contains(t, err, `want table, mermaid, dot, json or docs`)
	_, err = runFSM(t, command.Usage, "request")
	assert.Contains(t, err, `there is no argument "request"`)
	out, _ := runFSM(t, command.OK, "--help")
	assert.Contains(t, out, "one of "+known+" (default: all)")
}
