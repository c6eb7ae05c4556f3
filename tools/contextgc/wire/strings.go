package wire

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A JSON string may contain what no text can: half of a surrogate pair, such as \ud800, or bytes that are not UTF-8.
// encoding/json replaces both by U+FFFD. The functions below keep them: half a pair becomes the three bytes that UTF-8
// would have for it, and other bytes stay, so that unescape followed by quote is the same string again.

// unescape decodes the inside of a JSON string.
func unescape(raw []byte) (string, error) {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		if i++; i == len(raw) {
			return "", errShape
		}
		if raw[i] != 'u' {
			c, ok := escapes[raw[i]]
			if !ok {
				return "", errShape
			}
			out = append(out, c)
			continue
		}
		n, ok := hexRune(raw[i-1:])
		if !ok {
			return "", errShape
		}
		i += 4
		if low, ok := hexRune(raw[i+1:]); ok && utf16.DecodeRune(n, low) != utf8.RuneError {
			n = utf16.DecodeRune(n, low)
			i += 6
		}
		if utf16.IsSurrogate(n) {
			out = append(out, 0xe0|byte(n>>12), 0x80|byte(n>>6)&0x3f, 0x80|byte(n)&0x3f)
			continue
		}
		out = utf8.AppendRune(out, n)
	}
	return string(out), nil
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hexRune decodes an escape such as \u00e9 at the start of b.
func hexRune(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

// quote encodes a text as JSON without escaping < and &.
func quote(text string) []byte {
	if utf8.ValidString(text) {
		return encode(text)
	}
	out := []byte{'"'}
	from := 0
	valid := func(to int) {
		if part := encode(text[from:to]); to > from {
			out = append(out, part[1:len(part)-1]...)
		}
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r != utf8.RuneError || size > 1 {
			i += size
			continue
		}
		valid(i)
		if half, ok := surrogate(text[i:]); ok {
			out = fmt.Appendf(out, `\u%04x`, half)
			i += 3
		} else {
			out = append(out, text[i])
			i++
		}
		from = i
	}
	valid(len(text))
	return append(out, '"')
}

// surrogate decodes the three bytes of half a surrogate pair at the start of a text.
func surrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}
