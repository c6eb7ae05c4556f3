package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// misread returns the reason why a line is not a record.
func misread(line []byte) error {
	line = bytes.TrimRight(line, "\x00") // after a loss of power, blocks that were not written read as zeros
	var head struct {
		V *int `json:"v"`
	}
	err := json.Unmarshal(line, &head)
	switch {
	case bytes.HasSuffix(line, []byte("\r")):
		return ErrLineEnd
	case err != nil && torn(line):
		return ErrTorn
	case err != nil:
		return fmt.Errorf("broken line: %w", err)
	case head.V == nil:
		return fmt.Errorf("%w: there is none", ErrSchema)
	case *head.V > SchemaVersion:
		return fmt.Errorf("%w %d: a later program wrote it, this one reads version %d: read it with that one", ErrSchema, *head.V, SchemaVersion)
	case *head.V != SchemaVersion:
		return fmt.Errorf("%w %d: a program before the first release wrote it, this one reads version %d: move the file away, a server begins a new one",
			ErrSchema, *head.V, SchemaVersion)
	}
	return ErrSpelling
}

// torn reports whether a line is the beginning of a record. It decodes the line again in
// strict mode: the decoder refuses the first byte that no record can have there, and notes
// whether the line ended before it found one.
func torn(line []byte) bool {
	d := NewDecoder()
	d.in, d.strict = line, true
	d.record(new(Record))
	return d.cut
}

// refuse stops a strict decoder if wrong is true.
func (d *Decoder) refuse(wrong bool) {
	if d.strict && wrong {
		d.bad = true
	}
}

// breaksOff notes that the line ends here without an error so far.
func (d *Decoder) breaksOff(inOrder bool) {
	if d.strict && inOrder && !d.bad {
		d.cut = true
	}
}

// isSpelled reports whether text, a string without its quotes, is the encoding of s.
func isSpelled(text []byte, s string) bool {
	again := appendString(nil, s)
	return bytes.Equal(again[1:len(again)-1], text)
}

// beginsString reports whether text, a string without its closing quote, is the beginning
// of an encoded string. It may end within an escape or a character.
func beginsString(text []byte) bool {
	text = text[:len(text)-brokenEscape(text)]
	for i := max(0, len(text)-utf8.UTFMax); i < len(text); i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			text = text[:i]
		}
	}
	var s string
	return json.Unmarshal([]byte(`"`+string(text)+`"`), &s) == nil && isSpelled(text, s)
}

// brokenEscape returns the length of an incomplete escape at the end of text.
func brokenEscape(text []byte) int {
	at := bytes.LastIndexByte(text, '\\')
	if at < 0 {
		return 0
	}
	before := len(text[:at]) - len(bytes.TrimRight(text[:at], `\`))
	last := text[at:]
	if before%2 == 1 || len(last) == len(`\u001f`) || !strings.HasPrefix(`\u00`, string(last[:min(len(last), 4)])) {
		return 0
	}
	return len(last)
}

// beginsTime reports whether the rest of the line starts with a time or is the beginning of
// one.
func (d *Decoder) beginsTime() bool {
	rest := d.in[min(d.at, len(d.in)):]
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	for i, c := range []byte(`"` + startLayout + `"`) {
		if i < len(rest) && rest[i] != c && !(digit(c) && digit(rest[i])) {
			return false
		}
	}
	return true
}

// beginsSum reports whether the rest of the line is the checksum of the line up to end, or
// the beginning of that checksum.
func (d *Decoder) beginsSum(end int) bool {
	rest := string(d.in[min(d.at, len(d.in)):])
	return strings.HasPrefix(`"`+string(appendSum(nil, d.in[:end]))+`"}`, rest)
}
