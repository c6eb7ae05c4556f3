package doc

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// bareLines removes terminal escape sequences, so that a coloured log reads like a plain one. raw holds the
// original lines and removed the number of tokens removed per line; both are nil when there was no escape.
func bareLines(lines []string, text string) (raw []string, removed []int32) {
	if strings.IndexByte(text, '\r') >= 0 {
		for i, line := range lines {
			lines[i] = strings.TrimSuffix(line, "\r")
		}
	}
	if strings.IndexByte(text, terminal.Escape) < 0 {
		return nil, nil
	}
	raw, removed = slices.Clone(lines), make([]int32, len(lines))
	for i, line := range lines {
		if strings.IndexByte(line, terminal.Escape) >= 0 {
			lines[i] = terminal.WithoutEscapes(line)
			removed[i] = int32(tokens.Line(line) - tokens.Line(lines[i]))
		}
	}
	return raw, removed
}
