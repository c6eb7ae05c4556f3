package structure

import "strings"

// The JSON in a text, and the records in the JSON: the elements of its lists, as byte ranges. The text may have
// anything around the JSON, such as a sentence, a heading or the "data: " of an event stream. Time is linear in
// the length of the text, and nothing is copied.

// jsonKind is the type of a JSON value.
type jsonKind uint8

// The kinds. Scalar is a number, true, false or null.
const (
	jsonObject jsonKind = iota
	jsonArray
	jsonString
	jsonScalar
)

// jsonValue is one JSON value of a text.
type jsonValue struct {
	Member     int32 // byte offset of its key's opening quote; in an array, the same as Start
	Start, End int32 // byte range, End excluded
	Parent     int32 // index of the enclosing container, or -1
	Kind       jsonKind
}

// Holds reports whether the value is an object or an array.
func (v jsonValue) Holds() bool { return v.Kind <= jsonArray }

// Limits of Values.
const (
	mostBytes  = 1 << 30 // of a text
	mostValues = 1 << 20 // of a text; a list of so many values is data, not something to read
	mostFailed = 4       // bytes read in vain, per byte of the text
)

// jsonValues returns the values of every complete JSON object and array in a text, containers before their
// content. Objects and arrays with a mistake are skipped; of what is nested in one, only values after the
// beginning of the mistake are looked for again. It returns nil for a text that has none, or exceeds a limit.
func jsonValues(text string) []jsonValue {
	if len(text) > mostBytes {
		return nil
	}
	s := scanner{text: text}
	for failed := 0; failed <= mostFailed*len(text); {
		start := strings.IndexAny(text[s.at:], "{[")
		if start < 0 {
			break
		}
		start += s.at
		found := len(s.values)
		if s.at = start; s.container() {
			continue
		}
		if len(s.values) > mostValues {
			return nil
		}
		failed += s.at - start
		s.values, s.at = s.values[:found], start+1
	}
	return s.values
}

// scanner reads JSON values from a text.
type scanner struct {
	text   string
	at     int
	values []jsonValue
}

// expected names the tokens that may come next.
type expected uint8

const (
	value      expected = iota
	valueOrEnd          // after "["
	key                 // after "," in an object
	keyOrEnd            // after "{"
	commaOrEnd
)

// container reads the object or array at s.at with everything in it, and moves s.at past its end. If there is
// a mistake it returns false, and s.at is where the mistake is.
func (s *scanner) container() bool {
	open, member, next := int32(-1), int32(-1), value
	for len(s.values) <= mostValues {
		s.space()
		if s.at == len(s.text) {
			return false
		}
		c := s.text[s.at]
		switch {
		case (c == '}' || c == ']') && next != value && next != key:
			if c != closing(s.values[open].Kind) {
				return false
			}
			s.at++
			s.values[open].End = int32(s.at)
			if open = s.values[open].Parent; open < 0 {
				return true
			}
			next = commaOrEnd
		case next == commaOrEnd:
			if c != ',' {
				return false
			}
			s.at++
			next = afterComma(s.values[open].Kind)
		case next == key || next == keyOrEnd:
			if member = int32(s.at); !s.key() {
				return false
			}
			next = value
		default:
			v := jsonValue{Member: member, Start: int32(s.at), Parent: open}
			if open < 0 || s.values[open].Kind == jsonArray {
				v.Member = v.Start
			}
			if next = s.value(&v); next == failed {
				return false
			}
			if s.values = append(s.values, v); v.Holds() {
				open = int32(len(s.values) - 1)
			}
		}
	}
	return false
}

// failed is the answer of value where no value begins.
const failed = commaOrEnd + 1

// value reads a scalar, a string or the opening bracket of a container, and returns what may follow.
func (s *scanner) value(v *jsonValue) (next expected) {
	next = commaOrEnd
	switch s.text[s.at] {
	case '{':
		v.Kind, next = jsonObject, keyOrEnd
		s.at++
	case '[':
		v.Kind, next = jsonArray, valueOrEnd
		s.at++
	case '"':
		if v.Kind = jsonString; !s.string() {
			return failed
		}
	default:
		if v.Kind = jsonScalar; !s.scalar() {
			return failed
		}
	}
	v.End = int32(s.at)
	return next
}

func closing(k jsonKind) byte {
	if k == jsonObject {
		return '}'
	}
	return ']'
}

func afterComma(k jsonKind) expected {
	if k == jsonObject {
		return key
	}
	return value
}

func (s *scanner) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
}

// key reads a string and the colon after it.
func (s *scanner) key() bool {
	if s.text[s.at] != '"' || !s.string() {
		return false
	}
	s.space()
	if s.at == len(s.text) || s.text[s.at] != ':' {
		return false
	}
	s.at++
	return true
}

// string moves past the string at s.at. A string ends on its line.
func (s *scanner) string() bool {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return true
		case '\n':
			return false
		}
	}
	s.at = len(s.text)
	return false
}

// scalar moves past a number, true, false or null.
func (s *scanner) scalar() bool {
	start := s.at
	for s.at < len(s.text) && inScalar(s.text[s.at]) {
		s.at++
	}
	switch word := s.text[start:s.at]; word {
	case "":
		return false
	case "true", "false", "null":
		return true
	default:
		digits := strings.TrimPrefix(word, "-")
		return digits != "" && digits[0] >= '0' && digits[0] <= '9' && strings.Trim(word, "0123456789+-.eE") == ""
	}
}

func inScalar(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}
