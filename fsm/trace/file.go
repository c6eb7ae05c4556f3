package trace

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"sync"
	"time"
)

// File appends records to a file, which any number of processes may share: lines are
// made and appended in batches, each batch with one write at the end of the file. Each
// process numbers its lines and chains them by their hashes, and seals every batch.
//
// Until its line is in the file, an answer is known from a note in a side file, which
// the next process that opens the trace folds in when this one was killed.
type File struct {
	path    string
	options Options
	writer  string
	notes   *notes // nil: there is no shared memory
	ended   chan struct{}
	gone    sync.WaitGroup

	mu      sync.Mutex
	queue   []queued
	filled  chan struct{}
	dropped int // records that found the queue full
	closed  bool

	io      sync.Mutex // of what follows
	file    *os.File   // nil after a failure: the next batch opens it anew
	sign    *signer
	seq     uint64 // of the line written last
	prev    string // its link
	lost    int
	headed  uint64    // seq of the head told last
	looked  time.Time // when the file was last seen at its path
	began   time.Time // when the first record of the file was made
	failing bool      // the last batch failed, and that was told
	lines   []byte
}

// Options are how a trace is kept.
type Options struct {
	MaxBytes int64         // a larger file is put aside; 0: no limit
	MaxAge   time.Duration // so is one whose first line is older; 0: no limit
	Keep     int           // files put aside that are kept, the oldest is removed first; 0: all

	Process Process // of the first line; its key is filled in

	Failed  func(error)       // takes every first failure; nil: nobody is told
	Head    func(Head)        // takes the heads of the chain; nil: nobody is told
	Removed func(file string) // takes the names of files that are kept no longer
}

// Head is the state of a process' chain. Kept where the audited agent cannot write, it
// proves that nothing before it was cut off, changed or put in its place.
type Head struct {
	Writer string
	Seq    uint64 // lines written
	Link   string // of the last of them; "" at start
	Key    string // public key of the next seal
	Final  bool   // the process writes no more
}

// headEvery is the number of lines after which a head is told.
const headEvery = 1000

// gather is how long a record waits for others, so that they share a write and a seal.
const gather = 50 * time.Millisecond

// maxQueued bounds what waits while a file system hangs.
const maxQueued = 1 << 16

// lookEvery is how often it is checked that the file is still at its path: log
// rotation and people move and remove files.
const lookEvery = time.Second

type queued struct {
	record *Record
	note   Note
}

// Open opens a trace for appending and makes it when there is none. No failure later on
// reaches the machines.
func Open(path string, o Options) (*File, error) {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails, by its documentation
	t := &File{
		path: path, options: o, writer: hex.EncodeToString(id[:]), sign: newSigner(),
		ended: make(chan struct{}), filled: make(chan struct{}, 1),
	}
	if err := t.open(); err != nil {
		return nil, err
	}
	if info, err := t.file.Stat(); err == nil && info.Mode().IsRegular() {
		t.foldIn()
		t.notes, _ = newNotes(path + notesInfix + t.writer) // without them the last batch is lost when the process is killed
	}
	t.tellHead(false)
	t.gone.Go(t.work)
	return t, nil
}

// Check says why a trace could not be opened at a path.
func Check(path string) error {
	t := &File{path: path}
	if err := t.open(); err != nil {
		return err
	}
	return t.file.Close()
}

// Note notes an answer that is about to be written, from a record taken of its machine.
// It takes some hundred nanoseconds and no system call.
func (t *File) Note(r *Record) Note {
	if t.notes == nil {
		return 0
	}
	return t.notes.put(r)
}

// Append takes the record of a machine that has ended, whose answer had the given note;
// 0 when there is none. The record must not be changed afterwards. It is written soon;
// when that fails it is counted, and the next line that can be written says how many
// there were.
func (t *File) Append(r *Record, note Note) {
	if t.notes != nil && note != 0 {
		state := noteWritten
		if r.Answer == Unwritten {
			state = noteFailed
		}
		t.notes.set(note, state)
	}
	t.mu.Lock()
	if len(t.queue) >= maxQueued {
		t.dropped++
		t.mu.Unlock()
		return
	}
	t.queue = append(t.queue, queued{r, note})
	first := len(t.queue) == 1
	t.mu.Unlock()
	if first {
		select {
		case t.filled <- struct{}{}:
		default:
		}
	}
}

