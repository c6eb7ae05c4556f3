package states

import (
	"strings"
	"unicode/utf8"
)

// maxNameBytes is the length to which observers see a name, because clients choose names of
// any size.
const maxNameBytes = 128

// maxDetailBytes bounds each text in a record's detail.
const maxDetailBytes = 64 << 10

// cut shortens a client's text to at most limit bytes, at the end of a rune.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return strings.Clone(text[:limit])
}
