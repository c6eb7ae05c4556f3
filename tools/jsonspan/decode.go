package jsonspan

import (
	"encoding/json"
	"math"
	"strconv"
)

// Decode decodes a text as encoding/json does, except that numbers keep their spelling. A json.Decoder can do that as well, but
// allocates five times the size of a long string. Decode copies each string once.
func Decode(text []byte) (any, error) {
	return decode(text, func(word string) any { return json.Number(word) })
}

// DecodeFloats decodes a text as encoding/json does. A number that exceeds the range of a float64 keeps its spelling.
func DecodeFloats(text []byte) (any, error) {
	return decode(text, func(word string) any {
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return json.Number(word)
		}
		return n
	})
}

func decode(text []byte, number func(word string) any) (any, error) {
	d, err := parse(text, maxDepth)
	if err != nil {
		return nil, err
	}
	return d.decode(0, number), nil
}

// parse finds the values of a text down to a level. Its error is that of encoding/json.
func parse(text []byte, deepest int) (Document, error) {
	s := scanner{text: text, most: math.MaxInt32, deepest: deepest}
	if !s.whole() {
		var v any
		return Document{}, json.Unmarshal(text, &v)
	}
	return Document{text, s.values}, nil
}

func (d *Document) decode(index int32, number func(word string) any) any {
	v := &d.values[index]
	switch v.Kind {
	case Object:
		object := make(map[string]any)
		for i := index + 1; i < v.next; i = d.values[i].next {
			object[Unquote(d.name(i))] = d.decode(i, number)
		}
		return object
	case Array:
		array := []any{}
		for i := index + 1; i < v.next; i = d.values[i].next {
			array = append(array, d.decode(i, number))
		}
		return array
	case stringKind:
		return Unquote(d.Body[v.Start+1 : v.End-1])
	}
	switch word := d.Body[v.Start:v.End]; word[0] {
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	default:
		return number(string(word))
	}
}

// Members returns the members of an object as parts of a text, or nil if the text is another value.
func Members(text []byte) (map[string]json.RawMessage, error) {
	d, err := parse(text, 1)
	if err != nil || d.values[0].Kind != Object {
		return nil, err
	}
	members := make(map[string]json.RawMessage)
	for i := range d.values[1:] {
		members[Unquote(d.name(int32(i+1)))] = d.raw(i + 1)
	}
	return members, nil
}

// Elements returns the elements of an array as parts of a text, or nil if the text is another value.
func Elements(text []byte) ([]json.RawMessage, error) {
	d, err := parse(text, 1)
	if err != nil || d.values[0].Kind != Array {
		return nil, err
	}
	elements := make([]json.RawMessage, len(d.values)-1)
	for i := range elements {
		elements[i] = d.raw(i + 1)
	}
	return elements, nil
}

func (d *Document) raw(index int) json.RawMessage {
	v := &d.values[index]
	return d.Body[v.Start:v.End:v.End]
}
