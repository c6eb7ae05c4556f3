package recovery

import (
	"encoding/binary"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Printed remembers for a short time which texts `recover` and `gc get` have printed, so that nothing cuts what an agent has just
// brought back, however its command was written. Each print is a small file with a hash of each line: a shell, a pipe and the client
// may have left out lines, changed white space, and added words of their own.
type Printed struct{ State string } // the state directory; "": nothing is remembered

// Limits of what is remembered of a print.
const (
	printedFor   = 5 * time.Minute // a client shows a result at once
	mostPrinted  = 200_000         // lines of a print
	mostPrints   = 16              // the oldest are forgotten
	longPrinted  = 200             // bytes from which on a line may have been cut at either end, where half of that is hashed
	printedShare = 90              // percent of the bytes of a result that have to stand in a print
)

// unfinished ends the name of a file that is being written.
const unfinished = ".new"

// Note remembers that a text was printed, which is the original with an id or a part of it. Errors are ignored: the text has been
// printed already.
func (p Printed) Note(id, text string) {
	if p.State == "" || os.MkdirAll(p.dir(), 0o700) != nil {
		return
	}
	p.sweep()
	var content []byte
	lines := 0
	for line := range strings.SplitSeq(text, "\n") {
		if lines++; lines > mostPrinted {
			break
		}
		for _, sum := range sumsOf(plainLine(line)) {
			content = binary.LittleEndian.AppendUint64(content, sum)
		}
	}
	name := filepath.Join(p.dir(), id+"_"+strconv.FormatInt(time.Now().UnixNano(), 36))
	if os.WriteFile(name+unfinished, content, 0o600) == nil {
		_ = os.Rename(name+unfinished, name)
	}
}

// Find returns the id of the original of which a text was printed, whole or in part, a short time ago. ok is false for any other text.
func (p Printed) Find(text string) (id string, ok bool) {
	if p.State == "" {
		return "", false
	}
	files, err := os.ReadDir(p.dir())
	if err != nil || len(files) == 0 {
		return "", false
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || time.Since(info.ModTime()) > printedFor || strings.HasSuffix(f.Name(), unfinished) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(p.dir(), f.Name()))
		if end := strings.LastIndexByte(f.Name(), '_'); err == nil && end > 0 && holds(content, text) {
			return f.Name()[:end], true
		}
	}
	return "", false
}

// holds reports whether nearly all of a text stands in a print.
func holds(print []byte, text string) bool {
	known := make(map[uint64]bool, len(print)/8)
	for ; len(print) >= 8; print = print[8:] {
		known[binary.LittleEndian.Uint64(print)] = true
	}
	all, found := 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		line = plainLine(line)
		all += len(line)
		for _, sum := range sumsOf(line) {
			if known[sum] {
				found += len(line)
				break
			}
		}
	}
	return found > 0 && 100*found >= printedShare*all
}

// plainLine returns a line without what a terminal or a client may change: control characters, and white space around it.
func plainLine(line string) string {
	return strings.TrimFunc(line, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

// sumsOf returns the hashes of a line: of the whole line or, if it is long, of its beginning and its end. An empty line has none.
func sumsOf(line string) []uint64 {
	switch {
	case line == "":
		return nil
	case len(line) < longPrinted:
		return []uint64{lineSum(line)}
	}
	return []uint64{lineSum(line[:longPrinted/2]), lineSum(line[len(line)-longPrinted/2:])}
}

func lineSum(line string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(line)) // never fails
	return h.Sum64()
}

// sweep removes what is too old, and the oldest prints where there are too many: each door reads them all.
func (p Printed) sweep() {
	files, err := os.ReadDir(p.dir())
	if err != nil {
		return
	}
	at := func(f os.DirEntry) (at time.Time) {
		if info, err := f.Info(); err == nil {
			at = info.ModTime()
		}
		return at
	}
	slices.SortFunc(files, func(a, b os.DirEntry) int { return at(b).Compare(at(a)) })
	for i, f := range files {
		if i >= mostPrints-1 || time.Since(at(f)) > printedFor {
			_ = os.Remove(filepath.Join(p.dir(), f.Name()))
		}
	}
}

func (p Printed) dir() string { return filepath.Join(p.State, "printed") }
