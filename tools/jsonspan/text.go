package jsonspan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote decodes the inside of a string, as encoding/json does: half of a surrogate pair, such as \ud800, and bytes that are not
// UTF-8 become U+FFFD.
func Unquote(inside []byte) string { return unquote(inside, false) }

// unquote decodes the inside of a string. lossless keeps what no text can contain: half of a surrogate pair becomes the three
// bytes that UTF-8 would have for it, and bytes that are not UTF-8 stay.
func unquote(inside []byte, lossless bool) string {
	if bytes.IndexByte(inside, '\\') < 0 && (lossless || utf8.Valid(inside)) {
		return string(inside)
	}
	var out strings.Builder
	out.Grow(len(inside))
	for {
		plain, rest, escaped := bytes.Cut(inside, []byte{'\\'})
		if lossless || utf8.Valid(plain) {
			out.Write(plain)
		} else {
			for _, r := range string(plain) { // each byte that is not UTF-8 is U+FFFD
				out.WriteRune(r)
			}
		}
		if !escaped {
			return out.String()
		}
		inside = unescape(&out, rest, lossless)
	}
}

// unescape decodes the escape at the start of a text, after its backslash, and returns what follows it.
func unescape(out *strings.Builder, text []byte, lossless bool) (rest []byte) {
	if text[0] != 'u' {
		out.WriteByte(escapes[text[0]])
		return text[1:]
	}
	char, rest := hex(text[1:]), text[5:]
	if bytes.HasPrefix(rest, []byte(`\u`)) {
		if pair := utf16.DecodeRune(char, hex(rest[2:])); pair != utf8.RuneError {
			char, rest = pair, rest[6:]
		}
	}
	if lossless && utf16.IsSurrogate(char) {
		out.Write([]byte{0xe0 | byte(char>>12), 0x80 | byte(char>>6)&0x3f, 0x80 | byte(char)&0x3f})
	} else {
		out.WriteRune(char) // half of a pair becomes U+FFFD
	}
	return rest
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hex returns the character that four hexadecimal digits stand for, or -1.
func hex(digits []byte) rune {
	n, err := strconv.ParseUint(string(digits[:4]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// Marshal encodes a value as json.Marshal does, without escapes for HTML.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// Encode encodes a value that can always be encoded, such as texts, and what was decoded. It panics for others.
func Encode(v any) []byte {
	text, err := Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// Quote encodes a text. What [Span.Text] returned becomes the same string again, also if it is one that no text can contain.
func Quote(text string) []byte {
	if utf8.ValidString(text) {
		return Encode(text)
	}
	out := []byte{'"'}
	for text != "" {
		valid := strings.IndexFunc(text, func(r rune) bool { return r == utf8.RuneError })
		if valid < 0 {
			valid = len(text)
		}
		part := Encode(text[:valid])
		out, text = append(out, part[1:len(part)-1]...), text[valid:]
		if half, ok := surrogate(text); ok {
			out, text = fmt.Appendf(out, `\u%04x`, half), text[3:]
		} else if text != "" {
			_, size := utf8.DecodeRuneInString(text) // U+FFFD, or one byte that is not UTF-8
			out, text = append(out, text[:size]...), text[size:]
		}
	}
	return append(out, '"')
}

// surrogate decodes the three bytes of half a surrogate pair at the start of a text.
func surrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}
