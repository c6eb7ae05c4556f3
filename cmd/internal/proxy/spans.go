package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
)

// A request is never decoded and encoded again, because everything that is not replaced must stay the same,
// byte for byte. Instead, the functions below find the positions of values and replace those pieces.

// span is the position of a JSON value in a body: from its first byte to the one after its last.
type span struct{ from, to int }

var errShape = errors.New("not the JSON that was expected")

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// quoted returns the end of the string that begins at i.
func quoted(b []byte, i int) (int, error) {
	for i++; i < len(b); i++ {
		at := bytes.IndexByte(b[i:], '"')
		if at < 0 {
			break
		}
		i += at
		slashes := 0
		for b[i-1-slashes] == '\\' { // ends at the opening quote at the latest
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1, nil
		}
	}
	return 0, errShape
}

// skip returns the end of the value that begins at i.
func skip(b []byte, i int) (int, error) {
	if i >= len(b) {
		return 0, errShape
	}
	switch b[i] {
	case '"':
		return quoted(b, i)
	case '{', '[':
		return nested(b, i)
	}
	from := i
	for i < len(b) && bytes.IndexByte([]byte(",]} \n\t\r:\"[{"), b[i]) < 0 {
		i++
	}
	if i == from {
		return 0, errShape
	}
	return i, nil
}

// nested returns the end of the object or array that begins at i.
func nested(b []byte, i int) (int, error) {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			end, err := quoted(b, i)
			if err != nil {
				return 0, err
			}
			i = end
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
		i++
	}
	return 0, errShape
}

// whole returns the span of the single value in b.
func whole(b []byte) (span, error) {
	from := space(b, 0)
	to, err := skip(b, from)
	if err == nil && space(b, to) != len(b) {
		err = errShape
	}
	return span{from, to}, err
}

// fields calls each for the members of an object.
func fields(b []byte, object span, each func(key []byte, v span) error) error {
	i := object.from
	if i >= len(b) || b[i] != '{' {
		return errShape
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == '}' {
		return nil
	}
	for i < len(b) && b[i] == '"' {
		end, err := quoted(b, i)
		if err != nil {
			return err
		}
		key := b[i+1 : end-1]
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return errShape
		}
		i = space(b, i+1)
		if end, err = skip(b, i); err != nil {
			return err
		}
		if err := each(key, span{i, end}); err != nil {
			return err
		}
		next, done, err := comma(b, end, '}')
		if done || err != nil {
			return err
		}
		i = next
	}
	return errShape
}

// items calls each for the elements of an array.
func items(b []byte, array span, each func(v span) error) error {
	i := array.from
	if i >= len(b) || b[i] != '[' {
		return errShape
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == ']' {
		return nil
	}
	for {
		end, err := skip(b, i)
		if err != nil {
			return err
		}
		if err := each(span{i, end}); err != nil {
			return err
		}
		next, done, err := comma(b, end, ']')
		if done || err != nil {
			return err
		}
		i = next
	}
}

// comma returns the start of the element after the one that ends at i. done reports that it was the last.
func comma(b []byte, i int, closing byte) (next int, done bool, err error) {
	if i = space(b, i); i >= len(b) {
		return 0, false, errShape
	}
	switch b[i] {
	case closing:
		return 0, true, nil
	case ',':
		return space(b, i+1), false, nil
	}
	return 0, false, errShape
}

func (s span) of(b []byte) []byte { return b[s.from:s.to] }

func (s span) isString(b []byte) bool { return b[s.from] == '"' }
func (s span) isArray(b []byte) bool  { return b[s.from] == '[' }
func (s span) isObject(b []byte) bool { return b[s.from] == '{' }

// text decodes a string. It returns "" for any other value.
func (s span) text(b []byte) string {
	if s.to == 0 || !s.isString(b) {
		return ""
	}
	raw := b[s.from+1 : s.to-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var text string
	if json.Unmarshal(s.of(b), &text) != nil {
		return ""
	}
	return text
}

// members returns the named members of an object. Absent ones are zero.
func members(b []byte, object span, names ...string) ([]span, error) {
	found := make([]span, len(names))
	err := fields(b, object, func(key []byte, v span) error {
		for i, name := range names {
			if string(key) == name {
				found[i] = v
			}
		}
		return nil
	})
	return found, err
}

// edit replaces a span by text.
type edit struct {
	at   span
	text []byte // JSON
}

// splice applies edits, which must be sorted and must not overlap.
func splice(b []byte, edits []edit) []byte {
	size := len(b)
	for _, e := range edits {
		size += len(e.text) - (e.at.to - e.at.from)
	}
	out := make([]byte, 0, size)
	done := 0
	for _, e := range edits {
		out = append(append(out, b[done:e.at.from]...), e.text...)
		done = e.at.to
	}
	return append(out, b[done:]...)
}

// quote encodes a text as JSON without escaping < and &.
func quote(text string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // strings always marshal
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
