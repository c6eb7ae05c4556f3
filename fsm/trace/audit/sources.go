package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Source is one file of a trace. It is read twice: once to verify it, and once to summarize
// or list its records. The second reading ends where the first one ended.
type Source struct {
	Name string
	in   io.ReaderAt
	temp *os.File // copy of a pipe; removed by close

	number int
	size   int64 // -1 until the first reading has ended
	read   int64 // bytes read in this reading
	hash   hash.Hash
	sum    string // SHA-256 of the bytes of the first reading
}

// NewSource returns a source for a file or other input that can be read again.
func NewSource(name string, in io.ReaderAt) *Source { return &Source{Name: name, in: in, size: -1} }

// begin starts a reading of the source.
func (s *Source) begin() io.Reader {
	s.hash, s.read = sha256.New(), 0
	size := s.size
	if size < 0 {
		size = 1<<63 - 1
	}
	return io.TeeReader(io.NewSectionReader(s.in, 0, size), s)
}

// Write adds bytes of the source to its hash.
func (s *Source) Write(p []byte) (int, error) {
	s.read += int64(len(p))
	return s.hash.Write(p)
}

// errChanged: the summary would cover other lines than those that were verified.
var errChanged = errors.New("it was changed while it was read")

// end ends a reading. The second reading must have the same hash as the first.
func (s *Source) end() error {
	sum := hex.EncodeToString(s.hash.Sum(nil))
	if s.size >= 0 && (s.sum != sum || s.size != s.read) {
		return errChanged
	}
	s.size, s.sum = s.read, sum
	return nil
}

func (s *Source) close() {
	if c, ok := s.in.(io.Closer); ok {
		_ = c.Close() // the file was only read
	}
	if s.temp != nil {
		_ = os.Remove(s.temp.Name())
	}
}

// Open opens the files of a trace, where "-" is stdin, passes them to use in the order in
// which they were written, and closes them.
func Open(files []string, stdin io.Reader, use func([]*Source) error) error {
	var sources []*Source
	defer func() {
		for _, s := range sources {
			s.close()
		}
	}()
	for _, name := range files {
		s, err := open(name, stdin)
		if err != nil {
			return err
		}
		sources = append(sources, s)
	}
	return use(inOrder(slices.Clone(sources)))
}

func open(name string, stdin io.Reader) (*Source, error) {
	if name == "-" {
		return spool("standard input", stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err == nil && info.Mode().IsRegular():
		return NewSource(name, f), nil
	case err == nil && info.IsDir():
		_ = f.Close()
		return nil, fmt.Errorf("%s is a folder: name the files of the trace that are in it", name)
	}
	defer f.Close()
	return spool(name, f)
}

// OpenPipe passes what a pipe gives to use, as one source with the given name.
func OpenPipe(name string, pipe io.Reader, use func([]*Source) error) error {
	s, err := spool(name, pipe)
	if err != nil {
		return err
	}
	defer s.close()
	return use([]*Source{s})
}

// spool copies a pipe to a temporary file, because a source is read twice.
func spool(name string, pipe io.Reader) (*Source, error) {
	f, err := os.CreateTemp("", "mcp-pruner-trace-*")
	if err != nil {
		return nil, err
	}
	s := NewSource(name, f)
	s.temp = f
	if _, err := io.Copy(f, pipe); err != nil {
		s.close()
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return s, nil
}

var rotated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.(\d{8}T\d{6}\.\d{9}Z-[0-9a-f]{16})$`) })

// inOrder sorts the rotated files of a trace in the order in which they were written: files
// rotated by a server by the times in their names, then all others by their first records.
func inOrder(sources []*Source) []*Source {
	type place struct {
		*Source
		aside string
		began time.Time
	}
	places := make([]place, len(sources))
	for i, s := range sources {
		places[i] = place{Source: s, aside: "~"} // sorts after every time
		if m := rotated().FindStringSubmatch(s.Name); m != nil {
			places[i].aside = m[1]
			continue
		}
		places[i].began = s.began()
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(strings.Compare(a.aside, b.aside), a.began.Compare(b.began))
	})
	for i, p := range places {
		sources[i] = p.Source
		sources[i].number = i
	}
	return sources
}

// began returns the time of a file's first record, or the zero time if it has none.
func (s *Source) began() time.Time {
	head := make([]byte, chunkBytes)
	n, _ := s.in.ReadAt(head, 0) // an error recurs when the file is read
	read := newReader(nil)
	for text := range bytes.Lines(head[:n]) {
		for text = bytes.TrimSpace(text); len(text) > 0; {
			var l line
			if text = read.read(text, &l); l.ok {
				return l.ended()
			}
		}
	}
	return time.Time{}
}
