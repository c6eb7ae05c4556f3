package schema

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Decode decodes a JSON text as encoding/json does, except that numbers keep their spelling. A json.Decoder can do that
// as well, but allocates five times the size of a long string. Decode copies each string once.
func Decode(text []byte) (any, error) {
	if !json.Valid(text) {
		var v any
		return nil, json.Unmarshal(text, &v)
	}
	return (&reader{text: text}).value(), nil
}

// Members returns the members of a JSON object as parts of text, or nil if text is another value.
func Members(text []byte) (map[string]json.RawMessage, error) {
	if !json.Valid(text) {
		var v any
		return nil, json.Unmarshal(text, &v)
	}
	r := &reader{text: text}
	if r.next() != '{' {
		return nil, nil
	}
	members := make(map[string]json.RawMessage)
	for r.at++; r.next() != '}'; {
		members[r.string()] = r.raw()
	}
	return members, nil
}

// Elements returns the elements of a JSON array as parts of text, or nil if text is another value.
func Elements(text []byte) ([]json.RawMessage, error) {
	if !json.Valid(text) {
		var v any
		return nil, json.Unmarshal(text, &v)
	}
	r := &reader{text: text}
	if r.next() != '[' {
		return nil, nil
	}
	elements := []json.RawMessage{}
	for r.at++; r.next() != ']'; {
		elements = append(elements, r.raw())
	}
	return elements, nil
}

// reader reads a valid JSON text.
type reader struct {
	text []byte
	at   int
}

// next skips white space, commas and colons, and returns the first byte of the next value or the bracket that ends its
// container.
func (r *reader) next() byte {
	for {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			r.at++
		default:
			return c
		}
	}
}

func (r *reader) value() any {
	switch r.next() {
	case '{':
		object := make(map[string]any)
		for r.at++; r.next() != '}'; {
			name := r.string()
			object[name] = r.value()
		}
		r.at++
		return object
	case '[':
		array := []any{}
		for r.at++; r.next() != ']'; {
			array = append(array, r.value())
		}
		r.at++
		return array
	case '"':
		return r.string()
	}
	switch word := r.word(); word[0] {
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	default:
		return json.Number(word)
	}
}

// raw returns the next value undecoded.
func (r *reader) raw() json.RawMessage {
	r.next()
	from := r.at
	for depth := 0; ; {
		switch r.next() {
		case '{', '[':
			depth++
			r.at++
		case '}', ']':
			depth--
			r.at++
		case '"':
			r.quoted()
		default:
			r.word()
		}
		if depth == 0 {
			return r.text[from:r.at:r.at]
		}
	}
}

// word returns a number, true, false or null.
func (r *reader) word() []byte {
	from := r.at
	for r.at < len(r.text) && bytes.IndexByte([]byte(",]} \n\t\r"), r.text[r.at]) < 0 {
		r.at++
	}
	return r.text[from:r.at]
}

// quoted returns the inside of a string.
func (r *reader) quoted() []byte {
	r.at++
	for from := r.at; ; r.at++ {
		r.at += bytes.IndexByte(r.text[r.at:], '"')
		slashes := 0
		for r.text[r.at-1-slashes] == '\\' { // ends at the opening quote at the latest
			slashes++
		}
		if slashes%2 == 0 {
			r.at++
			return r.text[from : r.at-1]
		}
	}
}

func (r *reader) string() string {
	r.next()
	quote := r.at
	inside := r.quoted()
	switch {
	case !utf8.Valid(inside):
		var s string
		_ = json.Unmarshal(r.text[quote:r.at], &s) // valid JSON; bytes that are not UTF-8 become U+FFFD
		return s
	case bytes.IndexByte(inside, '\\') < 0:
		return string(inside)
	}
	return unescape(inside)
}

func unescape(inside []byte) string {
	var out strings.Builder
	out.Grow(len(inside))
	for {
		at := bytes.IndexByte(inside, '\\')
		if at < 0 {
			out.Write(inside)
			return out.String()
		}
		out.Write(inside[:at])
		c := inside[at+1]
		inside = inside[at+2:]
		if c != 'u' {
			out.WriteByte(escapes[c])
			continue
		}
		char := hex(inside)
		inside = inside[4:]
		if bytes.HasPrefix(inside, []byte(`\u`)) {
			if pair := utf16.DecodeRune(char, hex(inside[2:])); pair != utf8.RuneError {
				char, inside = pair, inside[6:]
			}
		}
		out.WriteRune(char) // half of a pair becomes U+FFFD
	}
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hex returns the character that four hexadecimal digits stand for.
func hex(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits[:4]), 16, 16) // the text is valid
	return rune(n)
}
