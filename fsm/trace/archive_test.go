package trace

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

var update = flag.Bool("update", false, "add the tables of today to tables")

// Every later version must be able to replay the records of today, so the current tables
// must be in the archive before they are released.
func TestEveryTableIsArchived(t *testing.T) {
	for _, table := range fsm.Tables() {
		file := filepath.Join("tables", ArchiveName(table))
		if *update {
			require.NoError(t, os.WriteFile(file, EncodeTable(table), 0o644))
		}
		raw, err := os.ReadFile(file)
		require.NoError(t, err, "the %s table has changed: run make docs, which archives it", table.Name)
		archived, err := DecodeTable(raw)
		require.NoError(t, err)
		assert.Equal(t, table, archived)
	}
}

func TestTheArchiveIsWhole(t *testing.T) {
	tables, err := ArchivedTables()
	require.NoError(t, err)
	for _, table := range tables {
		assert.FileExists(t, filepath.Join("tables", ArchiveName(table)))
	}
}

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

func TestATamperedTableIsRefused(t *testing.T) {
	_, err := DecodeTable([]byte(`{"name":"request","hash":"0000000000000000","initial":"req:received"}`))
	require.ErrorContains(t, err, "says its hash is 0000000000000000")
	_, err = DecodeTable([]byte(`{`))
	require.Error(t, err)
}
