package trace

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// tableFile is the JSON form of a table, for other tools.
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
