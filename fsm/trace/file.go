package trace

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// File appends records to a file, which any number of processes may share:
// a line is one write at the end of the file. Each process numbers its lines and
// chains them by their hashes, so that a line that is changed or taken out
// shows, whatever others write between.
type File struct {
	path   string
	limit  int64
	failed func(error)

	mu     sync.Mutex
	file   *os.File // nil after a failure: the next record opens it anew
	writer string
	seq    uint64 // of the line written last
	prev   string // its link, once there was time to make it
	lost   int
	looked time.Time // when the file was last seen at its path
	told   bool

	line    []byte // the line written last, and later the beginning of the next
	written bool   // it is a line, of which there is no link yet
	begun   int    // how much of it begins the next; 0: nothing
	of      origin // whose records begin like that
}

// origin is what records of one program and machine have in common.
type origin struct{ server, machine, table string }

// lookEvery is how often it is checked that the file is still at its path: log
// rotation and people move and remove files.
const lookEvery = time.Second

// Open opens a trace for appending and makes it when there is none. Above
// limit bytes the file is put aside and a new one started; 0 is no limit. The
// first failure to write is told to failed; no failure reaches the machines.
func Open(path string, limit int64, failed func(error)) (*File, error) {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails, by its documentation
	t := &File{path: path, limit: limit, failed: failed, writer: hex.EncodeToString(id[:])}
	if err := t.open(); err != nil {
		return nil, err
	}
	return t, nil
}

// Append writes one record. It never fails: a record that cannot be written is
// counted, and the next line that can be says how many there were.
func (t *File) Append(r *Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.write(r)
	t.begun = 0
	if err == nil {
		t.seq, t.lost, t.written = t.seq+1, 0, true
		return
	}
	t.lost++
	t.drop()
	t.tell(err)
}

// Settle does what the next record would otherwise have to wait for. It is to be
// called when the answer is out, and it may be left out.
func (t *File) Settle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.written && t.ready() == nil { // else the next record meets the error
		t.begin()
	}
}

func (t *File) tell(err error) {
	if !t.told && t.failed != nil {
		t.told = true
		t.failed(err)
	}
}

// Close closes the file; records that still come open it again.
func (t *File) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		return nil
	}
	f := t.file
	t.file = nil
	return f.Close()
}

func (t *File) write(r *Record) error {
	of := origin{r.Server, r.Machine, r.Table}
	if t.file == nil || t.begun == 0 || of != t.of || time.Since(t.looked) > lookEvery {
		if err := t.ready(); err != nil {
			return err
		}
		t.of = of
		t.begin()
	}
	t.line = r.appendRest(t.line[:t.begun], 0)
	n, err := t.file.Write(t.line)
	if n == 0 || err == nil {
		return err
	}
	_, _ = t.file.Write([]byte("\n")) // so that what others write stands by itself
	if n == len(t.line)-1 {           // the record is there, only its end of line was missing
		t.drop()
		t.tell(err)
		return nil
	}
	return err
}

// begin links the line written last and begins the next.
func (t *File) begin() {
	if t.written {
		t.prev, t.written = link(t.line[:len(t.line)-1]), false
	}
	next := Record{
		Server: t.of.server, Machine: t.of.machine, Table: t.of.table,
		Writer: t.writer, Seq: t.seq + 1, Prev: t.prev, Lost: t.lost,
	}
	t.line = next.appendPlace(t.line[:0])
	t.begun = len(t.line)
}

// ready makes the file the one at its path, and smaller than the limit.
func (t *File) ready() error {
	if t.file == nil {
		return t.open()
	}
	if now := time.Now(); now.Sub(t.looked) > lookEvery {
		t.looked = now
		if !t.inPlace() {
			t.drop()
			return t.open()
		}
	}
	if t.limit > 0 && t.full() {
		if err := t.rotate(); err != nil {
			t.tell(err) // and goes on in the file there is
		}
	}
	if t.file == nil {
		return t.open()
	}
	return nil
}

func (t *File) full() bool {
	info, err := t.file.Stat()
	return err == nil && info.Size() >= t.limit && info.Mode().IsRegular()
}

// errLocked: somebody else holds the lock.
var errLocked = errors.New("the file is locked")

// rotate puts the file aside, unless another process has just done so. Only who
// holds the lock may, and nobody waits for it: the next record tries again.
// Processes that still write to the file that was put aside do no harm, and find
// out within lookEvery or at their own next rotation.
func (t *File) rotate() error {
	unlock, err := lockFile(t.file)
	if errors.Is(err, errLocked) {
		if !t.inPlace() { // and has put it aside
			t.drop()
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", t.path, err)
	}
	if t.inPlace() {
		err = os.Rename(t.path, t.aside())
	}
	unlock()
	if err == nil {
		t.drop()
	}
	return err
}

// aside is a name that no other process chooses and that sorts by time.
func (t *File) aside() string {
	return t.path + "." + time.Now().UTC().Format("20060102T150405.000000000Z") + "-" + t.writer
}

func (t *File) inPlace() bool {
	mine, err := t.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(t.path)
	return err == nil && os.SameFile(mine, there)
}

func (t *File) drop() {
	if t.file != nil {
		_ = t.file.Close() // every line was written as it came; closing adds nothing
		t.file = nil
	}
}

// A pipe or a terminal that nobody reads lets its writer wait.
var errNotAFile = errors.New("it is neither a file nor a device like /dev/null that no writer waits for")

// harmless are the devices that never let a writer wait.
var harmless = []string{os.DevNull, "/dev/null", "/dev/zero", "/dev/full"}

func isHarmless(info fs.FileInfo) bool {
	if info.Mode().IsRegular() {
		return true
	}
	return info.Mode()&fs.ModeCharDevice != 0 && slices.ContainsFunc(harmless, func(device string) bool {
		known, err := os.Stat(device)
		return err == nil && os.SameFile(info, known)
	})
}

func (t *File) open() error {
	info, err := os.Stat(t.path)
	if err == nil && !isHarmless(info) {
		return &fs.PathError{Op: "open", Path: t.path, Err: errNotAFile} // opening a pipe may wait for ever
	}
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if breaksOff(t.path) {
		if _, err := f.Write([]byte("\n")); err != nil {
			_ = f.Close()
			return err
		}
	}
	t.file, t.looked = f, time.Now()
	return nil
}

// breaksOff says whether the file's last line lacks its end: its writer was
// killed, or the disk was full.
func breaksOff(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}
