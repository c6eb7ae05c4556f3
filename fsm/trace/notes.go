package trace

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
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
		if err = reserve(f, ringBytes); err == nil { // a full disk fails here, not with SIGBUS later
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

func writeZeros(f *os.File, size int) error {
	_, err := f.Write(make([]byte, size))
	return err
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
	if len(n.free) == slots && n.overflow == 0 {
		return nil
	}
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
