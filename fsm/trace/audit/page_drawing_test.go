package audit

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// Each table has a drawing of all of its states and transitions and of nothing else, which refers to the transitions as the
// page's model numbers them.
func TestTheDrawingsAreThoseOfTheTables(t *testing.T) {
	files, err := drawings.ReadDir("machines")
	require.NoError(t, err)
	assert.Len(t, files, len(fsm.Tables()))
	for _, table := range fsm.Tables() {
		text, err := drawings.ReadFile("machines/" + table.Name + ".svg")
		require.NoError(t, err)
		var svg struct {
			Groups []struct {
				State string `xml:"data-state,attr"`
				Rows  string `xml:"data-rows,attr"`
				Title string `xml:"title"`
			} `xml:"g"`
		}
		require.NoError(t, xml.Unmarshal(text, &svg))
		var states []fsm.State
		drawn := map[string]string{} // by index
		for _, g := range svg.Groups {
			if g.State != "" && g.State != "any state" {
				states = append(states, fsm.State(g.State))
			}
			titles := strings.Split(g.Title, "\n")
			for i, row := range strings.Fields(g.Rows) {
				assert.Empty(t, drawn[row], "%s: transition %s is drawn twice", table.Name, row)
				drawn[row] = titles[i]
			}
		}
		assert.ElementsMatch(t, fsm.MustCompile(table).States(), states, "%s: run make docs", table.Name)
		want := map[string]string{}
		tables := newTables()
		for i, e := range tables.machines[tables.machineNamed(table.Name, "")].Edges {
			want[fmt.Sprint(i)] = fmt.Sprintf("%s --%s--> %s", e.From, e.Trigger, e.To)
		}
		assert.Equal(t, want, drawn, "%s: run make docs", table.Name)
	}
}
