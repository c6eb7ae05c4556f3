package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// misread says why a line is no record.
func misread(line []byte) error {
	line = bytes.TrimRight(line, "\x00") // what a loss of power leaves of blocks that were not written
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
	case *head.V < 1 || *head.V > SchemaVersion:
		return fmt.Errorf("%w %d: this program reads 1 to %d", ErrSchema, *head.V, SchemaVersion)
	}
	return ErrSpelling
}

// torn says whether a line is the beginning of a record. It is read once more, by
// a decoder that is strict: one that refuses at once what no record is spelled
// like, and notes whether the line ended within what would have been in order.
func torn(line []byte) bool {
	d := NewDecoder()
	d.in, d.strict = line, true
	d.record(new(Record))
	return d.cut
}

// refuse ends the reading of a strict decoder.
func (d *Decoder) refuse(wrong bool) {
	if d.strict && wrong {
		d.bad = true
	}
}

// breaksOff notes that the line ends here, and in order.
func (d *Decoder) breaksOff(inOrder bool) {
	if d.strict && inOrder && !d.bad {
		d.cut = true
	}
}

// isSpelled says whether a string, without its quotes, is written as s is.
func isSpelled(text []byte, s string) bool {
	again := appendString(nil, s)
	return bytes.Equal(again[1:len(again)-1], text)
}

// beginsString says whether a string that has no end begins as strings are spelled.
// It may break off within an escape or a character.
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

// brokenEscape is the length of an escape at the end of text that breaks off.
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

// beginsTime says whether what comes next is a time, or what is left of one.
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

// beginsSum says whether what comes next is the checksum of the line up to end, or
// what is left of it.
func (d *Decoder) beginsSum(end, schema int) bool {
	rest := string(d.in[min(d.at, len(d.in)):])
	return strings.HasPrefix(`"`+string(appendSum(nil, d.in[:end], schema))+`"}`, rest)
}
