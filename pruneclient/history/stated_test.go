package history

import (
	"testing"

	"mcp-pruner/pruneclient/lineprune/tuning"
	"mcp-pruner/tools/tooltest/stated"
)

// The pages state when hooks prune at all.
func TestStated(t *testing.T) {
	stated.Facts(t,
		stated.Fact{Page: "docs/HOOKS.md", Sentence: "has fewer than %s tokens", Name: "MinTokens", Value: MinTokens},
		stated.Fact{Page: "docs/HOOKS.md", Sentence: "is a read of at most %s lines", Name: "NarrowLines", Value: NarrowLines},
		stated.Fact{Page: "docs/HOOKS.md", Sentence: "the last %s events", Name: "maxEvents", Value: maxEvents},
		stated.Fact{Page: "docs/HOOKS.md", Sentence: "edited in the last %s turns", Name: "editMemory", Value: editMemory},
		stated.Fact{Page: "docs/HOOKS.md", Sentence: "hold %s times as much to stay", Name: "tuning.CarefulShare", Value: tuning.CarefulShare},
		stated.Fact{Page: "docs/BILL.md", Sentence: "results under %s tokens", Name: "MinTokens", Value: MinTokens},
		stated.Fact{Page: "docs/BILL.md", Sentence: "reads of %s lines and fewer", Name: "NarrowLines", Value: NarrowLines},
		stated.Fact{Page: "docs/BILL.md", Sentence: "edited in the last %s turns", Name: "editMemory", Value: editMemory},
		stated.Fact{Page: "docs/BILL.md", Sentence: "multiplied by %s for a file", Name: "tuning.CarefulShare", Value: tuning.CarefulShare},
		stated.Fact{Page: "docs/BILL.md", Sentence: "%s % for files", Name: "tuning.FileShare", Value: tuning.FileShare},
		stated.Fact{Page: "docs/BILL.md", Sentence: "%s % for other outputs", Name: "tuning.OutputShare", Value: tuning.OutputShare},
		stated.Fact{Page: "docs/BILL.md", Sentence: "for other outputs, at %s tokens", Name: "tuning.ShareTokens", Value: tuning.ShareTokens},
		stated.Fact{Page: "docs/clients/opencode.md", Sentence: "a result above %s tokens begins", Name: "MinTokens", Value: MinTokens},
	)
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
