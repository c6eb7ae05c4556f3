package tracecmd

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// source is one file of a trace.
type source struct {
	name string
	in   io.Reader
}

// with opens the files, and closes them when use is through with them.
func with(files []string, stdin io.Reader, use func([]source) error) error {
	var sources []source
	for _, name := range files {
		if name == "-" {
			sources = append(sources, source{"standard input", stdin})
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		sources = append(sources, source{name, f})
	}
	return use(inOrder(sources))
}

var rotated = regexp.MustCompile(`\.(\d{8}T\d{6}\.\d{9}Z-[0-9a-f]{16})$`)

// inOrder puts the files that a trace was rotated into in the order in which they
// were written: those that a server put aside by the times in their names, then all
// others by their first records. Where one of these cannot be read twice, they stay
// as they are given.
func inOrder(sources []source) []source {
	type place struct {
		source
		aside string
		began time.Time
	}
	places, looked := make([]place, len(sources)), true
	for i, s := range sources {
		places[i] = place{source: s, aside: "~"} // behind every time
		if m := rotated.FindStringSubmatch(s.name); m != nil {
			places[i].aside = m[1]
			continue
		}
		var err error
		if places[i].began, err = began(s.in); err != nil {
			looked = false
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		order := strings.Compare(a.aside, b.aside)
		if looked {
			order = cmp.Or(order, a.began.Compare(b.began))
		}
		return order
	})
	for i, p := range places {
		sources[i] = p.source
	}
	return sources
}

var errPipe = errors.New("it can be read once only")

// began is when the first record of a file was written; zero where there is none.
func began(in io.Reader) (time.Time, error) {
	f, ok := in.(io.ReaderAt)
	if !ok {
		return time.Time{}, errPipe
	}
	head := make([]byte, chunkBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return time.Time{}, err
	}
	read := newReader(nil)
	for text := range bytes.Lines(head[:n]) {
		for text = bytes.TrimSpace(text); len(text) > 0; {
			var e entry
			if text = read.read(text, &e); e.ok {
				return e.ended(), nil
			}
		}
	}
	return time.Time{}, nil
}
