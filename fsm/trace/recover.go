package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-pruner/fsm"
)

// Left is what a process that was killed left in its side file.
type Left struct {
	File    string
	Writer  string
	Records []Record // each with Recovered set
}

// Leftovers reads the side files of a trace whose processes are gone, and hands each to
// take while nobody else can. With take's consent the file is removed.
func Leftovers(path string, take func(Left) bool) error {
	files, err := filepath.Glob(globEscape(path) + notesInfix + "*")
	if err != nil {
		return err
	}
	slices.Sort(files)
	for _, file := range files {
		if strings.HasSuffix(file, ".new") { // its process is about to lock it, or left nothing in it
			continue
		}
		err = errors.Join(err, leftover(path, file, take))
	}
	return err
}

// globEscape makes a path that Glob takes by its letters.
func globEscape(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

func leftover(path, file string, take func(Left) bool) error {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil // removed meanwhile, or nothing of ours
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	unlock, err := lockFile(f)
	if err != nil { // its process lives, or another one reads it now
		return nil
	}
	defer unlock()
	if now, err := os.Lstat(file); err != nil || !os.SameFile(info, now) {
		return nil // somebody else was through with it just now
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

// readNotes reads a side file, the earliest answer first.
func readNotes(raw []byte) (records []Record) {
	definition := definitions()
	add := func(state noteState, body []byte) {
		if r, err := readNote(body, state, definition); err == nil {
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

// definitions finds the tables of this program and its archive by their hashes.
func definitions() func(hash string) *fsm.Definition {
	known := make(map[string]*fsm.Definition)
	archived, _ := ArchivedTables() // those of today are there without it
	for _, t := range append(archived, fsm.Tables()...) {
		if d, err := fsm.Compile(t); err == nil {
			known[t.Hash()] = d
		}
	}
	return func(hash string) *fsm.Definition { return known[hash] }
}

// tailBytes is how much of a trace is searched for what a killed process may have
// written before it could free its notes.
const tailBytes = 16 << 20

// foldIn appends what killed processes were about to answer.
func (t *File) foldIn() {
	err := Leftovers(t.path, func(left Left) bool {
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

// idsIn lists the ids of the records in a piece of a trace.
func idsIn(tail []byte) map[string]bool {
	ids, member := make(map[string]bool), []byte(`,"id":"`)
	for {
		at := bytes.Index(tail, member)
		if at < 0 {
			return ids
		}
		tail = tail[at+len(member):]
		if end := bytes.IndexByte(tail, '"'); end >= 0 {
			ids[string(tail[:end])] = true
		}
	}
}

// tail reads the end of the trace and of the file put aside last.
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
			_, _ = f.Seek(-tailBytes, io.SeekEnd) // a regular file seeks
		}
		part, _ := io.ReadAll(f)
		_ = f.Close()
		all = append(all, part...)
	}
	return all
}
