// Package jsonspan reads JSON without decoding it: it finds where each value of a text stands, so that single values can be
// decoded, passed on or replaced, and everything else stays the same, byte for byte.
package jsonspan

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Kind is the type of a value.
type Kind uint8

// The kinds. scalarKind is a number, true, false or null.
const (
	Object Kind = iota
	Array
	stringKind
	scalarKind
)

// Value is one value of a text.
type Value struct {
	Member     int32 // byte offset of its name's opening quote; in an array, the same as Start
	Start, End int32 // byte range, End excluded
	Parent     int32 // index of the enclosing container, or -1
	next       int32 // index of the first value after those within it
	Kind       Kind
}

// Holds reports whether the value is an object or an array.
func (v Value) Holds() bool { return v.Kind <= Array }

const (
	maxDepth = 10_000 // containers within each other; as in encoding/json

	maxValues = 1 << 20 // a list of so many values is data, not something to read
	maxInside = 1 << 18 // values of a document, whose reader makes something of each; a history in a model's window has fewer
	maxFailed = 4       // bytes that Find reads in vain, per byte of the text
)

// Find returns the values of every complete object and array in a text, containers before their content. The text may have
// anything around them, such as a sentence, a heading or the "data: " of an event stream. Objects and arrays with a mistake are
// skipped; of what is nested in one, only values after the beginning of the mistake are looked for again. Find returns nil for a
// text that has none, or exceeds a limit. Time is linear in the length of the text.
func Find(text []byte) []Value {
	if len(text) > math.MaxInt32 {
		return nil
	}
	s := scanner{text: text, most: maxValues, deepest: maxDepth}
	for failed := 0; failed <= maxFailed*len(text); {
		start := bytes.IndexAny(text[s.at:], "{[")
		if start < 0 {
			break
		}
		start += s.at
		found := len(s.values)
		if s.at = start; s.scan() {
			continue
		}
		if len(s.values) > maxValues {
			return nil
		}
		failed += s.at - start
		s.values, s.at = s.values[:found], start+1
	}
	return s.values
}

type scanner struct {
	text    []byte
	at      int
	values  []Value
	most    int // values
	deepest int // level whose values are kept; the whole is level 0. Of deeper ones only the containers around s.at are

	depth  int   // containers around s.at
	open   int32 // index of the innermost of them, or -1
	member int32 // offset of the latest name
}

func (s *scanner) inObject() bool { return s.open >= 0 && s.values[s.open].Kind == Object }

// expected names the tokens that may come next.
type expected uint8

const (
	value      expected = iota
	valueOrEnd          // after "["
	name                // after "," in an object
	nameOrEnd           // after "{"
	commaOrEnd
	nothing // after a mistake
)

// whole reads a text that is one value.
func (s *scanner) whole() bool {
	if len(s.text) > math.MaxInt32 {
		return false
	}
	s.values = make([]Value, 0, min(8, 1+len(s.text)/8)+len(s.text)/1024)
	return s.scan() && s.ended()
}

func (s *scanner) ended() bool {
	s.space()
	return s.at == len(s.text)
}

// scan reads the next value with everything in it, and moves s.at past its end. If there is a mistake it returns false, and s.at
// is where the mistake was seen.
func (s *scanner) scan() bool {
	s.depth, s.open = 0, -1
	return s.rest(value)
}

// rest reads up to the end of the value that scan began. next is what may come.
func (s *scanner) rest(next expected) bool {
	for len(s.values) <= s.most {
		s.space()
		if s.at == len(s.text) {
			return false
		}
		c := s.text[s.at]
		switch {
		case (c == '}' || c == ']') && next != value && next != name:
			next = s.end(c)
		case next == commaOrEnd && c == ',':
			s.at++
			next = value
			if s.inObject() {
				next = name
			}
		case next == commaOrEnd:
			next = nothing
		case next == name || next == nameOrEnd:
			next = s.name()
		default:
			next = s.value(c)
		}
		if next == nothing || s.depth == 0 {
			return next != nothing
		}
	}
	return false
}

