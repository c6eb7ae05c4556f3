package structure

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// DataOf returns the structure of a text of records, or nil if it is something else. Tables are recognised by
// their shape; text is the text that d was made of.
func DataOf(d *doc.Document, text string, shape Shape) *Data {
	if len(d.Lines) == 0 {
		return nil
	}
	switch {
	case mayBeJSON(d, text):
		if data := jsonData(d, text); data != nil {
			return data
		}
	case isEvents(d):
		return eventData(d)
	}
	switch {
	case shape == Table:
		return tableData(d)
	case isYAML(d):
		return yamlData(d)
	}
	return nil
}

// mayBeJSON reports whether many lines of a text look like those of JSON that is spread over lines, or the
// text has few lines, one of which may hold it all.
func mayBeJSON(d *doc.Document, text string) bool {
	if len(d.Lines) <= doc.FewLines {
		return strings.ContainsAny(text, "{[")
	}
	seen, likely := 0, 0
	for i := 0; i < len(d.Lines); i += 1 + len(d.Lines)/doc.ShapeSample {
		if d.Blank(i) {
			continue
		}
		seen++
		if strings.IndexByte(`"{}[],`, d.Lines[i][doc.FirstVisible(d.Lines[i])]) >= 0 {
			likely++
		}
	}
	return likely*2 > seen
}
