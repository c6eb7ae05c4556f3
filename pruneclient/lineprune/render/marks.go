package render

import (
	"strings"

	"mcp-pruner/pruneclient/lineprune/doc"
	"mcp-pruner/pruneclient/lineprune/words"
)

// Directives that protect what stands between them, each alone on its line.
const (
	NoPruneBegin = "⟦NO_PRUNE_BEGIN⟧"
	NoPruneEnd   = "⟦NO_PRUNE_END⟧"
)

// Sealed says of every line whether it stays whatever the question: directives with
// what they enclose, and the markers an earlier prune left.
func Sealed(lines []string) []bool {
	keep := make([]bool, len(lines))
	inside := false
	for i, line := range lines {
		keep[i] = inside
		if strings.IndexByte(line, doc.Escape) >= 0 {
			line = doc.WithoutEscapes(line)
		}
		if line == "" || !mayMark(line[words.FirstVisible(line)]) {
			continue
		}
		switch text := strings.TrimSpace(line); {
		case text == NoPruneBegin:
			inside, keep[i] = true, true
		case text == NoPruneEnd:
			inside = false
		case IsMarker(text):
			keep[i] = true
		}
	}
	return keep
}

// mayMark is true of the bytes a directive or marker can begin with.
func mayMark(c byte) bool { return c == '(' || c == '[' || c == '.' || c >= 0x80 }

// IsMarker knows the lines pruners leave: ours and the swe-pruner service's.
func IsMarker(text string) bool {
	return strings.HasPrefix(text, markerOpen) && strings.HasSuffix(text, markerClose) ||
		strings.HasPrefix(text, "(filtered ") && strings.HasSuffix(text, " lines)") ||
		strings.HasPrefix(text, headerOpen) || isGap(text)
}
