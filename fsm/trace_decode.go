package fsm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// What can be wrong with a line as such.
var (
	// ErrTorn: the line ends within a record, as it does when its writer is killed
	// or the disk is full.
	ErrTorn = errors.New("the line breaks off in the middle of a record")
	// ErrChecksum: something in the line was changed after it was written.
	ErrChecksum = errors.New("the checksum does not fit the line")
	// ErrSpelling: it reads as a record, but no record is written that way.
	ErrSpelling = errors.New("the line is not spelled as records are")
	// ErrSchema: a version of the format that this program does not know.
	ErrSchema = errors.New("unknown schema version")
)

// Decoder reads records. It keeps the strings that come again and again, so one
// decoder should read many lines; it is not for several goroutines.
type Decoder struct {
	known map[string]string
	again []byte
	in    []byte
	at    int
	bad   bool
}

// NewDecoder makes a decoder.
func NewDecoder() *Decoder { return &Decoder{known: make(map[string]string)} }

// Decode reads one line, without its newline, and checks its checksum. The error
// is one of those above or says what is no JSON.
func (d *Decoder) Decode(line []byte, r *Record) error {
	d.in, d.at, d.bad = line, 0, false
	*r = Record{Steps: r.Steps[:0]}
	d.record(r)
	if d.bad || d.at != len(line) {
		return misread(line)
	}
	sum := r.Sum
	d.again = AppendRecord(d.again[:0], r)
	written := d.again[:len(d.again)-1]
	if bytes.Equal(written, line) {
		return nil
	}
	// Equal but for the checksum itself: then that is what is wrong.
	if n := len(line) - len(sum) - 2; n > 0 && n <= len(written) && bytes.Equal(written[:n], line[:n]) {
		return ErrChecksum
	}
	return ErrSpelling
}

// Reseal gives a record that was changed the checksum that fits it. It is for
// tests that show what checksums alone do not prove.
func Reseal(r *Record) []byte {
	line := AppendRecord(nil, r)
	return line[:len(line)-1]
}

// misread says why a line is no record.
func misread(line []byte) error {
	var head struct {
		V *int `json:"v"`
	}
	err := json.Unmarshal(line, &head)
	switch {
	case err != nil && incomplete(line):
		return ErrTorn
	case err != nil:
		return fmt.Errorf("broken line: %w", err)
	case head.V == nil:
		return fmt.Errorf("%w: there is none", ErrSchema)
	case *head.V != TraceSchema:
		return fmt.Errorf("%w %d: this program reads %d", ErrSchema, *head.V, TraceSchema)
	}
	return ErrSpelling
}

// incomplete says whether a line is the beginning of a record.
func incomplete(line []byte) bool {
	opening := []byte(`{"v":`)
	n := min(len(line), len(opening))
	if !bytes.Equal(line[:n], opening[:n]) {
		return false
	}
	var syntax *json.SyntaxError
	err := json.Unmarshal(line, new(any))
	return errors.As(err, &syntax) && syntax.Offset >= int64(len(line)) && syntax.Error() == "unexpected end of JSON input"
}

func (d *Decoder) record(r *Record) {
	d.want(`{"v":`)
	if d.int() != TraceSchema {
		d.bad = true
		return
	}
	d.want(`,"server":`)
	r.Server = d.common()
	d.want(`,"machine":`)
	r.Machine = d.common()
	d.want(`,"table":`)
	r.Table = d.common()
	d.want(`,"writer":`)
	r.Writer = d.common()
	d.want(`,"seq":`)
	r.Seq = uint64(d.int())
	if d.has(`,"prev":`) {
		r.Prev = d.string()
	}
	r.Lost = int(d.intIf(`,"lost":`))
	d.want(`,"id":`)
	r.ID = d.string()
	r.Amends = d.has(`,"amends":true`)
	r.Session = d.commonIf(`,"session":`)
	r.Client = d.commonIf(`,"client":`)
	r.Tool = d.commonIf(`,"tool":`)
	d.start(r)
	d.steps(r)
	d.want(`,"outcome":`)
	r.Outcome = d.common()
	d.pruning(r)
	d.sizes(r)
	r.Subject = d.commonIf(`,"subject":`)
	r.Part = d.has(`,"part":true`)
	d.detail(r)
	d.want(`,"sum":`)
	r.Sum = d.string()
	d.want(`}`)
}

func (d *Decoder) start(r *Record) {
	d.want(`,"start":`)
	t, err := parseStart(string(d.raw()))
	if err != nil {
		d.bad = true
	}
	r.Start = t
}

func (d *Decoder) steps(r *Record) {
	d.want(`,"steps":[`)
	for !d.bad && !d.has(`]`) {
		if len(r.Steps) > 0 {
			d.want(`,`)
		}
		d.step(r)
	}
}

