package lineprune

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// Directives that protect the lines between them. Each stands alone on its line.
const (
	noPruneBegin = "⟦NO_PRUNE_BEGIN⟧"
	noPruneEnd   = "⟦NO_PRUNE_END⟧"
)

// Sealed reports for each line whether it is kept whatever the question: protection directives, the lines
// they enclose, and markers left by an earlier pruning.
func Sealed(lines []string) []bool {
	keep := make([]bool, len(lines))
	inside := false
	for i, line := range lines {
		keep[i] = inside
		if strings.IndexByte(line, terminal.Escape) >= 0 {
			line = terminal.WithoutEscapes(line)
		}
		if line == "" || !mayMark(line[doc.FirstVisible(line)]) {
			continue
		}
		switch text := strings.TrimSpace(line); {
		case text == noPruneBegin:
			inside, keep[i] = true, true
		case text == noPruneEnd:
			inside = false
		case IsMarker(text):
			keep[i] = true
		}
	}
	return keep
}

// mayMark reports whether a directive or marker can begin with byte c.
func mayMark(c byte) bool {
	return c == '(' || c == '[' || c == '.' || c == '"' || c == '#' || c >= 0x80
}

// IsMarker reports whether a line is a marker of this pruner or of the swe-pruner service.
func IsMarker(text string) bool {
	_, _, isGap := GapRange(text)
	return strings.HasPrefix(text, markerOpen) && strings.HasSuffix(text, markerClose) ||
		strings.HasPrefix(text, "(filtered ") && strings.HasSuffix(text, " lines)") ||
		strings.HasPrefix(text, headerOpen) || isGap
}
