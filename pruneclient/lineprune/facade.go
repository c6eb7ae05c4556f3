package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/render"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// Aliases for the types of the sub-packages that callers of the line pruner need.
type (
	Kind          = doc.Kind          // kind of a text: code, documentation, log, list of matches
	Block         = render.Block      // an omitted range of lines
	RenderOptions = render.Options    // how a result becomes text
	Opening       = structure.Opening // the first line of a declaration, a section or a record
)

// The kinds. Auto detects one from the hints and the text.
const (
	Auto = doc.Auto
	Code = doc.Code
	Logs = doc.Logs
	Docs = doc.Docs
	Grep = doc.Grep
)

// Marker returns the canonical marker of an omitted range whose original is stored under id.
func Marker(id string, b Block) string { return render.Marker(id, b) }

// ShortMarker returns the marker of an omitted range whose original is not stored. It gives only the line
// range.
func ShortMarker(b Block) string { return render.ShortMarker(b) }

// Gap returns a marker for an omitted range, for a model that reads the remaining lines: "... 120-154", at
// most 6 tokens, and with what begins in the range, "... 120-154: func Close, type conn", at most 12. In
// structured data that is the records, or their number. Among JSON it is a value, so that the text remains
// JSON. first is the number of the text's first line.
func Gap(b Block, first int) string { return render.Gap(b, first) }

// GapRange returns the lines that a marker of Gap stands for. ok is false for any other line.
func GapRange(text string) (from, to int, ok bool) { return render.GapRange(text) }

// Within returns the openings in the lines from..to. They must be in the order of their lines.
func Within(all []Opening, from, to int) []Opening { return render.Within(all, from, to) }

// NumberedGap returns the marker of an omitted range among numbered lines, whose numbers show the range.
func NumberedGap(b Block) string { return render.NumberedGap(b) }

// Header returns the first line of a pruned text: how many of its lines were kept, followed by rest, which
// says how to get the others.
func Header(kept, total int, rest string) string { return render.Header(kept, total, rest) }

// CleanReason makes a reason safe to embed in a marker: a single line without a closing bracket.
func CleanReason(reason string) string { return render.CleanReason(reason) }

// AsksForReview reports whether a diff is read for what is in it, by the words before the call and the user's.
func AsksForReview(call session.Origin, question string) bool {
	return rank.AsksForReview(call, question)
}

// Sealed reports for each line whether it is kept whatever the question: protection directives, the lines
// they enclose, and markers left by an earlier pruning.
func Sealed(lines []string) []bool { return render.Sealed(lines) }

// Render writes the kept lines of text byte for byte and a marker in place of each omitted range. When
// every line was kept and lines are not numbered, it returns text itself.
func Render(text string, res Result, opts RenderOptions) string {
	return render.Text(text, res.Blocks, opts)
}
