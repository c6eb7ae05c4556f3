package structure

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// tableData returns the structure of a text that is one table. Its rows stay with the table's head by
// [TableHeads].
func tableData(d *doc.Document) *Data {
	heads := TableHeads(d, Table)
	if heads == nil {
		heads = make([]int32, len(d.Lines)) // JSON objects need no head
	}
	return rowData(d, heads, Rows)
}

// DataOfRows returns the rows of the tables in a text, given the heads of its lines. A text is a table if nearly all of
// its lines are rows. It returns nil if there are none.
func DataOfRows(d *doc.Document, heads []int32) *Data {
	if heads == nil {
		return nil
	}
	data := rowData(d, heads, Mixed)
	if len(data.recordAt) >= doc.TableRows && len(data.recordAt)*100 >= len(d.Lines)*doc.ShapeShare {
		data.Form = Rows
	}
	return data
}

// rowData makes a record of every line with a head, except the line below the names of the columns.
func rowData(d *doc.Document, heads []int32, form Form) *Data {
	data := &Data{Form: form, Of: make([]int32, len(d.Lines))}
	for i := range d.Lines {
		data.Of[i] = -1
		if !d.Blank(i) && heads[i] >= 0 && !isRule(d.Lines[i]) {
			data.recordAt = append(data.recordAt, int32(i))
		}
	}
	return data
}

// TableHeads returns for every row of a table the line above it that names the columns, or -1. A row below
// a line that underlines the names has that line, and that line the names. It returns nil if there is no
// table. The tables of pages and of the output of commands are recognised where their names are underlined, or in
// capitals and apart.
func TableHeads(d *doc.Document, shape Shape) []int32 {
	var heads []int32
	head := -1 // the line that the next row belongs to
	set := func(i, to int) {
		if heads == nil {
			heads = make([]int32, len(d.Lines))
			for k := range heads {
				heads[k] = -1
			}
		}
		heads[i] = int32(to)
	}
	if first := firstLine(d); first >= 0 && shape == Table && !isRecord(d.Lines[first]) {
		head = first
	}
	whole := head >= 0
	for i := range d.Lines {
		switch line := d.Lines[i]; {
		case d.Blank(i):
			if !whole {
				head = -1
			}
		case head < 0 && isColumnNames(d, i):
			head = i
		case i > 0 && !d.Blank(i-1) && isRule(line) && strings.ContainsAny(d.Lines[i-1], "| ") && (head < 0 || head == i-1):
			set(i, i-1)
			head = i
		case head >= 0 && i > head:
			set(i, head)
		}
	}
	return heads
}

// JoinHeads adds the heads of tables to those of sections. A row has the head of its table, and that the heading of
// the section.
func JoinHeads(tables, sections []int32) []int32 {
	switch {
	case tables == nil:
		return sections
	case sections == nil:
		return tables
	}
	for i, head := range tables {
		if head >= 0 {
			sections[i] = head
		}
	}
	return sections
}

// isRule reports whether a line underlines the names of several columns: "|---|:--:|", "--- ---", "---+---".
func isRule(line string) bool {
	if !consistsOf(line, "|-+: =\r") {
		return false
	}
	line = strings.TrimRight(line, " \r")
	return strings.Contains(line, "--") && strings.IndexByte(line, '\r') < 0 && len(strings.FieldsFunc(line, func(r rune) bool {
		return r == '|' || r == '+' || r == ' '
	})) > 1
}

// isColumnNames reports whether line i is the first of its paragraph and names aligned columns in capitals:
// "NAME   READY   STATUS".
func isColumnNames(d *doc.Document, i int) bool {
	if i > 0 && !d.Blank(i-1) || d.Next(i) == "" {
		return false
	}
	line := strings.Trim(d.Lines[i], " \r")
	return len(line) <= longestHead && strings.Trim(line, columnLetters) == "" && strings.Contains(line, "  ")
}

// columnLetters are the characters in the names of aligned columns.
const columnLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ %#()/-_+:."

// isEvents reports whether a text is an event stream: lines such as "event: x" and "data: {...}".
func isEvents(d *doc.Document) bool {
	data := 0
	for i := 0; i < len(d.Lines); i++ {
		name, _, ok := strings.Cut(d.Lines[i], ":")
		switch {
		case d.Blank(i):
		case !ok || name != "" && name != "data" && name != "event" && name != "id" && name != "retry":
			return false
		case name == "data":
			data++
		}
	}
	return data > 0
}

// eventData makes a record of every event with all of its lines.
func eventData(d *doc.Document) *Data {
	data := &Data{Form: Events}
	for i := 0; i < len(d.Lines); i++ {
		if d.Blank(i) {
			continue
		}
		event := Part{Start: i, Parent: -1, Record: true}
		for ; i < len(d.Lines) && !d.Blank(i); i++ {
			event.Stays = append(event.Stays, i)
		}
		event.End = i
		data.Parts = append(data.Parts, event)
		data.recordAt = append(data.recordAt, int32(event.Start))
	}
	data.Solid = len(data.Parts) < 2
	data.outline(len(d.Lines))
	return data
}
