package recovery

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Limits of a store. The oldest texts are removed when either is exceeded.
const (
	maxAge   = 7 * 24 * time.Hour
	maxBytes = 512 << 20
)

// Archive is a folder of originals.
type Archive struct {
	Dir   string
	Index Index            // has an entry for each original
	Now   func() time.Time // nil: time.Now
}

// ArchiveIn returns the store in a state directory.
func ArchiveIn(state string) Archive {
	return Archive{Dir: filepath.Join(state, "originals"), Index: Index{State: state}}
}

// From returns a Put for a text of a project whose first line has the given number in its file.
func (s Archive) From(project string, first int) func(context.Context, string) (string, error) {
	return func(_ context.Context, text string) (string, error) { return s.Put(text, project, first) }
}

// Put stores a text of a project, whose first line has a number, under a new id.
func (s Archive) Put(text, project string, first int) (id string, err error) {
	if id, err = s.Index.Claim(NewEntry(hashOf(text), "", project, first)); err != nil {
		return "", err
	}
	if err = os.MkdirAll(s.Dir, 0o700); err == nil {
		err = create(s.path(id), text)
	}
	if err != nil {
		s.Index.Release(id)
		return "", err
	}
	s.sweepSometimes(id)
	return id, nil
}

// Get returns the text with an id, for an agent that works in a folder, and the number of its first line. Originals that
// an earlier version stored have no entry in the index, and may be read anywhere.
func (s Archive) Get(id, folder string) (text string, first int, err error) {
	e, indexed, err := s.Index.find(id)
	if err != nil {
		return "", 0, err
	}
	if indexed && e.Ledger != "" {
		return "", 0, ErrNotFound
	}
	b, err := os.ReadFile(s.path(id))
	if errors.Is(err, fs.ErrNotExist) || err == nil && indexed && !e.Is(string(b)) {
		return "", 0, ErrNotFound
	}
	if err == nil && indexed && !e.MayBeReadIn(folder) {
		return "", 0, ErrElsewhere
	}
	if !indexed {
		return string(b), s.unindexedFirst(id), err
	}
	return string(b), e.FirstLine(), err
}

// unindexedFirst returns the number of the first line of an original without an entry, which is in a file beside it.
func (s Archive) unindexedFirst(id string) int {
	n, _ := os.ReadFile(s.path(id) + ".first")
	first, _ := strconv.Atoi(string(n))
	return max(first, 1)
}

func (s Archive) path(id string) string { return filepath.Join(s.Dir, id) }

func (s Archive) sweepSometimes(id string) {
	last := id[len(id)-2:]
	if last == "00" || last == "40" || last == "80" || last == "c0" { // in one of 64 puts
		s.Sweep()
	}
}

// Sweep removes texts that are too old, and the oldest ones above the size limit. Errors are ignored.
func (s Archive) Sweep() {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return
	}
	now := time.Now()
	if s.Now != nil {
		now = s.Now()
	}
	var infos []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var total int64
	for _, info := range infos {
		total += info.Size()
		if total > maxBytes || now.Sub(info.ModTime()) > maxAge {
			_ = os.Remove(filepath.Join(s.Dir, info.Name()))
			if s.Index.State != "" {
				s.Index.Release(info.Name())
			}
		}
	}
}
