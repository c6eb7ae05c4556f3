package trace

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// readNotes reads a side file. The records are ordered by time, earliest first.
func readNotes(raw []byte) (records []Record) {
	tables := NewReplayer().tables
	add := func(state noteState, body []byte) {
		if r, err := readNote(body, state, tables); err == nil {
			records = append(records, r)
		}
	}
	for at := 0; at+slotBytes <= min(len(raw), ringBytes); at += slotBytes {
		slot := raw[at : at+slotBytes]
		size := int(binary.LittleEndian.Uint16(slot[1:]))
		if state := noteState(slot[0]); state != noteFree && size <= slotBytes-slotHead {
			add(state, slot[slotHead:slotHead+size])
		}
	}
	for rest := raw[min(len(raw), ringBytes):]; len(rest) >= longHead; {
		state, size := noteState(rest[0]), int(binary.LittleEndian.Uint32(rest[1:]))
		if size > len(rest)-longHead {
			break
		}
		if state != noteFree {
			add(state, rest[longHead:longHead+size])
		}
		rest = rest[longHead+size:]
	}
	slices.SortStableFunc(records, func(x, y Record) int { return x.Start.Compare(y.Start) })
	return records
}

// appendNote appends the data of the record's line, in the order of its members.
func (r *Record) appendNote(b []byte) []byte {
	d := r.live.Definition()
	for _, s := range []string{r.Server, d.Hash(), r.ID, r.Session, r.Client, r.Tool, r.Subject} {
		b = appendBytes(b, s)
	}
	b = binary.AppendVarint(b, r.Start.UnixMicro())
	steps, known := r.live.Steps(), headsOf(d)
	b = binary.AppendUvarint(b, uint64(len(steps)))
	for i := range steps {
		row := steps[i].Row()
		b = binary.AppendUvarint(b, uint64(row))
		b = binary.AppendVarint(b, steps[i].At.Microseconds())
		b = appendBytes(b, known[row].why(&steps[i]))
	}
	fields := d.Fields()
	at := 0
	r.eachValue(func(field string, value any) {
		for fields[at] != field {
			at++
		}
		b = appendField(binary.AppendUvarint(b, uint64(at)+1), value)
	})
	b = append(b, 0)
	for _, size := range []int{r.Bytes.Raw, r.Bytes.Sent, r.Bytes.Wire, r.Bytes.Beside, r.Bytes.BesideSent} {
		b = binary.AppendVarint(b, int64(size))
	}
	b = append(b, flagByte(r.Part, 1)|flagByte(r.Opaque, 2)|flagByte(r.Detail != nil, 4))
	if r.Detail != nil {
		for _, s := range []string{r.Detail.Question, r.Detail.Path, r.Detail.Command, r.Detail.Pattern} {
			b = appendBytes(b, s)
		}
	}
	return b
}

func flagByte(on bool, bit byte) byte {
	if on {
		return bit
	}
	return 0
}

func appendBytes(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendField appends a metadata value, preceded by its kind.
func appendField(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return append(b, 'b', flagByte(v, 1))
	case int:
		return binary.AppendVarint(append(b, 'n'), int64(v))
	case int64:
		return binary.AppendVarint(append(b, 'n'), v)
	case string:
		return appendBytes(append(b, 's'), v)
	}
	return appendBytes(append(b, 's'), "")
}

// noteReader reads the encoding of appendNote.
type noteReader struct {
	in  []byte
	bad bool
}

func (n *noteReader) uint() uint64 {
	v, size := binary.Uvarint(n.in)
	if size <= 0 {
		n.bad, n.in = true, nil
		return 0
	}
	n.in = n.in[size:]
	return v
}

func (n *noteReader) int() int64 {
	v, size := binary.Varint(n.in)
	if size <= 0 {
		n.bad, n.in = true, nil
		return 0
	}
	n.in = n.in[size:]
	return v
}

func (n *noteReader) byte() byte {
	if len(n.in) == 0 {
		n.bad = true
		return 0
	}
	c := n.in[0]
	n.in = n.in[1:]
	return c
}

func (n *noteReader) string() string {
	size := n.uint()
	if size > uint64(len(n.in)) {
		n.bad, n.in = true, nil
		return ""
	}
	s := string(n.in[:size])
	n.in = n.in[size:]
	return s
}

var errNote = errors.New("it is no note of an answer")

// readNote returns the record that the process would have written. tables are known by their hashes.
func readNote(in []byte, state noteState, tables map[string]*fsm.Definition) (Record, error) {
	n := &noteReader{in: in}
	var r Record
	r.Server, r.Table, r.ID, r.Session, r.Client, r.Tool, r.Subject = n.string(), n.string(), n.string(), n.string(), n.string(), n.string(), n.string()
	d := tables[r.Table]
	if n.bad || d == nil {
		return r, errNote
	}
	r.Machine, r.Start = d.Name(), time.UnixMicro(n.int()).UTC()
	known := headsOf(d)
	for count := n.uint(); count > 0 && !n.bad; count-- {
		row, micros, why := n.uint(), n.int(), n.string()
		if row >= uint64(len(known)) {
			return r, errNote
		}
		s := known[row].Step
		s.Micros, s.Why = micros, why
		r.Steps = append(r.Steps, s)
	}
	n.metadata(&r, d.Fields())
	for _, size := range []*int{&r.Bytes.Raw, &r.Bytes.Sent, &r.Bytes.Wire, &r.Bytes.Beside, &r.Bytes.BesideSent} {
		*size = int(n.int())
	}
	flags := n.byte()
	r.Part, r.Opaque = flags&1 != 0, flags&2 != 0
	if flags&4 != 0 {
		r.Detail = &Detail{n.string(), n.string(), n.string(), n.string()}
	}
	if n.bad || len(r.Steps) == 0 {
		return r, errNote
	}
	r.finish(d, state)
	return r, nil
}

func (n *noteReader) metadata(r *Record, fields []string) {
	for at := n.uint(); at > 0 && at <= uint64(len(fields)) && !n.bad; at = n.uint() {
		v := Value{Field: fields[at-1]}
		switch n.byte() {
		case 'b':
			v.Value = n.byte() == 1
		case 'n':
			v.Value = n.int()
		default:
			v.Value = n.string()
		}
		r.Pruning = append(r.Pruning, v)
	}
}

// finish adds the last step. Its time is unknown. A run or a call that was interrupted gets none: it ends in the state
// that it was in.
func (r *Record) finish(d *fsm.Definition, state noteState) {
	last := r.Steps[len(r.Steps)-1]
	trigger := fsm.Written
	run := isRun(d)
	switch {
	case run:
		trigger = fsm.PhaseEnded
	case state == noteFailed:
		trigger = fsm.WriteFailed
	}
	at := d.Index(last.To, trigger)
	if at >= 0 && !(run && state == noteAnswering) {
		s := headsOf(d)[at].Step
		s.Micros = last.Micros
		r.Steps = append(r.Steps, s)
	}
	r.Outcome = r.Steps[len(r.Steps)-1].To.Short()
	switch {
	case run:
	case at < 0 && !d.Terminal(last.To):
		r.Answer, r.Bytes, r.Opaque = Interrupted, Bytes{}, false
	case state == noteAnswering:
		r.Answer = Unconfirmed
	case state == noteFailed:
		r.Answer, r.Bytes, r.Opaque = Unwritten, Bytes{}, false
	}
}
