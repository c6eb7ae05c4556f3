package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// form holds the kind and layout of a text, as far as they can be told before the text is read for a question.
type form struct {
	kind  Kind
	shape structure.Shape
	data  *structure.Data // its records; nil if it has none
	heads []int32         // per line, the line that names its columns, or -1; nil if it has no table
}

// formOf determines the form of a text. Records that a command printed are code rather than a log, unless the
// caller says otherwise: their words for failures are no alarms, and their last lines no outcome. Only lines of
// JSON remain a log.
func formOf(d *doc.Document, text string, kind Kind, opts Options) form {
	f := form{kind: structure.KindOf(d, kind, opts.File, opts.Command)}
	if f.kind == Grep {
		return f
	}
	if f.kind == Code || f.kind == Logs || f.kind == Docs && kind == Auto && opts.File == "" {
		f.shape = structure.ShapeOf(d)
		f.data = structure.DataOf(d, text, f.shape)
	}
	switch {
	case f.data.Nested():
		f.shape = structure.Keys
	case f.kind == Docs:
		f.shape, f.data = structure.Plain, nil
	case f.kind == Logs:
		f.shape, f.data = structure.Plain, nil
		structure.TakeFronts(d)
		if opts.File == "" && opts.Command == "" {
			f.shape = structure.ShapeOf(d)
			f.data = structure.DataOf(d, text, f.shape)
		}
	}
	f.heads = structure.TableHeads(d, f.shape)
	if f.data == nil {
		f.data = structure.DataOfRows(d, f.heads)
	}
	aligned := f.shape == structure.Plain && f.data.IsTable()
	if kind == Auto && (f.data.Nested() || f.kind == Logs && aligned) {
		f.kind = Code
	}
	if aligned {
		f.shape = structure.Table
	}
	return f
}
