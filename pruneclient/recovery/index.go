package recovery

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// Index says for each id where its text is. There is one index in a state directory, for every store of this user, so
// that an id never has two meanings: an entry is a file named after the id, and creating that file fails if it exists.
// Writing an entry costs a hook one small file, and another one in its place once the cut text is known.
type Index struct {
	State string        // the state directory
	newID func() string // nil: random ids
}

// Entry says where the text with an id is, and proves that a text is the right one.
type Entry struct {
	Ledger string `json:"ledger,omitempty"` // absolute path of the ledger with the text; "": the folder of originals
	Hash   string `json:"sha256"`           // of the text, in hex
	First  int    `json:"first,omitempty"`  // number of the text's first line in its file; 0 means 1

	// Shown is the hash of the cut text that the agent is shown in place of the text, in hex; "": it is not known. Without it
	// anything that begins with the header of a cut could pass for that text.
	Shown string `json:"shown,omitempty"`

	// Project is the root of the project whose session stored the text, of linked worktrees that of the main one. It is "" if
	// nobody said which that is, as for the proxy and a client that does not name its folder.
	Project string `json:"project,omitempty"`
}

// NewEntry returns the entry of the text with a hash, whose first line has a number. ledger is the file of the ledger that
// has the text, or "" if it becomes an original of its own. project is the root that ProjectOf returns.
func NewEntry(sum [sha256.Size]byte, ledger, project string, first int) Entry {
	if first <= 1 {
		first = 0
	}
	return Entry{Ledger: ledger, Hash: hex.EncodeToString(sum[:]), Project: repositoryOf(project), First: first}
}

// FirstLine returns the number of the text's first line.
func (e Entry) FirstLine() int { return max(e.First, 1) }

// Sum returns the hash of the text. It is zero if the entry has none.
func (e Entry) Sum() (sum [sha256.Size]byte) {
	_, _ = hex.Decode(sum[:], []byte(e.Hash)[:min(len(e.Hash), 2*len(sum))]) // a damaged hash is that of no text
	return sum
}

// Is reports whether a text is the one that the entry was written for.
func (e Entry) Is(text string) bool { return hashOf(text) == e.Sum() }

// Shows reports whether a text is the one that an agent was shown in place of the entry's. Clients may take away space around it.
func (e Entry) Shows(text string) bool { return e.Shown != "" && e.Shown == shownHash(text) }

func shownHash(text string) string {
	sum := hashOf(strings.TrimSpace(text))
	return hex.EncodeToString(sum[:])
}

// hashOf returns the hash of a text. It copies a part of it at a time, where a conversion would copy all.
func hashOf(text string) (sum [sha256.Size]byte) {
	hash := sha256.New()
	var part [16 << 10]byte
	for text != "" {
		n := copy(part[:], text)
		hash.Write(part[:n])
		text = text[n:]
	}
	hash.Sum(sum[:0])
	return sum
}

// ErrNotFound means that no text has that id, or that it has been removed.
var ErrNotFound = errors.New("no original of that id is kept (hooks keep them for 7 days, the ledger for its own time)")

// ErrElsewhere means that the text with that id is kept, but not for the folder from which it was asked for. For a caller who does not
// tell an agent what to do it is an [ErrNotFound].
var ErrElsewhere error = elsewhere{}

type elsewhere struct{}

func (elsewhere) Error() string {
	return "it is kept for another folder: run the same command in the session's project, or in the folder in which the output was made"
}

func (elsewhere) Is(target error) bool { return target == ErrNotFound }

