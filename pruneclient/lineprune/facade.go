package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// Aliases for the types of the sub-packages that callers of the line pruner need.
type (
	Kind    = doc.Kind          // kind of a text: code, documentation, log, list of matches
	Opening = structure.Opening // the first line of a declaration, a section or a record
)

// The kinds. Auto detects one from the hints and the text.
const (
	Auto = doc.Auto
	Code = doc.Code
	Logs = doc.Logs
	Docs = doc.Docs
	Grep = doc.Grep
)

// AsksForReview reports whether a diff is read for what is in it, by the words before the call and the user's.
func AsksForReview(call session.Origin, question string) bool {
	return rank.AsksForReview(call, question)
}
