package lineprune

import (
	"mcp-pruner/pruneclient/lineprune/choose"
	"mcp-pruner/pruneclient/lineprune/doc"
	"mcp-pruner/pruneclient/lineprune/render"
	"mcp-pruner/pruneclient/lineprune/words"
)

// What callers of the line pruner need of its steps.
type (
	Kind          = doc.Kind       // what a text is
	Result        = choose.Result  // what was kept and why
	Line          = choose.Line    // explains one line
	Term          = choose.Term    // one of the question's words
	Block         = render.Block   // an omitted range of lines
	RenderOptions = render.Options // how a result becomes text
)

// The kinds. Auto detects one from the hints and the text.
const (
	Auto = doc.Auto
	Code = doc.Code
	Logs = doc.Logs
	Docs = doc.Docs
	Grep = doc.Grep
)

// The warnings of a text that came back whole, and why it did.
const (
	LowConfidence    = choose.LowConfidence
	TooShort         = choose.TooShort
	NoGain           = choose.NoGain
	IsDiff           = choose.IsDiff
	ConstraintsUnmet = choose.ConstraintsUnmet
	NeedsAll         = choose.NeedsAll
)

// Marker is the canonical marker of an omitted range whose original is stored under id.
func Marker(id string, b Block) string { return render.Marker(id, b) }

// ShortMarker marks a range nobody stored: its lines, nothing else.
func ShortMarker(b Block) string { return render.ShortMarker(b) }

// Gap marks an omitted range for a model that reads the rest, in at most 6 tokens. first is
// the number of the text's first line.
func Gap(b Block, first int) string { return render.Gap(b, first) }

// Header is the first line of a pruned text: how much is left of what, and what to do
// about the rest.
func Header(kept, total int, rest string) string { return render.Header(kept, total, rest) }

// CleanReason makes a reason safe within a marker: one line, no closing bracket.
func CleanReason(reason string) string { return render.CleanReason(reason) }

// Sealed says of every line whether it stays whatever the question: directives with what
// they enclose, and the markers an earlier prune left.
func Sealed(lines []string) []bool { return render.Sealed(lines) }

// MaxPruned is floor(n*ratio) for a ratio within 0..1, taken as the decimal it is written as.
func MaxPruned(n int, ratio float64) int { return choose.MaxPruned(n, ratio) }

// CountTokens estimates the tokens of one line and its newline.
func CountTokens(line string) int { return words.CountTokens(line) }

// Render writes the kept lines of text byte for byte, with markers in place of the
// omitted ranges. A result that kept everything, unnumbered, is text itself.
func Render(text string, res Result, opts RenderOptions) string {
	return render.Text(text, res.Blocks, opts)
}
