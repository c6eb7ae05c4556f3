package trace

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// notes holds a short note for each call under way, each answer and each run in progress. The notes are in a file
// mapped into shared memory, so they survive the process without a system call. A note is
// made when a tool or a run starts, replaced before the answer is written, and freed once the line of its
// record is in the trace.
//
// The side file is a ring of slots. A note that is too long for a slot, or finds no free
// slot, is written to the overflow area after the ring with a system call of its own.
type notes struct {
	mu   sync.Mutex
	file *os.File
	path string
	ring []byte // the memory-mapped slots
	free []int  // free slots

	overflow int // number of notes in the overflow
	end      int64
	scratch  []byte
}

// noteState is the progress of an answer.
type noteState byte

const (
	noteFree      noteState = iota
	noteAnswering           // the answer is being written, or the run goes on
	noteWritten             // it was written completely, or the run has ended
	noteFailed              // it could not be written
)

const (
	slotBytes  = 512
	slotHead   = 3 // state, length
	slots      = 1024
	ringBytes  = slots * slotBytes
	longHead   = 5 // state, length
	notesInfix = ".notes-"
)

// Note identifies a note in the side file: 0 is none, a negative number is a slot, and a
// positive number is an offset in the overflow.
type Note int64

// newNotes creates the side file and locks it. The system releases the lock when the
// process ends, however it ends.
func newNotes(path string, lock locker) (*notes, error) {
	// The file is locked before it gets its final name: another process that found it
	// unlocked would take it for the side file of a killed process.
	making := path + ".new"
	f, err := os.OpenFile(making, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	n := &notes{file: f, path: path, end: ringBytes}
	if _, err = lock(f); err == nil {
		if _, err = f.Write(make([]byte, ringBytes)); err == nil { // a full disk fails here, not with SIGBUS later
			if n.ring, err = mapFile(f, ringBytes); err == nil {
				err = os.Rename(making, path)
			}
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(making))
	}
	for i := range slots {
		n.free = append(n.free, slots-1-i)
	}
	return n, nil
}

// put stores a note for an answer that is about to be written.
func (n *notes) put(r *Record) Note {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ring == nil {
		return 0
	}
	n.scratch = r.appendNote(n.scratch[:0])
	if len(n.scratch) > slotBytes-slotHead || len(n.free) == 0 {
		return n.putLong()
	}
	slot := n.free[len(n.free)-1]
	n.free = n.free[:len(n.free)-1]
	at := n.ring[slot*slotBytes:]
	binary.LittleEndian.PutUint16(at[1:], uint16(len(n.scratch)))
	copy(at[slotHead:], n.scratch)
	at[0] = byte(noteAnswering) // set last: until then the slot counts as free
	return Note(-1 - slot)
}

func (n *notes) putLong() Note {
	head := binary.LittleEndian.AppendUint32([]byte{byte(noteAnswering)}, uint32(len(n.scratch)))
	at := n.end
	if _, err := n.file.WriteAt(append(head, n.scratch...), at); err != nil {
		return 0
	}
	n.end += int64(longHead + len(n.scratch))
	n.overflow++
	return Note(at)
}

// set records the progress of the answer; noteFree frees its place.
func (n *notes) set(note Note, state noteState) {
	if note == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ring == nil {
		return
	}
	if note < 0 {
		slot := int(-1 - note)
		n.ring[slot*slotBytes] = byte(state)
		if state == noteFree {
			n.free = append(n.free, slot)
		}
		return
	}
	_, _ = n.file.WriteAt([]byte{byte(state)}, int64(note)) // on an error the line still has it
	if state == noteFree {
		if n.overflow--; n.overflow == 0 && n.file.Truncate(ringBytes) == nil {
			n.end = ringBytes
		}
	}
}

// interrupted returns the records of the calls that are still under way.
func (n *notes) interrupted() []Record {
	n.mu.Lock()
	defer n.mu.Unlock()
	raw, err := io.ReadAll(io.NewSectionReader(n.file, 0, max(n.end, ringBytes)))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(readNotes(raw), func(r Record) bool { return r.Answer != Interrupted })
}

// close removes the side file. Calls that are still under way can no longer make or change a note.
func (n *notes) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	ring := n.ring
	n.ring = nil
	return errors.Join(os.Remove(n.path), unmapFile(ring), n.file.Close()) // remove it while locked
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

// readNote returns the record that the process would have written. definition finds a table
// by its hash.
func readNote(in []byte, state noteState, definition func(hash string) *fsm.Definition) (Record, error) {
	n := &noteReader{in: in}
	var r Record
	r.Server, r.Table, r.ID, r.Session, r.Client, r.Tool, r.Subject = n.string(), n.string(), n.string(), n.string(), n.string(), n.string(), n.string()
	d := definition(r.Table)
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
	run := slices.ContainsFunc(headsOf(d), func(h head) bool { return h.Trigger == fsm.PhaseEnded })
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
