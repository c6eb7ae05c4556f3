package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// Every table of today can be drawn: boxes do not overlap, arrows end at boxes.
func TestEveryMachineIsDrawn(t *testing.T) {
	for _, table := range fsm.Tables() {
		tables := newTables()
		n := tables.machineNamed(table.Name, string(table.Initial))
		d := draw(tables.machines[n])
		boxes := len(fsm.MustCompile(table).States())
		if strings.HasPrefix(table.Name, "request") {
			boxes++ // the one that stands for any state
		}
		assert.Len(t, d.Boxes, boxes, table.Name)
		for i, a := range d.Boxes {
			assert.True(t, a.X-a.W/2 >= 0 && a.X+a.W/2 <= d.Width && a.Y+a.H/2 <= d.Height, "%s: %s sticks out", table.Name, a.State)
			for _, b := range d.Boxes[i+1:] {
				apart := a.X+a.W/2 <= b.X-b.W/2 || b.X+b.W/2 <= a.X-a.W/2 || a.Y+a.H/2 <= b.Y-b.H/2 || b.Y+b.H/2 <= a.Y-a.H/2
				assert.True(t, apart, "%s: %s and %s overlap", table.Name, a.State, b.State)
			}
		}
		rows := 0
		for _, a := range d.Arrows {
			rows += len(a.Rows)
		}
		assert.Len(t, fsm.MustCompile(table).Rows(), rows, "%s: every transition has an arrow", table.Name)
	}
}
