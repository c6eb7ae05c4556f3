package history

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties when hooks prune at all to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HOOKS.md")
	page.Says("has fewer than %s tokens", "MinTokens", MinTokens)
	page.Says("the last %s events", "maxEvents", maxEvents)
	page.Says("edited in the last %s turns", "editMemory", editMemory)
	page.Says("hold %s times as much to stay", "doc.CarefulShare", doc.CarefulShare)
	page = stated.On(t, "docs/evidence/BILL.md")
	page.Says("results under %s tokens", "MinTokens", MinTokens)
	page.Says("reads of %s lines and fewer", "NarrowLines", NarrowLines)
	page.Says("edited in the last %s turns", "editMemory", editMemory)
	page.Says("multiplied by %s for a file", "doc.CarefulShare", doc.CarefulShare)
	page.Says("of the result holds: %s % for files", "doc.FileShare", doc.FileShare)
	page.Says("%s % for files that a command prints", "doc.OutputShare", doc.OutputShare)
	page.Says("%s % for lists", "doc.MatchShare", doc.MatchShare)
	page.Says("%s % for logs", "doc.LogShare", doc.LogShare)
	page.Says("% for logs, at %s tokens", "doc.ShareTokens", doc.ShareTokens)
	page = stated.On(t, "docs/clients/opencode.md")
	page.Says("a result above %s tokens begins", "MinTokens", MinTokens)
	page = stated.On(t, "docs/decisions/011-one-definition-of-a-repeat.md")
	page.Says("A log remembers %s calls", "mostCut", mostCut)
	page = stated.On(t, "docs/decisions/048-the-learned-ranking-needs-a-session.md")
	page.Says("the last %s questions", "maxEvents", maxEvents)
	page = stated.On(t, "docs/decisions/077-how-a-bill-is-counted.md")
	page.Says("session only %s events", "maxEvents", maxEvents)
	page.Says("the edits of %s turns", "editMemory", editMemory)
}

// A file that the agent works on is cut with more care, as docs/HOOKS.md says; it does not stay whole.
func TestAnEditedFileIsCutWithCare(t *testing.T) {
	edit := ParseCall("Edit", map[string]any{"file_path": "/r/a.go", "old_string": "x", "new_string": "y"})
	read := ParseCall("Read", map[string]any{"file_path": "/r/a.go"})
	for turns, careful := range map[int]bool{editMemory: true, editMemory + 1: false} {
		var l Log
		l.Turn()
		l.Use(edit)
		for range turns {
			l.Turn()
		}
		d := l.Decide(read, MinTokens, nil)
		if !d.Prune || d.Careful != careful {
			t.Errorf("%d turns after the edit: %+v", turns, d)
		}
	}
}
