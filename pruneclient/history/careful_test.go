package history

import (
	"testing"
)

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
