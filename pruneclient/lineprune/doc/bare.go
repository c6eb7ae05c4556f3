package doc

import (
	"slices"
	"strings"

	"mcp-pruner/pruneclient/lineprune/words"
)

// bareLines removes terminal escape sequences, so that a coloured log reads like a plain one. raw holds the
// original lines and tokens the number of tokens removed per line; both are nil when there was no escape.
func bareLines(lines []string, text string) (raw []string, tokens []int32) {
	if strings.IndexByte(text, '\r') >= 0 {
		for i, line := range lines {
			lines[i] = strings.TrimSuffix(line, "\r")
		}
	}
	if strings.IndexByte(text, Escape) < 0 {
		return nil, nil
	}
	raw, tokens = slices.Clone(lines), make([]int32, len(lines))
	for i, line := range lines {
		if strings.IndexByte(line, Escape) >= 0 {
			lines[i] = WithoutEscapes(line)
			tokens[i] = int32(words.CountTokens(line) - words.CountTokens(lines[i]))
		}
	}
	return raw, tokens
}

const Escape = 0x1b

// WithoutEscapes removes colours and other ECMA-48 control sequences, and the targets of hyperlinks (OSC
// 8).
func WithoutEscapes(line string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(line, Escape)
		if at < 0 {
			b.WriteString(line)
			return b.String()
		}
		b.WriteString(line[:at])
		line = line[at+escapeEnd(line[at:]):]
	}
}

// escapeEnd returns the offset after the escape sequence at the start of line.
func escapeEnd(line string) int {
	switch {
	case len(line) < 2:
		return len(line)
	case line[1] == '[': // CSI: parameters, then a final letter
		i := 2
		for i < len(line) && line[i] >= ' ' && line[i] < '@' {
			i++
		}
		return min(i+1, len(line))
	case line[1] == ']': // OSC: ends with BEL or ESC \
		if i := strings.IndexAny(line[2:], "\a\x1b"); i < 0 {
			return len(line)
		} else if line[i+2] == '\a' {
			return i + 3
		} else {
			return min(i+4, len(line))
		}
	}
	return 2
}