// value reads a scalar, a string or the opening bracket of a container. Like end and name it returns what may follow.
func (s *scanner) value(c byte) expected {
	v := Value{Member: s.member, Start: int32(s.at), Parent: s.open, Kind: kindOf(c)}
	if !s.inObject() {
		v.Member = v.Start
	}
	next := commaOrEnd
	switch {
	case v.Kind == Object:
		next = nameOrEnd
		s.at++
	case v.Kind == Array:
		next = valueOrEnd
		s.at++
	case v.Kind == stringKind && !s.string(), v.Kind == scalarKind && !s.scalar():
		return nothing
	}
	if v.Holds() || s.depth <= s.deepest {
		v.End, v.next = int32(s.at), int32(len(s.values)+1)
		s.values = append(s.values, v)
	}
	if v.Holds() {
		s.open = v.next - 1
		if s.depth++; s.depth > maxDepth {
			return nothing
		}
	}
	return next
}

func kindOf(c byte) Kind {
	switch c {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return stringKind
	}
	return scalarKind
}

// end reads the closing bracket of a container.
func (s *scanner) end(c byte) expected {
	if s.inObject() != (c == '}') {
		return nothing
	}
	s.at++
	v := &s.values[s.open]
	v.End, v.next = int32(s.at), int32(len(s.values))
	if s.depth--; s.depth > s.deepest {
		s.values = s.values[:s.open]
	}
	s.open = v.Parent
	return commaOrEnd
}

func (s *scanner) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
}

// name reads a string and the colon after it.
func (s *scanner) name() expected {
	s.member = int32(s.at)
	if s.text[s.at] != '"' || !s.string() {
		return nothing
	}
	s.space()
	if s.at == len(s.text) || s.text[s.at] != ':' {
		return nothing
	}
	s.at++
	return value
}

// string moves past the string at s.at.
func (s *scanner) string() bool {
	from := s.at + 1
	end := stringEnd(s.text, from)
	if end < 0 {
		s.at = len(s.text)
		return false
	}
	s.at = end + 1
	return isInside(s.text[from:end])
}

// stringEnd returns the offset of the quote that ends the string whose inside begins at from, or -1.
func stringEnd(text []byte, from int) int {
	for at := from; ; at++ {
		next := bytes.IndexByte(text[at:], '"')
		if next < 0 {
			return -1
		}
		at += next
		slashes := 0
		for text[at-1-slashes] == '\\' { // ends at the opening quote at the latest
			slashes++
		}
		if slashes%2 == 0 {
			return at
		}
	}
}

// isInside reports whether a text can stand in a string: it has no control characters, and no escapes but those of JSON.
func isInside(text []byte) bool {
	if hasControl(text) {
		return false
	}
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 {
			return true
		}
		c := text[at+1] // else the quote after the text would be escaped
		if text = text[at+2:]; c != 'u' {
			if escapes[c] == 0 {
				return false
			}
			continue
		}
		if len(text) < 4 || hex(text) < 0 {
			return false
		}
		text = text[4:]
	}
}

// hasControl reports whether a text contains a control character. It tests eight bytes at a time.
func hasControl(text []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(text) >= 8; text = text[8:] {
		w := binary.LittleEndian.Uint64(text)
		if (w-ones*' ')&^w&tops != 0 {
			return true
		}
	}
	for _, c := range text {
		if c < ' ' {
			return true
		}
	}
	return false
}

// scalar moves past a number, true, false or null.
func (s *scanner) scalar() bool {
	start := s.at
	for s.at < len(s.text) && inScalar(s.text[s.at]) {
		s.at++
	}
	switch word := s.text[start:s.at]; string(word) {
	case "true", "false", "null":
		return true
	default:
		return isNumber(word)
	}
}

func inScalar(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}

func isNumber(word []byte) bool {
	word = bytes.TrimPrefix(word, []byte("-"))
	rest, ok := digits(word)
	if !ok || word[0] == '0' && len(rest) < len(word)-1 {
		return false
	}
	if len(rest) > 0 && rest[0] == '.' {
		if rest, ok = digits(rest[1:]); !ok {
			return false
		}
	}
	if len(rest) > 0 && (rest[0] == 'e' || rest[0] == 'E') {
		if rest = rest[1:]; len(rest) > 0 && (rest[0] == '+' || rest[0] == '-') {
			rest = rest[1:]
		}
		rest, ok = digits(rest)
	}
	return ok && len(rest) == 0
}

// digits returns what follows the digits at the start of a word. ok is false if there are none.
func digits(word []byte) (rest []byte, ok bool) {
	n := 0
	for n < len(word) && word[n] >= '0' && word[n] <= '9' {
		n++
	}
	return word[n:], n > 0
}
