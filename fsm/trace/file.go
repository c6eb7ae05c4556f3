package trace

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"sync"
	"time"
)

// File appends records to a file that any number of processes may share. Lines are built
// and appended in batches, each with a single write at the end of the file. Each process
// numbers its lines, chains them by their hashes and seals every batch.
//
// Until the line of an answer or a run is in the file, a note in a side file records it. If
// this process is killed, the next process that opens the trace adds those records to it.
type File struct {
	path    string
	options Options
	writer  string
	notes   *notes // nil: shared memory is not available
	ended   chan struct{}
	gone    sync.WaitGroup

	mu      sync.Mutex
	queue   []queued
	filled  chan struct{}
	dropped int // records dropped because the queue was full
	closed  bool

	io      sync.Mutex // guards the fields below
	file    *os.File   // nil after a failure: the next batch opens the file again
	sign    *signer
	seq     uint64 // of the last line written
	prev    string // link of that line
	lost    int
	looked  time.Time // when the file was last seen at its path
	began   time.Time // when the first record of the file was made
	failing bool      // the last batch failed and the failure was reported
	behind  bool      // the last batch could not be copied, which was reported
	ending  bool      // the final head follows
	lines   []byte
}

// Options say how a trace is rotated and what is reported about it. The zero value keeps
// one file without limit.
type Options struct {
	MaxBytes int64         // a larger file is rotated; 0: no limit
	MaxAge   time.Duration // a file whose first record is older is rotated; 0: no limit
	Keep     int           // number of rotated files to keep, the oldest is removed first; 0: all

	Process Process // written in the first line of this process; its key is filled in

	Failed  func(error)       // called with the first error of each outage; nil: errors are not reported
	Heads   Heads             // keeps each head of the chain; nil: heads are not kept
	Copy    Copy              // keeps the lines in a second place; nil: they are in the file only
	Removed func(file string) // called with the name of each rotated file that was removed

	lock locker // nil: lockFile
}

// gather is how long a batch waits for more records, so that they share one write and one
// seal.
const gather = 50 * time.Millisecond

// maxQueued bounds the records that wait while the file system hangs.
const maxQueued = 1 << 16

// lookEvery is how often File checks that the file is still at its path: log rotation and
// users move and remove files.
const lookEvery = time.Second

type queued struct {
	record *Record
	note   Note
}

// Open opens a trace for appending, and creates it if there is none. Later write errors go
// to Options.Failed and never reach the machines.
func Open(path string, o Options) (*File, error) {
	if o.lock == nil {
		o.lock = lockFile
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // documented never to fail
	t := &File{
		path: path, options: o, writer: hex.EncodeToString(id[:]), sign: newSigner(),
		ended: make(chan struct{}), filled: make(chan struct{}, 1),
	}
	if err := t.open(); err != nil {
		return nil, err
	}
	if info, err := t.file.Stat(); err == nil && info.Mode().IsRegular() {
		t.foldIn()
		t.notes, _ = newNotes(path+notesInfix+t.writer, o.lock) // else a kill loses the last batch
	}
	t.keepHead(false)
	t.gone.Go(t.work)
	return t, nil
}

// Check returns the error that Open would give for the path.
func Check(path string) error {
	t := &File{path: path}
	if err := t.open(); err != nil {
		return err
	}
	return t.file.Close()
}

// Note records a call whose tool is about to run, or a run in progress. r was taken
// from its machine. It takes a few hundred nanoseconds and no system call.
func (t *File) Note(r *Record) Note {
	if t.notes == nil {
		return 0
	}
	return t.notes.put(r)
}

// Renote replaces the note of a call or a run that has taken another step.
func (t *File) Renote(old Note, r *Record) Note {
	note := t.Note(r)
	if t.notes != nil {
		t.notes.set(old, noteFree)
	}
	return note
}

// Append queues the record of a machine that has ended. note is the note of its answer, 0
// if there is none. The record must not be changed afterwards. A record that cannot be
// written is counted, and the next line that can be written holds the count.
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
		_ = t.Flush() // Flush reports and counts the failure
	}
}

// Flush writes the queued records.
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

// tell reports the first error of an outage.
func (t *File) tell(err error) {
	if !t.failing && t.options.Failed != nil {
		t.options.Failed(err)
	}
	t.failing = true
}

// keepHead passes the head of the chain on. That it could not be kept changes nothing else.
func (t *File) keepHead(final bool) {
	if t.options.Heads == nil {
		return
	}
	err := t.options.Heads.Keep(Head{t.writer, t.seq, t.prev, t.sign.public(), final})
	if err != nil && t.options.Failed != nil {
		t.options.Failed(err)
	}
}

// copyLines passes lines on that are in the file, with the head after them.
func (t *File) copyLines(lines []byte, final bool) {
	if t.options.Copy == nil {
		return
	}
	err := t.options.Copy.Add(Head{t.writer, t.seq, t.prev, t.sign.public(), final}, lines)
	if err != nil && !t.behind && t.options.Failed != nil {
		t.options.Failed(err)
	}
	t.behind = err != nil
}

// Close writes the queued records, and a record for each call that is still under way, and closes the file. Records
// appended later are lost.
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
	t.io.Lock()
	t.ending = true
	t.io.Unlock()
	err := t.Flush()
	if t.notes != nil {
		for _, r := range t.notes.interrupted() {
			t.Append(&r, 0)
		}
		err = errors.Join(err, t.Flush())
	}
	t.io.Lock()
	defer t.io.Unlock()
	t.keepHead(true)
	if t.options.Copy != nil {
		t.copyLines(nil, true)
		err = errors.Join(err, t.options.Copy.Close())
	}
	if t.notes != nil {
		err = errors.Join(err, t.notes.close())
	}
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
		t.file = nil
	}
	return err
}

// write builds the lines of a batch and appends them. If the write is incomplete, the
// complete lines count as written.
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
		_, _ = t.file.Write([]byte("\n")) // lets the next writer start a new line
	}
	whole := 0
	for whole < len(made) && n >= made[whole].end-1 { // a line that lacks only its newline counts
		whole++
	}
	if whole > 0 {
		t.seq, t.prev, t.lost = made[whole-1].seq, made[whole-1].prev, 0
	}
	if whole == len(batch) {
		t.sign.advance()
		if !t.ending {
			t.keepHead(false)
		}
		t.copyLines(t.lines, false)
		return err
	}
	if whole > 0 {
		t.copyLines(t.lines[:made[whole-1].end], false)
	}
	t.lost += len(batch) - whole
	return err
}

// place is the current end of a process's chain.
type place struct {
	seq  uint64
	prev string
}

// placed is the place after a line, and the offset in the batch where that line ends.
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
