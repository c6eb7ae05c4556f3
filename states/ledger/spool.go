package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// Spool accepts entries for a ledger without opening it, because a hook lives for a few milliseconds and
// opening a database takes longer. Each entry is a file, which the next process that opens the ledger
// stores. Entries that are never stored are removed like old originals.
type Spool struct{ Dir string }

// SpoolOf returns the spool of a ledger's file.
func SpoolOf(file string) Spool { return Spool{Dir: file + ".spool"} }

// spooled is the first line of an entry's file. The text follows it.
type spooled struct {
	Segment contextgc.Segment
	Time    time.Time
	Key     []byte `json:",omitempty"` // of the entry; none: the file's name
}

// suffix is the suffix of a complete entry. Files without it are still being written.
const suffix = ".json"

// Put adds an entry atomically.
func (s Spool) Put(e contextgc.Entry) error {
	head, err := json.Marshal(spooled{e.Segment, time.Now(), e.Key})
	if err != nil {
		return err
	}
	name := make([]byte, 8)
	_, _ = rand.Read(name) // never fails
	file := files.Atomic{Path: filepath.Join(s.Dir, "put-"+hex.EncodeToString(name)+suffix), Fast: true}
	if err := file.WriteText(append(head, '\n'), e.Text); err != nil {
		return err
	}
	if name[0]%100 == 0 {
		s.Sweep()
	}
	return nil
}

// Sweep removes entries that have waited too long.
func (s Spool) Sweep() { recovery.Archive{Dir: s.Dir}.Sweep() }

// batch is the number of entries read into memory at once.
const batch = 64

// Drain stores the waiting entries and removes them. An entry that is stored twice, by two processes or
// after a crash, becomes a single segment, because its key is the file's name. Unreadable entries are
// removed.
func (s Spool) Drain(ctx context.Context, store contextgc.Segments) error {
	files, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f fs.DirEntry) bool { return !strings.HasSuffix(f.Name(), suffix) })
	for some := range slices.Chunk(files, batch) {
		if _, err := store.Put(ctx, s.entries(some)...); err != nil {
			return fmt.Errorf("store what hooks left: %w", err)
		}
		for _, f := range some {
			_ = os.Remove(filepath.Join(s.Dir, f.Name())) // another process may have removed it
		}
	}
	return nil
}

func (s Spool) entries(files []fs.DirEntry) []contextgc.Entry {
	var entries []contextgc.Entry
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(s.Dir, f.Name()))
		head, text, whole := strings.Cut(string(raw), "\n")
		var one spooled
		if err != nil || !whole || json.Unmarshal([]byte(head), &one) != nil || !contextgc.ValidID(one.Segment.Project) {
			continue
		}
		one.Segment.Created = one.Time
		if one.Key == nil {
			one.Key = []byte("spool:" + f.Name())
		}
		entries = append(entries, contextgc.Entry{Segment: one.Segment, Text: text, Key: one.Key})
	}
	return entries
}

// Spooler is an observer that adds the result of a client's own tool to a spool: the client's text, with
// the number of tokens that the model was sent.
type Spooler struct {
	Spool   Spool
	Segment contextgc.Segment
	Call    string // its id; "": unknown
	Text    string
}

// Answering implements states.Observer.
func (Spooler) Answering(*states.Delivery) {}

// Ended implements states.Observer.
func (s Spooler) Ended(d *states.Delivery) {
	if d.Err != nil || d.Wire == 0 {
		return
	}
	_, sent, _ := d.Tokens()
	s.Sent(sent)
}

// Sent adds the result to the spool. Errors are ignored: the ledger must never cost a result.
func (s Spooler) Sent(tokens int) {
	e := contextgc.Entry{Segment: s.Segment, Text: s.Text}
	e.Tokens = tokens
	e.Key = contextgc.CallKey(s.Segment.Session, s.Call)
	_ = s.Spool.Put(e)
}
