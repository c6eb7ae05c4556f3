package grep

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// read returns the lines of a file's hits with the lines around them, and the number of the
// file's lines known to be text. Lines in the binary part of a file are omitted. If the
// file can no longer be opened, there are no lines.
func (c *collector) read(f *found) (lines []fileLine, text int) {
	if len(f.hits) == 0 {
		return nil, math.MaxInt
	}
	s, done, err := c.scanner(f.file)
	if err != nil {
		return nil, math.MaxInt
	}
	defer done()
	around := c.search.Context
	if c.search.Mode != Content {
		around = 0
	}
	for _, h := range f.hits {
		if before := h.line - around - 1; !f.text || !s.jumpTo(before, h) {
			s.skipTo(before)
		}
		for s.n < h.line+around {
			line, ok := s.next()
			if !ok {
				break
			}
			lines = append(lines, line)
		}
	}
	if f.text {
		return lines, math.MaxInt
	}
	nul := c.nul(f.file, s.at+nulMargin)
	for i, l := range lines {
		if nul >= 0 && l.end > nul-nulMargin {
			return lines[:i], l.n - 1
		}
	}
	return lines, math.MaxInt
}

// textOf returns the text among the search paths that has the name of a file, or nil.
func (c *collector) textOf(file string) *Path {
	i := slices.IndexFunc(c.search.Paths, func(p Path) bool { return p.Text != nil && p.real == file })
	if i < 0 {
		return nil
	}
	return &c.search.Paths[i]
}

func textScanner(ctx context.Context, text string) *lineScanner {
	return &lineScanner{r: bufio.NewReaderSize(strings.NewReader(text), nulMargin), ctx: ctx}
}

// scanner opens a file below the root, or a text.
func (c *collector) scanner(file string) (s *lineScanner, done func(), err error) {
	if p := c.textOf(file); p != nil {
		return textScanner(c.ctx, *p.Text), func() {}, nil
	}
	f, _, err := files.OpenRegular(c.root, file)
	if err != nil {
		return nil, nil, err
	}
	text, encoding := files.Decoded(f)
	s = &lineScanner{r: text, ctx: c.ctx, latin1: encoding == files.Latin1}
	// Without a byte order mark, what was read of the file is in the buffer as it is.
	if at, err := f.Seek(0, io.SeekCurrent); err == nil && at == int64(text.Buffered()) {
		s.file = f
	}
	if c.wide && s.latin1 {
		s.r, s.file, s.latin1 = bufio.NewReaderSize(files.FromLatin1(text), nulMargin), nil, false
	}
	return s, func() { _ = f.Close() }, nil
}

func (c *collector) latin1(file string) bool {
	f, _, err := files.OpenRegular(c.root, file)
	if err != nil {
		return false
	}
	defer f.Close()
	_, encoding := files.DecodedWith(f, files.Sniffed)
	return encoding == files.Latin1
}

// named reports whether a file was itself a search path.
func (c *collector) named(file string) bool {
	return slices.ContainsFunc(c.search.Paths, func(p Path) bool { return !p.dir && p.real == file })
}

// countable returns how many of a file's first lines count. A file with a NUL byte anywhere
// is binary and has none, as with rg -c. If the call names the file, the lines before its
// binary part count.
func (c *collector) countable(file string) int {
	nul := c.nul(file, math.MaxInt64)
	if nul < 0 {
		return math.MaxInt
	}
	s, done, err := c.scanner(file)
	if err != nil || !c.named(file) {
		return 0
	}
	defer done()
	lines := 0
	for s.skip() && s.at <= nul-nulMargin {
		lines++
	}
	return lines
}

// nul returns the offset of the first NUL byte in a file, once decoded, or -1 if there is none in its first bytes, most of them.
func (c *collector) nul(file string, most int64) int64 {
	s, done, err := c.scanner(file)
	if err != nil {
		return -1
	}
	defer done()
	buf := make([]byte, nulMargin)
	for at := int64(0); at < most && err == nil && c.ctx.Err() == nil; {
		var n int
		n, err = s.r.Read(buf)
		if i := bytes.IndexByte(buf[:n], 0); i >= 0 {
			return at + int64(i)
		}
		at += int64(n)
	}
	return -1
}
