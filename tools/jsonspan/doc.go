package jsonspan

import (
	"bytes"
	"errors"
	"math"
)

// ErrShape says that a text is not JSON, or that a value is of another kind.
var ErrShape = errors.New("not the JSON that was expected")

// Span is where a value stands in a document: from its first byte to the one after its last. The zero Span is no value.
type Span struct {
	From, To int
	index    int32
}

// Document is a text that is one value.
type Document struct {
	Body   []byte
	values []Value
}

// Parse finds the values of a text, and returns the span of the one that it is. It refuses a text that exceeds the limits.
func Parse(text []byte) (Document, Span, error) {
	s := scanner{text: text, most: maxInside, deepest: maxDepth}
	if !s.whole() {
		return Document{Body: text}, Span{}, ErrShape
	}
	d := Document{text, s.values}
	return d, d.span(0), nil
}

// Continue is Parse for a text whose bytes up to the end of an element of an array are those of the document, which need not be read
// again. It makes the same of the text as Parse does.
func (d *Document) Continue(text []byte, element Span) (Document, Span, error) {
	known := d.values[:d.values[element.index].next]
	s := scanner{text: text, at: element.To, most: maxInside, deepest: maxDepth, open: known[element.index].Parent,
		values: append(make([]Value, 0, len(known)+len(known)/8), known...)}
	for at := s.open; at >= 0; at = known[at].Parent {
		s.depth++
	}
	if len(text) > math.MaxInt32 || !s.rest(commaOrEnd) || !s.ended() {
		return Document{Body: text}, Span{}, ErrShape
	}
	next := Document{text, s.values}
	return next, next.span(0), nil
}

// Values returns how many values begin up to the end of one of them.
func (d *Document) Values(upTo Span) int { return int(d.values[upTo.index].next) }

func (d *Document) span(index int32) Span {
	v := &d.values[index]
	return Span{int(v.Start), int(v.End), index}
}

// container returns the value at a span. It is an error if that is not an object, or not an array.
func (d *Document) container(at Span, kind Kind) (*Value, error) {
	if at.To == 0 || d.values[at.index].Kind != kind {
		return nil, ErrShape
	}
	return &d.values[at.index], nil
}

// Items calls each for the elements of an array.
func (d *Document) Items(array Span, each func(v Span) error) error {
	v, err := d.container(array, Array)
	if err != nil {
		return err
	}
	for i := array.index + 1; i < v.next; i = d.values[i].next {
		if err := each(d.span(i)); err != nil {
			return err
		}
	}
	return nil
}

// Fields calls each for the members of an object. A name is given as it stands within its quotes; [Unquote] decodes it.
func (d *Document) Fields(object Span, each func(name []byte, v Span) error) error {
	v, err := d.container(object, Object)
	if err != nil {
		return err
	}
	for i := object.index + 1; i < v.next; i = d.values[i].next {
		if err := each(d.name(i), d.span(i)); err != nil {
			return err
		}
	}
	return nil
}

// name returns the inside of a member's name.
func (d *Document) name(index int32) []byte { return d.values[index].inName(d.Body) }

func (v Value) inName(text []byte) []byte {
	from := int(v.Member) + 1
	return text[from:stringEnd(text, from)]
}

// Name returns the name of a member of an object.
func (v Value) Name(text []byte) string { return Unquote(v.inName(text)) }

// Members returns the named members of an object, however their names are written. Absent ones are zero. It is an error if one occurs
// twice: readers differ in which they take.
func (d *Document) Members(object Span, names ...string) ([]Span, error) {
	found := make([]Span, len(names))
	err := d.Fields(object, func(name []byte, v Span) error {
		if bytes.IndexByte(name, '\\') >= 0 {
			name = []byte(Unquote(name))
		}
		for i := range names {
			switch {
			case string(name) != names[i]:
			case found[i].To > 0:
				return ErrShape
			default:
				found[i] = v
			}
		}
		return nil
	})
	return found, err
}

// Of returns the bytes of a value in the body of its document.
func (s Span) Of(body []byte) []byte { return body[s.From:s.To] }

// IsString reports whether the value is a string.
func (s Span) IsString(body []byte) bool { return body[s.From] == '"' }

// IsArray reports whether the value is an array.
func (s Span) IsArray(body []byte) bool { return body[s.From] == '[' }

// IsObject reports whether the value is an object.
func (s Span) IsObject(body []byte) bool { return body[s.From] == '{' }

// Text decodes a string, and loses nothing of it: see [Quote]. It returns "" for any other value.
func (s Span) Text(body []byte) string {
	if s.To == 0 || !s.IsString(body) {
		return ""
	}
	return unquote(body[s.From+1:s.To-1], true)
}

// Edit puts a text in the place of the bytes From to To.
type Edit struct {
	From, To int
	Text     []byte
}

// Splice applies edits, which must be sorted and must not overlap.
func Splice(body []byte, edits []Edit) []byte {
	size := len(body)
	for _, e := range edits {
		size += len(e.Text) - (e.To - e.From)
	}
	out := make([]byte, 0, size)
	done := 0
	for _, e := range edits {
		out = append(append(out, body[done:e.From]...), e.Text...)
		done = e.To
	}
	return append(out, body[done:]...)
}
