package structure

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// IsHistory reports whether a text is the output of git log, which starts with a commit. Commit messages
// mention failures that did not happen in this log.
func IsHistory(d *doc.Document) bool {
	commits, lines := 0, 0
	for i, line := range d.Lines {
		if d.Blank(i) {
			continue
		}
		name, long := strings.CutPrefix(line, "commit ")
		switch hash, _, _ := strings.Cut(name, " "); {
		case doc.IsHash(hash) && long:
			return i+1 < len(d.Lines) && (strings.HasPrefix(d.Lines[i+1], "Author: ") || strings.HasPrefix(d.Lines[i+1], "Merge: "))
		case doc.IsHash(hash):
			commits++
		case lines == 0:
			return false
		}
		lines++
	}
	return commits > 2 && commits*10 >= lines*9
}
