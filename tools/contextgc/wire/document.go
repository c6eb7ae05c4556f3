package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
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

// document is a JSON text with an index of its long values, so that their bytes are read only once.
type document struct {
	body []byte
	long []span // strings, objects and arrays of at least longValue bytes, sorted by their starts
	last int    // index in long of the value found last: the next one is usually near
}

// longValue is the size in bytes from which looking up a value's end is faster than finding it again.
const longValue = 64

// parse indexes the single value in b and returns its span.
func parse(b []byte) (document, span, error) {
	d := document{body: b}
	from := space(b, 0)
	to, err := d.index(from)
	if err == nil && space(b, to) != len(b) {
		err = errShape
	}
	return d, span{from, to}, err
}

// index returns the end of the value that begins at i and adds the long values in it to the index.
func (d *document) index(i int) (int, error) {
	var open []int // indices in d.long of the objects and arrays around i
	for i < len(d.body) {
		from, end := i, 0
		var err error
		switch d.body[i] {
		case '"':
			if end, err = quoted(d.body, i); err != nil {
				return 0, err
			}
			if end-from >= longValue {
				d.long = append(d.long, span{from, end})
			}
		case '{', '[':
			open = append(open, len(d.long))
			d.long = append(d.long, span{from: i})
			end = i + 1
		case '}', ']':
			if len(open) == 0 {
				return 0, errShape
			}
			end = i + 1
			d.close(open[len(open)-1], end)
			open = open[:len(open)-1]
		default:
			if len(open) == 0 {
				return word(d.body, i)
			}
			i++
			continue
		}
		if i = end; len(open) == 0 {
			return end, nil
		}
	}
	return 0, errShape
}

// close sets the end of an object or array in the index, or removes it if it is short.
func (d *document) close(at, end int) {
	if d.long[at].to = end; end-d.long[at].from < longValue { // then all values in it are short
		d.long = d.long[:at]
	}
}

// skip returns the end of the value that begins at i.
func (d *document) skip(i int) (int, error) {
	if i >= len(d.body) {
		return 0, errShape
	}
	switch d.body[i] {
	case '"', '{', '[':
		if at, found := d.find(i); found {
			d.last = at
			return d.long[at].to, nil
		}
		return short(d.body, i)
	}
	return word(d.body, i)
}

// find returns the index of the long value that begins at i. It looks at the next ones first, because values are mostly
// visited in their order.
func (d *document) find(i int) (at int, found bool) {
	from := d.last
	if from >= len(d.long) || d.long[from].from > i {
		return slices.BinarySearchFunc(d.long, i, func(s span, i int) int { return s.from - i })
	}
	for at = from; at < min(from+nearby, len(d.long)); at++ {
		if d.long[at].from >= i {
			return at, d.long[at].from == i
		}
	}
	rest, found := slices.BinarySearchFunc(d.long[at:], i, func(s span, i int) int { return s.from - i })
	return at + rest, found
}

// nearby is how many of the next values are looked at one by one.
const nearby = 4

// word returns the end of the number or name that begins at i.
func word(b []byte, i int) (int, error) {
	from := i
	for i < len(b) && bytes.IndexByte([]byte(",]} \n\t\r:\"[{"), b[i]) < 0 {
		i++
	}
	if i == from {
		return 0, errShape
	}
	return i, nil
}

// short returns the end of the string, object or array that begins at i.
func short(b []byte, i int) (int, error) {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			end, err := quoted(b, i)
			if err != nil || depth == 0 {
				return end, err
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

// fields calls each for the members of an object.
func (d *document) fields(object span, each func(key []byte, v span) error) error {
	b := d.body
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
		if end, err = d.skip(i); err != nil {
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
func (d *document) items(array span, each func(v span) error) error {
	b := d.body
	i := array.from
	if i >= len(b) || b[i] != '[' {
		return errShape
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == ']' {
		return nil
	}
	for {
		end, err := d.skip(i)
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
	text, err := unescape(raw)
	if err != nil {
		return ""
	}
	return text
}

// members returns the named members of an object. Absent ones are zero.
func (d *document) members(object span, names ...string) ([]span, error) {
	found := make([]span, len(names))
	err := d.fields(object, func(key []byte, v span) error {
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

// encode returns the JSON of texts, numbers, and maps of them.
func encode(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // these always marshal
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