func (d *Decoder) step(r *Record) {
	var s TraceStep
	if n := len(r.Steps); n < cap(r.Steps) { // its list of events can be used again
		s.Events = r.Steps[:n+1][n].Events[:0]
	}
	d.want(`{"from":`)
	s.From = State(d.common())
	d.want(`,"trigger":`)
	s.Trigger = Trigger(d.common())
	d.want(`,"to":`)
	s.To = State(d.common())
	d.want(`,"row":`)
	s.Row = d.common()
	d.want(`,"events":[`)
	for !d.bad && !d.has(`]`) {
		if len(s.Events) > 0 {
			d.want(`,`)
		}
		s.Events = append(s.Events, d.common())
	}
	d.want(`,"us":`)
	s.Micros = d.int()
	s.Why = d.commonIf(`,"why":`)
	d.want(`}`)
	r.Steps = append(r.Steps, s)
}

func (d *Decoder) pruning(r *Record) {
	if d.has(`,"pruning":{`) {
		d.values(r, "")
	}
}

// values reads the members of an object; those of an inner one are named outer.inner.
func (d *Decoder) values(r *Record, outer string) {
	for first := true; !d.bad && !d.has(`}`); first = false {
		if !first {
			d.want(`,`)
		}
		field := d.common()
		if outer != "" {
			field = d.intern([]byte(outer + "." + field))
		}
		d.want(`:`)
		switch {
		case outer == "" && d.has(`{`):
			d.values(r, field)
		case d.has(`true`):
			r.Pruning = append(r.Pruning, Value{field, true})
		case d.has(`false`):
			r.Pruning = append(r.Pruning, Value{field, false})
		case d.at < len(d.in) && d.in[d.at] == '"':
			r.Pruning = append(r.Pruning, Value{field, d.common()})
		default:
			r.Pruning = append(r.Pruning, Value{field, d.int()})
		}
	}
}

func (d *Decoder) sizes(r *Record) {
	if d.has(`,"bytes":{"raw":`) {
		r.Bytes.Raw = int(d.int())
		d.want(`,"sent":`)
		r.Bytes.Sent = int(d.int())
		d.want(`,"wire":`)
		r.Bytes.Wire = int(d.int())
		d.want(`}`)
	}
	if d.has(`,"tokens":{"raw":`) {
		r.Tokens.Raw = int(d.int())
		d.want(`,"sent":`)
		r.Tokens.Sent = int(d.int())
		r.Tokens.Question = int(d.intIf(`,"question":`))
		r.Tokens.Estimated = d.has(`,"estimated":true`)
		d.want(`}`)
	}
}

func (d *Decoder) detail(r *Record) {
	if !d.has(`,"detail":{"question":`) {
		return
	}
	r.Detail = &TraceDetail{Question: d.string()}
	for _, f := range []struct {
		key string
		to  *string
	}{{`,"path":`, &r.Detail.Path}, {`,"command":`, &r.Detail.Command}, {`,"pattern":`, &r.Detail.Pattern}} {
		if d.has(f.key) {
			*f.to = d.string()
		}
	}
	d.want(`}`)
}

func (d *Decoder) has(text string) bool {
	end := d.at + len(text)
	if end > len(d.in) || string(d.in[d.at:end]) != text {
		return false
	}
	d.at = end
	return true
}

func (d *Decoder) want(text string) {
	if !d.has(text) {
		d.bad = true
	}
}

func (d *Decoder) int() int64 {
	start := d.at
	for d.at < len(d.in) && (d.in[d.at] == '-' || d.in[d.at] >= '0' && d.in[d.at] <= '9') {
		d.at++
	}
	n, err := strconv.ParseInt(string(d.in[start:d.at]), 10, 64)
	if err != nil {
		d.bad = true
	}
	return n
}

func (d *Decoder) intIf(key string) int64 {
	if !d.has(key) {
		return 0
	}
	return d.int()
}

func (d *Decoder) string() string { return string(d.raw()) }

func (d *Decoder) common() string { return d.intern(d.raw()) }

func (d *Decoder) commonIf(key string) string {
	if !d.has(key) {
		return ""
	}
	return d.common()
}

// internLimit bounds what a decoder remembers of a hostile file.
const internLimit = 1 << 14

func (d *Decoder) intern(raw []byte) string {
	if s, ok := d.known[string(raw)]; ok {
		return s
	}
	s := string(raw)
	if len(d.known) < internLimit && len(s) <= 64 {
		d.known[s] = s
	}
	return s
}

// raw reads a JSON string. Without escapes it is a part of the line.
func (d *Decoder) raw() []byte {
	if d.at >= len(d.in) || d.in[d.at] != '"' {
		d.bad = true
		return nil
	}
	rest := d.in[d.at+1:]
	end := bytes.IndexByte(rest, '"')
	if end >= 0 && bytes.IndexByte(rest[:end], '\\') < 0 {
		d.at += end + 2
		return rest[:end]
	}
	return d.escaped()
}

func (d *Decoder) escaped() []byte {
	end := d.at + 1
	for end < len(d.in) && d.in[end] != '"' {
		if d.in[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(d.in) {
		d.bad = true
		return nil
	}
	var s string
	if json.Unmarshal(d.in[d.at:end+1], &s) != nil {
		d.bad = true
	}
	d.at = end + 1
	return []byte(s)
}
