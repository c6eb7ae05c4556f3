package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// The program has the drawings that this one makes; their boxes do not overlap and stick out nowhere.
func TestTheDrawingsAreFresh(t *testing.T) {
	for _, table := range fsm.Tables() {
		kept, err := os.ReadFile("../../../fsm/trace/audit/machines/" + table.Name + ".svg")
		require.NoError(t, err)
		assert.True(t, string(kept) == picture(table), "%s: run make docs", table.Name)
		d := draw(machine{table, fsm.MustCompile(table).Rows()})
		for i, a := range d.boxes {
			assert.True(t, a.x >= boxWidth/2 && a.x+boxWidth/2 <= d.width && a.y+boxHeight/2 <= d.height, "%s: %s sticks out", table.Name, a.state)
			for _, b := range d.boxes[i+1:] {
				apart := max(a.x-b.x, b.x-a.x) >= boxWidth || max(a.y-b.y, b.y-a.y) >= boxHeight
				assert.True(t, apart, "%s: %s and %s overlap", table.Name, a.state, b.state)
			}
		}
	}
}
