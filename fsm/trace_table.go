package fsm

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Hash names a table by what it says: any change to a row is another hash.
func (t Table) Hash() string {
	h := sha256.New()
	line := func(fields ...string) { _, _ = h.Write([]byte(strings.Join(fields, "\x1f") + "\n")) }
	line(t.Name, string(t.Initial))
	for _, s := range t.Terminal {
		line(string(s))
	}
	for _, r := range t.Rows {
		line(string(r.From), string(r.Trigger), string(r.To), r.Events, r.Sets, r.Spec)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Hash is the hash of the definition's table.
func (d *Definition) Hash() string { return d.hash }

// Tables lists every table of this program.
func Tables() []Table {
	return []Table{RequestTable(), HTTPRequestTable(), RunTable(), HTTPRunTable()}
}

// tableFile is a table as it is kept in trace_tables, and as tools are given it.
type tableFile struct {
	Name     string    `json:"name"`
	Hash     string    `json:"hash"`
	Initial  State     `json:"initial"`
	Terminal []State   `json:"terminal"`
	Rows     []fileRow `json:"rows"`
}

type fileRow struct {
	From    State   `json:"from"`
	Trigger Trigger `json:"trigger"`
	To      State   `json:"to"`
	Row     string  `json:"row"`
	Events  string  `json:"events,omitempty"`
	Sets    string  `json:"sets,omitempty"`
}

// EncodeTable writes a table as JSON, its hash with it.
func EncodeTable(t Table) []byte {
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
func DecodeTable(raw []byte) (Table, error) {
	var f tableFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return Table{}, fmt.Errorf("read a table: %w", err)
	}
	t := Table{Name: f.Name, Initial: f.Initial, Terminal: f.Terminal, Rows: make([]Row, len(f.Rows))}
	for i, r := range f.Rows {
		t.Rows[i] = Row{r.From, r.Trigger, r.To, r.Events, r.Sets, r.Row}
	}
	if t.Hash() != f.Hash {
		return Table{}, fmt.Errorf("read a table: %s says its hash is %s, and it is %s", f.Name, f.Hash, t.Hash())
	}
	return t, nil
}

// archive holds every table that a released program ran its machines by, so that
// what it recorded can be replayed for ever.
//
//go:embed trace_tables
var archive embed.FS

// ArchivedTables lists the tables of the archive.
func ArchivedTables() ([]Table, error) {
	files, err := archive.ReadDir("trace_tables")
	if err != nil {
		return nil, err
	}
	var tables []Table
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		raw, err := archive.ReadFile("trace_tables/" + f.Name())
		if err != nil {
			return nil, err
		}
		t, err := DecodeTable(raw)
		if err != nil {
			return nil, fmt.Errorf("trace_tables/%s: %w", f.Name(), err)
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// ArchiveName is the file a table is kept in.
func ArchiveName(t Table) string { return t.Name + "-" + t.Hash() + ".json" }