// IDPattern matches the ids that an index assigns.
var IDPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^prn_[0-9a-f]{8}$`) })

// IDIn returns the first id in a text, or "". A proxy asks for each result of each request.
func IDIn(text string) string {
	for at := 0; ; at++ {
		next := strings.Index(text[at:], "prn_")
		if next < 0 {
			return ""
		}
		at += next
		if end := at + len("prn_") + idDigits; end <= len(text) && IDPattern().MatchString(text[at:end]) && !wordAt(text, at-1) && !wordAt(text, end) {
			return text[at:end]
		}
	}
}

// wordAt reports whether a byte of a text belongs to a word.
func wordAt(text string, at int) bool {
	if at < 0 || at >= len(text) {
		return false
	}
	c := text[at]
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// Claim writes an entry under a new id. An error means that there is no id, and that the text must not be cut.
func (x Index) Claim(e Entry) (id string, err error) {
	if x.State == "" {
		return "", files.ErrNoStateDir
	}
	random := x.newID
	if random == nil {
		random = ShortID
	}
	for range 8 {
		id = random()
		if exists(filepath.Join(ArchiveIn(x.State).Dir, id)) { // an original from before there was an index
			err = fs.ErrExist
			continue
		}
		if err = x.add(id, e); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("write the index of originals: %w", err)
	}
	return id, nil
}

// Put writes the entry of an id that the index has lost: it is missing, or a crash has left it empty or incomplete.
func (x Index) Put(id string, e Entry) error {
	if _, damaged, err := x.find(id); damaged && err != nil {
		return x.replace(id, e)
	}
	return x.add(id, e)
}

// add writes the entry of an id that has none. It does not wait for the disk, which takes several times as long: [Index.Put] mends
// what a crash of the system leaves.
func (x Index) add(id string, e Entry) error {
	content, err := json.Marshal(e)
	if err == nil {
		err = os.MkdirAll(x.dir(), 0o700)
	}
	if err != nil {
		return err
	}
	return create(x.path(id), string(content))
}

// create writes a new file. Nobody knows its name before it is complete.
func create(path, content string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// Show records the text that an agent is shown in place of the one with an id. The entry is replaced at once or not at all.
func (x Index) Show(id, text string) error {
	e, err := x.Find(id)
	if err != nil {
		return err
	}
	e.Shown = shownHash(text)
	if err := x.replace(id, e); err != nil {
		return fmt.Errorf("write the index of originals: %w", err)
	}
	return nil
}

// replace writes an entry in place of another one. What a killed process leaves goes with the next cleaning: its name is no id.
func (x Index) replace(id string, e Entry) error {
	content, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return files.Atomic{Path: x.path(id), Fast: true}.Write(content)
}

// Release removes the entry of an id that was never shown to anybody.
func (x Index) Release(id string) {
	_ = os.Remove(x.path(id)) // a forgotten entry costs a few bytes until the next cleaning
}

// Find returns the entry of an id, or ErrNotFound.
func (x Index) Find(id string) (Entry, error) {
	e, found, err := x.find(id)
	if err == nil && !found {
		err = ErrNotFound
	}
	return e, err
}

// find returns the entry of an id. found is false if the id has none.
func (x Index) find(id string) (e Entry, found bool, err error) {
	if !IDPattern().MatchString(id) || x.State == "" {
		return e, false, ErrNotFound
	}
	content, err := os.ReadFile(x.path(id))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e, false, nil
	case err != nil:
		return e, false, err
	case json.Unmarshal(content, &e) != nil: // its writer was killed, or the system crashed
		return Entry{}, true, ErrNotFound
	}
	return e, true, nil
}

// Of returns the entries of a ledger's texts, by their ids.
func (x Index) Of(ledger string) (map[string]Entry, error) {
	files, err := os.ReadDir(x.dir())
	if x.State == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	entries := make(map[string]Entry)
	for _, f := range files {
		if e, err := x.Find(f.Name()); err == nil && e.Ledger == ledger {
			entries[f.Name()] = e
		}
	}
	return entries, err
}

// Sweep removes the entries of a ledger's texts that the ledger no longer has, those of ledgers that do not exist
// any more, and those of originals that were removed.
func (x Index) Sweep(ledger string, has func(sum [sha256.Size]byte) (bool, error), now time.Time) error {
	files, err := os.ReadDir(x.dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || now.Sub(info.ModTime()) < unsettled { // its text may not have been stored yet
			continue
		}
		e, err := x.Find(f.Name())
		if err != nil && !errors.Is(err, ErrNotFound) {
			continue
		}
		stays := false
		switch {
		case err != nil:
		case e.Ledger == "":
			stays = exists(filepath.Join(ArchiveIn(x.State).Dir, f.Name()))
		case e.Ledger == ledger:
			if stays, err = has(e.Sum()); err != nil {
				return err
			}
		default:
			stays = exists(e.Ledger) || now.Sub(info.ModTime()) < maxAge // its disk may come back
		}
		if !stays {
			x.Release(f.Name())
		}
	}
	return nil
}

// unsettled is the age of an entry up to which its text may still be on its way into its store.
const unsettled = time.Hour

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (x Index) dir() string           { return filepath.Join(x.State, "index") }
func (x Index) path(id string) string { return filepath.Join(x.dir(), id) }
