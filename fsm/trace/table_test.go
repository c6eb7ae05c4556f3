package trace

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

func TestAnyChangeToATableIsAnotherHash(t *testing.T) {
	hashes := map[string]string{}
	note := func(table fsm.Table, what string) {
		assert.Empty(t, hashes[table.Hash()], "%s has the hash of %s", what, hashes[table.Hash()])
		hashes[table.Hash()] = what
	}
	for _, table := range fsm.Tables() {
		note(table, table.Name)
		renamed := table
		renamed.Name += "2"
		note(renamed, table.Name+" renamed")
		for i := range table.Rows {
			for what, change := range map[string]func(*fsm.Row){
				"from":    func(r *fsm.Row) { r.From += "x" },
				"trigger": func(r *fsm.Row) { r.Trigger += "x" },
				"to":      func(r *fsm.Row) { r.To += "x" },
				"events":  func(r *fsm.Row) { r.Events += " x" },
				"sets":    func(r *fsm.Row) { r.Sets += " x" },
				"spec":    func(r *fsm.Row) { r.Spec += "x" },
			} {
				changed := table
				changed.Rows = append([]fsm.Row(nil), table.Rows...)
				change(&changed.Rows[i])
				note(changed, table.Name+" row "+string(table.Rows[i].Trigger)+" "+what)
			}
		}
	}
}
