package trace

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"mcp-pruner/fsm"
)

// tableFile is a table as it is kept in tables, and as tools are given it.
type tableFile struct {
	Name     string      `json:"name"`
	Hash     string      `json:"hash"`
	Initial  fsm.State   `json:"initial"`
	Terminal []fsm.State `json:"terminal"`
	Rows     []fileRow   `json:"rows"`
}

type fileRow struct {
	From    fsm.State   `json:"from"`
	Trigger fsm.Trigger `json:"trigger"`
	To      fsm.State   `json:"to"`
	Row     string      `json:"row"`
	Events  string      `json:"events,omitempty"`
	Sets    string      `json:"sets,omitempty"`
}

// EncodeTable writes a table as JSON, its hash with it.
func EncodeTable(t fsm.Table) []byte {
	f := tableFile{t.Name, t.Hash(), t.Initial, t.Terminal, make([]fileRow, len(t.Rows))}
	for i, r := range t.Rows {
		f.Rows[i] = fileRow{r.From, r.Trigger, r.To, r.Spec, r.Events, r.Sets}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(f); err != nil { // strings always encode
		panic(err)
	}
	return b.Bytes()
}

// DecodeTable reads what EncodeTable wrote. A table that its hash does not fit
// is refused.
func DecodeTable(raw []byte) (fsm.Table, error) {
	var f tableFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return fsm.Table{}, fmt.Errorf("read a table: %w", err)
	}
	t := fsm.Table{Name: f.Name, Initial: f.Initial, Terminal: f.Terminal, Rows: make([]fsm.Row, len(f.Rows))}
	for i, r := range f.Rows {
		t.Rows[i] = fsm.Row{From: r.From, Trigger: r.Trigger, To: r.To, Events: r.Events, Sets: r.Sets, Spec: r.Row}
	}
	if t.Hash() != f.Hash {
		return fsm.Table{}, fmt.Errorf("read a table: %s says its hash is %s, and it is %s", f.Name, f.Hash, t.Hash())
	}
	return t, nil
}

// archive holds every table that a released program ran its machines by, so that
// what it recorded can be replayed for ever.
//
//go:embed tables
var archive embed.FS

// ArchivedTables lists the tables of the archive.
func ArchivedTables() ([]fsm.Table, error) {
	files, err := archive.ReadDir("tables")
	if err != nil {
		return nil, err
	}
	var tables []fsm.Table
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		raw, err := archive.ReadFile("tables/" + f.Name())
		if err != nil {
			return nil, err
		}
		t, err := DecodeTable(raw)
		if err != nil {
			return nil, fmt.Errorf("tables/%s: %w", f.Name(), err)
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// ArchiveName is the file a table is kept in.
func ArchiveName(t fsm.Table) string { return t.Name + "-" + t.Hash() + ".json" }
