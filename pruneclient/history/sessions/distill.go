package sessions

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// A line of a transcript can have many megabytes: images as base64, and in Claude Code the member toolUseResult, which
// repeats a result in another form. A log keeps only the beginning or the end of a text, so the rest is not decoded.
const (
	longString = 64 << 10       // bytes of the longest string that is kept whole, as written in JSON
	stringEnd  = longString / 2 // bytes that are kept of each end of a longer one
	unused     = "toolUseResult"
)

// beforeUnused stands before the value of that member. It cannot be part of a string, where quotes are escaped.
var beforeUnused = []byte(`,"` + unused + `":`)

// distiller copies a JSON object and shortens it.
type distiller struct {
	in   *bufio.Reader
	goOn func() bool // reports whether there is time left

	out   bytes.Buffer
	depth int
	last  byte // the latest byte outside strings that is not white space
	skip  bool // in the value of the unused member

	most   int  // bytes that are kept of the text of a tool's result, once decoded; 0: as of other strings
	result bool // the latest name is that of such a text

	head, tail []byte // of a string
}

func newDistiller(goOn func() bool) *distiller {
	return &distiller{in: bufio.NewReaderSize(nil, longString), goOn: goOn}
}

var errNoTime = errors.New("no time is left")

// run returns the shortened object, which is valid until the next call.
func (d *distiller) run(in io.Reader) ([]byte, error) {
	d.in.Reset(in)
	d.out.Reset()
	d.depth, d.last, d.skip, d.result = 0, 0, false, false
	for {
		if !d.goOn() {
			return nil, errNoTime
		}
		chunk, err := d.in.ReadSlice('"')
		if err == nil {
			chunk = chunk[:len(chunk)-1]
		}
		d.outside(chunk)
		switch {
		case errors.Is(err, io.EOF):
			return d.out.Bytes(), nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		}
		text, err := d.text()
		if err != nil {
			return nil, err
		}
		d.write(text)
	}
}

// outside copies what stands between strings.
func (d *distiller) outside(chunk []byte) {
	for _, c := range chunk {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{', '[':
			d.depth++
		case '}', ']':
			d.depth--
			d.skip = d.skip && d.depth > 0
		case ',':
			d.skip = d.skip && d.depth > 1
		}
		d.last = c
		if !d.skip {
			d.out.WriteByte(c)
		}
	}
}

// write copies a string. After the name of the unused member everything up to the next one is left out.
func (d *distiller) write(text []byte) {
	if d.skip {
		return
	}
	name := d.last != ':'
	if name {
		d.result = d.depth == resultDepth && string(text) == "content"
	} else if d.result && d.most > 0 {
		text = beginning(text, d.most)
	}
	d.out.WriteByte('"')
	d.out.Write(text)
	d.out.WriteByte('"')
	if name && d.depth == 1 && string(text) == unused {
		d.out.WriteString(":null")
		d.skip = true
	}
}

// text reads a string after its opening quote. Of a long one it returns both ends.
func (d *distiller) text() ([]byte, error) {
	d.head, d.tail = d.head[:0], d.tail[:0]
	total, slashes := 0, 0
	for {
		if !d.goOn() {
			return nil, errNoTime
		}
		chunk, err := d.in.ReadSlice('"')
		ended := err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		total += len(chunk)
		d.keep(chunk)
		if ended {
			chunk = chunk[:len(chunk)-1]
		}
		before := bytes.TrimRight(chunk, `\`)
		if len(before) > 0 {
			slashes = 0
		}
		slashes += len(chunk) - len(before)
		switch {
		case !ended:
		case slashes%2 == 1: // the quote is escaped
			slashes = 0
		case d.skip:
			return nil, nil
		case total-1 <= longString:
			return d.head[:total-1], nil
		default:
			return ends(d.head[:stringEnd], d.tail[max(len(d.tail)-1-stringEnd, 0):len(d.tail)-1]), nil
		}
	}
}

// resultDepth is that of a block in a message of Claude Code. Of the blocks only a tool's result has a text as its content.
const resultDepth = 4

// beginning returns the beginning of a string that has more than the given number of bytes once it is decoded, or all of it. It
// ends between two escape sequences.
func beginning(text []byte, most int) []byte {
	for i := 0; i < len(text); most-- {
		if most < 0 {
			return text[:i]
		}
		size := 1
		if text[i] == '\\' {
			size = 2
			if text[min(i+1, len(text)-1)] == 'u' {
				size = 6
			}
		}
		i += size
	}
	return text
}

// keep adds a part of a string to both ends.
func (d *distiller) keep(part []byte) {
	if d.skip {
		return
	}
	d.head = append(d.head, part[:min(max(longString-len(d.head), 0), len(part))]...)
	d.tail = append(d.tail, part...)
	if len(d.tail) > 2*longString {
		d.tail = append(d.tail[:0], d.tail[len(d.tail)-longString:]...)
	}
}

// ends joins the two ends of a string so that no escape sequence is cut.
func ends(head, tail []byte) []byte {
	const longest = len(`\u0000`)
	if at := bytes.LastIndexByte(head[len(head)-longest:], '\\'); at >= 0 {
		head = bytes.TrimRight(head[:len(head)-longest+at], `\`)
	}
	for len(tail) > 0 && (tail[0] == '\\' || tail[0] == '"') {
		if rest := bytes.TrimLeft(tail, `\`); len(rest) > 0 {
			tail = rest[1:]
			continue
		}
		tail = nil
	}
	return append(append(append([]byte(nil), head...), " "...), tail...)
}
