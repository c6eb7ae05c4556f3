package doc

import (
	"slices"
	"strings"

	"mcp-pruner/pruneclient/lineprune/words"
)

// bareLines takes off the lines what only a terminal sees, so that a coloured log
// reads as a plain one. It returns what they were, and how many tokens were taken off
// per line: nil for none.
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

// WithoutEscapes leaves out colours and other ECMA-48 control sequences, and what a
// link points to.
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

// escapeEnd is where the sequence ends that line begins with.
func escapeEnd(line string) int {
	switch {
	case len(line) < 2:
		return len(line)
	case line[1] == '[': // parameters, then a letter
		i := 2
		for i < len(line) && line[i] >= ' ' && line[i] < '@' {
			i++
		}
		return min(i+1, len(line))
	case line[1] == ']': // to the bell, or to ESC \
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
