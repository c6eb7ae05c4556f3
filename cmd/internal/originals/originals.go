// Package originals stores the whole outputs that hooks pruned, one file each, because a process that lives
// for a few milliseconds cannot afford a database. `recover` reads them.
package originals

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// Limits of a store. The oldest texts are removed when either is exceeded.
const (
	MaxAge   = 7 * 24 * time.Hour
	MaxBytes = 512 << 20
)

// StateDir returns the directory in which this program keeps data between runs, such as
// $XDG_STATE_HOME/mcp-pruner. It does not create it.
func StateDir(lookup func(string) (string, bool)) (string, error) {
	return stateDir(runtime.GOOS, lookup)
}

func stateDir(system string, lookup func(string) (string, bool)) (string, error) {
	get := func(name string) string { v, _ := lookup(name); return v }
	switch {
	case get("XDG_STATE_HOME") != "":
		return filepath.Join(get("XDG_STATE_HOME"), "mcp-pruner"), nil
	case system == "windows" && get("LOCALAPPDATA") != "":
		return filepath.Join(get("LOCALAPPDATA"), "mcp-pruner"), nil
	case get("HOME") != "":
		return filepath.Join(get("HOME"), ".local", "state", "mcp-pruner"), nil
	}
	return "", errors.New("neither XDG_STATE_HOME nor HOME is set")
}

// Store is a folder of originals.
type Store struct {
	Dir string
	Now func() time.Time // nil: time.Now
}

// In returns the store in a state directory.
func In(state string) Store { return Store{Dir: filepath.Join(state, "originals")} }

// ErrNotFound means that no original has that id, or that it has been removed.
var ErrNotFound = errors.New("no original of that id is kept (they are kept for 7 days)")

// ID matches the ids that a store assigns.
var ID = regexp.MustCompile(`^prn_[0-9a-f]{8}$`)

// From returns a Put for a text whose first line has the given number in its file.
func (s Store) From(first int) func(context.Context, string) (string, error) {
	return func(ctx context.Context, text string) (string, error) {
		id, err := s.Put(ctx, text)
		if err == nil && first > 1 {
			err = os.WriteFile(s.path(id)+firstSuffix, []byte(strconv.Itoa(first)), 0o600)
		}
		return id, err
	}
}

// firstSuffix is the suffix of the file beside an original that contains the number of its first line.
const firstSuffix = ".first"

// Put stores a text atomically and returns its id.
func (s Store) Put(_ context.Context, text string) (string, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return "", err
	}
	temp, err := os.CreateTemp(s.Dir, ".put-*")
	if err != nil {
		return "", err
	}
	_, err = temp.WriteString(text)
	if err := errors.Join(err, temp.Close()); err != nil {
		return "", errors.Join(err, os.Remove(temp.Name()))
	}
	for range 8 {
		id := newID()
		if err = os.Link(temp.Name(), s.path(id)); errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil { // the file system has no hard links
			err = os.Rename(temp.Name(), s.path(id))
		}
		_ = os.Remove(temp.Name()) // already gone if it was renamed
		if err == nil {
			s.sweepSometimes(id)
		}
		return id, err
	}
	return "", errors.Join(err, os.Remove(temp.Name()))
}

// Get returns the text with an id and the number of its first line.
func (s Store) Get(id string) (text string, first int, err error) {
	if !ID.MatchString(id) {
		return "", 0, ErrNotFound
	}
	b, err := os.ReadFile(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, ErrNotFound
	}
	first = 1
	if n, err := os.ReadFile(s.path(id) + firstSuffix); err == nil {
		if first, err = strconv.Atoi(string(n)); err != nil || first < 1 {
			first = 1
		}
	}
	return string(b), first, err
}

func (s Store) path(id string) string { return filepath.Join(s.Dir, id) }

func newID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, according to its documentation
	return "prn_" + hex.EncodeToString(b[:])
}

func (s Store) sweepSometimes(id string) {
	last := id[len(id)-2:]
	if last == "00" || last == "40" || last == "80" || last == "c0" { // in one of 64 puts
		s.Sweep()
	}
}

// Sweep removes texts that are too old, and the oldest ones above the size limit. Errors are ignored.
func (s Store) Sweep() {
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
		if total > MaxBytes || now.Sub(info.ModTime()) > MaxAge {
			_ = os.Remove(filepath.Join(s.Dir, info.Name()))
		}
	}
}