// work writes batches until the trace is closed.
func (t *File) work() {
	for {
		select {
		case <-t.filled:
		case <-t.ended:
			return
		}
		timer := time.NewTimer(gather)
		select {
		case <-timer.C:
		case <-t.ended:
			timer.Stop()
			return
		}
		_ = t.Flush() // told, and counted
	}
}

// Flush writes what waits.
func (t *File) Flush() error {
	t.io.Lock()
	defer t.io.Unlock()
	t.mu.Lock()
	batch := t.queue
	t.queue, t.lost, t.dropped = nil, t.lost+t.dropped, 0
	t.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	err := t.write(batch)
	if t.notes != nil {
		for _, q := range batch {
			t.notes.set(q.note, noteFree)
		}
	}
	if err != nil {
		t.drop()
		t.tell(err)
		return err
	}
	t.failing = false
	return nil
}

// tell reports the first failure of an outage.
func (t *File) tell(err error) {
	if !t.failing && t.options.Failed != nil {
		t.options.Failed(err)
	}
	t.failing = true
}

func (t *File) tellHead(final bool) {
	t.headed = t.seq
	if t.options.Head != nil {
		t.options.Head(Head{t.writer, t.seq, t.prev, t.sign.public(), final})
	}
}

// Close writes what waits and closes the file. A record that still comes is lost.
func (t *File) Close() error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	t.closed = true
	t.mu.Unlock()
	close(t.ended)
	t.gone.Wait()
	err := t.Flush()
	t.io.Lock()
	defer t.io.Unlock()
	t.tellHead(true)
	if t.notes != nil {
		err = errors.Join(err, t.notes.close())
	}
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
		t.file = nil
	}
	return err
}

// write makes the lines of a batch and appends them. Of a batch that was written in
// part, the whole lines count.
func (t *File) write(batch []queued) error {
	if err := t.ready(); err != nil {
		t.lost += len(batch)
		return err
	}
	var made []placed
	t.lines = t.lines[:0]
	at := place{t.seq, t.prev}
	for i, q := range batch {
		start := len(t.lines)
		t.appendLine(q.record, at, i == 0, i == len(batch)-1)
		at = place{at.seq + 1, link(t.lines[start : len(t.lines)-1])}
		made = append(made, placed{at, len(t.lines)})
	}
	n, err := t.file.Write(t.lines)
	if err != nil && n > 0 {
		_, _ = t.file.Write([]byte("\n")) // so that what others write stands by itself
	}
	whole := 0
	for whole < len(made) && n >= made[whole].end-1 { // only the end of its line may be missing
		whole++
	}
	if whole > 0 {
		t.seq, t.prev, t.lost = made[whole-1].seq, made[whole-1].prev, 0
	}
	if whole == len(batch) {
		t.sign.advance()
		if t.seq/headEvery != t.headed/headEvery {
			t.tellHead(false)
		}
		return err
	}
	t.lost += len(batch) - whole
	return err
}

// place is where a process' chain stands.
type place struct {
	seq  uint64
	prev string
}

// placed is the place after a line, and where the line ends in its batch.
type placed struct {
	place
	end int
}

func (t *File) appendLine(r *Record, at place, first, last bool) {
	start := len(t.lines)
	r.Writer, r.Seq, r.Prev, r.Lost, r.Process = t.writer, at.seq+1, at.prev, 0, nil
	if first {
		r.Lost = t.lost
	}
	if r.Seq == 1 {
		p := t.options.Process
		p.Key = t.sign.public()
		r.Process = &p
	}
	var sign *signer
	if last {
		sign = t.sign
	}
	t.lines = r.appendRest(r.appendPlace(t.lines), start, sign)
}
