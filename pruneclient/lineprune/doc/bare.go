package doc

import (
	"slices"
	"strings"

	"mcp-pruner/pruneclient/lineprune/words"
	"mcp-pruner/tools/terminal"
)

// bareLines removes terminal escape sequences, so that a coloured log reads like a plain one. raw holds the
// original lines and tokens the number of tokens removed per line; both are nil when there was no escape.
func bareLines(lines []string, text string) (raw []string, tokens []int32) {
	if strings.IndexByte(text, '\r') >= 0 {
		for i, line := range lines {
			lines[i] = strings.TrimSuffix(line, "\r")
		}
	}
	if strings.IndexByte(text, terminal.Escape) < 0 {
		return nil, nil
	}
	raw, tokens = slices.Clone(lines), make([]int32, len(lines))
	for i, line := range lines {
		if strings.IndexByte(line, terminal.Escape) >= 0 {
			lines[i] = terminal.WithoutEscapes(line)
			tokens[i] = int32(words.CountTokens(line) - words.CountTokens(lines[i]))
		}
	}
	return raw, tokens
}
