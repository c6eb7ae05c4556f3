package lineprune

import "strings"

// Directives that protect what stands between them, each alone on its line.
const (
	noPruneBegin = "⟦NO_PRUNE_BEGIN⟧"
	noPruneEnd   = "⟦NO_PRUNE_END⟧"
)

// protected marks the lines that are kept whatever the question: directives and
// what they enclose, and the markers an earlier prune left.
func protected(d *document) []bool {
	keep := make([]bool, len(d.lines))
	inside := false
	for i, line := range d.lines {
		if d.blank(i) || line[firstVisible(line)] < 0x80 && line[firstVisible(line)] != '(' && line[firstVisible(line)] != '[' {
			keep[i] = inside
			continue
		}
		text := strings.TrimSpace(line)
		switch {
		case text == noPruneBegin:
			inside = true
			keep[i] = true
		case text == noPruneEnd:
			keep[i] = inside
			inside = false
		default:
			keep[i] = inside || isMarker(text)
		}
	}
	return keep
}

func firstVisible(line string) int {
	for i := 0; i < len(line); i++ {
		if class[line[i]] != space {
			return i
		}
	}
	return 0
}

// isMarker knows the lines pruners leave: ours and the swe-pruner service's.
func isMarker(text string) bool {
	return strings.HasPrefix(text, markerOpen) && strings.HasSuffix(text, markerClose) ||
		strings.HasPrefix(text, "(filtered ") && strings.HasSuffix(text, " lines)") ||
		strings.HasPrefix(text, headerOpen)
}
