package trace

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Left is the content of the side file of a process that was killed.
type Left struct {
	File    string
	Writer  string
	Records []Record // Recovered is set in each
}

// Leftovers finds the side files of a trace whose processes have ended and passes each to
// take while holding its lock. A file is removed if take returns true.
func Leftovers(path string, take func(Left) bool) error { return leftovers(path, lockFile, take) }

func leftovers(path string, lock locker, take func(Left) bool) error {
	files, err := filepath.Glob(globEscape(path) + notesInfix + "*")
	if err != nil {
		return err
	}
	slices.Sort(files)
	for _, file := range files {
		if strings.HasSuffix(file, ".new") { // not locked yet, or abandoned while empty
			continue
		}
		err = errors.Join(err, leftover(path, file, lock, take))
	}
	return err
}

func leftover(path, file string, lock locker, take func(Left) bool) error {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil // removed in the meantime, or not a side file
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	unlock, err := lock(f)
	if err != nil { // its process is alive, or another process is reading it
		return nil
	}
	defer unlock()
	if now, err := os.Lstat(file); err != nil || !os.SameFile(info, now) {
		return nil // another process has just handled it
	}
	raw, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	left := Left{File: file, Writer: strings.TrimPrefix(file, path+notesInfix)}
	left.Records = readNotes(raw)
	for i := range left.Records {
		left.Records[i].Recovered = left.Writer
	}
	if take(left) {
		return os.Remove(file)
	}
	return nil
}

// tailBytes is how much of the end of a trace is searched for records that a killed process
// wrote before it could free their notes.
const tailBytes = 16 << 20

// foldIn appends the records of answers and runs that killed processes left in their side files.
func (t *File) foldIn() {
	err := leftovers(t.path, t.options.lock, func(left Left) bool {
		if len(left.Records) == 0 {
			return true
		}
		written := idsIn(t.tail())
		for i := range left.Records {
			if r := &left.Records[i]; !written[r.ID] {
				t.Append(r, 0)
			}
		}
		return t.Flush() == nil
	})
	if err != nil {
		t.tell(err)
	}
}

// idsIn returns the ids of the complete records in a part of a trace. A torn record does not
// count, even if its id is there.
func idsIn(tail []byte) map[string]bool {
	ids, start, member := make(map[string]bool), []byte(`{"v":`), []byte(`,"id":"`)
	for line := range bytes.Lines(tail) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if whole := len(line) - len(`,"sum":"01234567"}`); whole < 0 || !bytes.HasPrefix(line[whole:], []byte(`,"sum":"`)) {
			continue
		}
		line = line[max(0, bytes.LastIndex(line, start)):] // a torn record may precede it
		if at := bytes.Index(line, member); at >= 0 {
			id, _, _ := bytes.Cut(line[at+len(member):], []byte(`"`))
			ids[string(id)] = true
		}
	}
	return ids
}

// tail reads the end of the trace and of the most recently rotated file.
func (t *File) tail() []byte {
	files, _ := t.asides()
	if len(files) > 1 {
		files = files[len(files)-1:]
	}
	var all []byte
	for _, name := range append(files, t.path) {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
			_, _ = f.Seek(-tailBytes, io.SeekEnd) // seeking in a regular file does not fail
		}
		part, _ := io.ReadAll(f)
		_ = f.Close()
		all = append(all, part...)
	}
	return all
}
