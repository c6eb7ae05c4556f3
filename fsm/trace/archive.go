package trace

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// tableFile is the JSON form of a table, in the archive and for other tools.
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

// EncodeTable encodes a table as JSON, with its hash.
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

// DecodeTable decodes the output of EncodeTable. It refuses a table whose hash does not
// match.
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

// archive holds every table of every released version, so that their records can always be
// replayed.
//
//go:embed tables
var archive embed.FS

// ArchivedTables returns the tables of the archive.
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

// ArchiveName returns the file name of a table in the archive.
func ArchiveName(t fsm.Table) string { return t.Name + "-" + t.Hash() + ".json" }
