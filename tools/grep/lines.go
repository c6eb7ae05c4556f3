package grep

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

const (
	// nulMargin is the number of bytes before a NUL byte that no longer count as text. rg
	// reads in blocks of this size and drops the block with the NUL byte.
	nulMargin = 64 << 10
	// maxLine bounds the part of one line that is read, in bytes.
	maxLine = 16 << 20
	// leastJump is the number of bytes that are worth a jump: two buffers.
	leastJump = 2 * nulMargin
	// shownChars is the number of characters shown of a long line, leadChars of them before
	// the match.
	shownChars = 500
	leadChars  = 200
)

// fileLine is one line of a file without its line feed.
type fileLine struct {
	n    int
	raw  []byte // its first maxLine bytes
	size int    // all of its bytes
	end  int64  // offset of the byte after it

	latin1 bool // raw is not decoded yet
}

// decoded returns the line as UTF-8, and the offset start in it. The line's own bytes remain those in which the engines
// give positions.
func (l fileLine) decoded(start int) (fileLine, int) {
	if !l.latin1 {
		return l, start
	}
	if start > 0 {
		start = len(files.Latin1Text(l.raw[:min(start, len(l.raw))]))
	}
	text := files.Latin1Text(l.raw)
	l.size += len(text) - len(l.raw)
	l.raw, l.latin1 = text, false
	return l, start
}

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
	for read := s.at; !f.text && s.nul < 0 && s.at < read+nulMargin && s.skip(); {
	}
	if f.text || s.nul < 0 {
		return lines, math.MaxInt
	}
	for i, l := range lines {
		if l.end > s.nul-nulMargin {
			return lines[:i], l.n - 1
		}
	}
	return lines, math.MaxInt
}

// scanner opens a file below the root.
func (c *collector) scanner(file string) (s *lineScanner, done func(), err error) {
	f, _, err := files.OpenRegular(c.root, file)
	if err != nil {
		return nil, nil, err
	}
	text, encoding := files.Decoded(f)
	s = &lineScanner{r: text, ctx: c.ctx, nul: -1, latin1: encoding == files.Latin1}
	// Without a byte order mark, what was read of the file is in the buffer as it is.
	if at, err := f.Seek(0, io.SeekCurrent); err == nil && at == int64(text.Buffered()) {
		s.file = f
	}
	if c.wide && s.latin1 {
		s.r, s.file, s.latin1 = bufio.NewReaderSize(files.FromLatin1(text), nulMargin), nil, false
	}
	return s, func() { _ = f.Close() }, nil
}

// latin1 reports whether a file is Latin-1.
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
	switch {
	case !c.binary(file):
		return math.MaxInt
	case c.named(file):
		return c.textLines(file)
	}
	return 0
}

// binary reports whether a file, once decoded, contains a NUL byte.
func (c *collector) binary(file string) bool {
	s, done, err := c.scanner(file)
	if err != nil {
		return false
	}
	defer done()
	for buf := make([]byte, nulMargin); c.ctx.Err() == nil; {
		n, err := s.r.Read(buf)
		if bytes.IndexByte(buf[:n], 0) >= 0 {
			return true
		}
		if err != nil {
			break
		}
	}
	return false
}

// textLines returns the number of lines before a file's binary part.
func (c *collector) textLines(file string) int {
	s, done, err := c.scanner(file)
	if err != nil {
		return 0
	}
	defer done()
	var ends []int64 // ends of lines that a later NUL byte may still make binary
	for s.nul < 0 && s.skip() {
		ends = append(ends, s.at)
		for len(ends) > 0 && ends[0] <= s.at-nulMargin {
			ends = ends[1:]
		}
	}
	if s.nul < 0 {
		return s.n
	}
	late := slices.IndexFunc(ends, func(end int64) bool { return end > s.nul-nulMargin })
	if late < 0 {
		return s.n
	}
	return s.n - (len(ends) - late)
}

// lineScanner reads a file line by line and records the first NUL byte.
type lineScanner struct {
	r   *bufio.Reader
	ctx context.Context
	n   int   // lines read
	at  int64 // bytes read
	nul int64 // offset of the first NUL byte, -1 if none was read yet

	file *os.File // nil if the text's offsets are not the file's

	latin1 bool // the encoding of the lines
}

func (s *lineScanner) skip() bool {
	_, ok := s.scan(0)
	return ok
}

// skipTo reads up to and including line n. While n is far away, it skips whole buffers.
func (s *lineScanner) skipTo(n int) {
	for s.n < n {
		buffered, _ := s.r.Peek(s.r.Buffered())
		piece := buffered[:bytes.LastIndexByte(buffered, '\n')+1]
		lines := bytes.Count(piece, []byte("\n"))
		if lines == 0 || s.n+lines > n {
			if !s.skip() { // which also fills the buffer
				return
			}
			continue
		}
		if i := bytes.IndexByte(piece, 0); i >= 0 && s.nul < 0 {
			s.nul = s.at + int64(i)
		}
		discarded, _ := s.r.Discard(len(piece)) // the whole piece is in the buffer
		s.at += int64(discarded)
		s.n += lines
		if s.ctx.Err() != nil {
			return
		}
	}
}

// jumpTo moves to the end of line n without reading what comes before it, if the engine gave
// the offset of a hit near n and that is far away. The file must be text up to there. It
// returns false if it did not move.
func (s *lineScanner) jumpTo(n int, h hit) bool {
	if s.file == nil || n <= s.n || int64(h.at)-s.at < leastJump {
		return false
	}
	before := make([]byte, 1) // the bytes before the hit's line
	if h.line-1 > n {
		before = make([]byte, nulMargin)
	}
	from := int64(h.at - len(before))
	if _, err := s.file.ReadAt(before, from); err != nil || before[len(before)-1] != '\n' {
		return false
	}
	end := len(before)
	for range h.line - 1 - n {
		if end = bytes.LastIndexByte(before[:end-1], '\n') + 1; end == 0 {
			return false
		}
	}
	if _, err := s.file.Seek(from+int64(end), io.SeekStart); err != nil {
		return false
	}
	s.r.Reset(s.file)
	s.n, s.at = n, from+int64(end)
	return true
}

func (s *lineScanner) next() (fileLine, bool) { return s.scan(maxLine) }

func (s *lineScanner) scan(keep int) (fileLine, bool) {
	line := fileLine{n: s.n + 1, latin1: s.latin1}
	for {
		part, err := s.r.ReadSlice('\n')
		if i := bytes.IndexByte(part, 0); i >= 0 && s.nul < 0 {
			s.nul = s.at + int64(i)
		}
		s.at += int64(len(part))
		line.size += len(part)
		if room := keep - len(line.raw); room > 0 {
			line.raw = append(line.raw, part[:min(room, len(part))]...)
		}
		if err == bufio.ErrBufferFull && s.ctx.Err() == nil {
			continue
		}
		if err != nil && err != io.EOF || line.size == 0 || s.ctx.Err() != nil {
			return line, false
		}
		break
	}
	s.n++
	line.end = s.at
	line.raw = bytes.TrimSuffix(line.raw, []byte("\n"))
	return line, true
}

// shorten returns a decoded line's text. Of a long line it returns the characters around start,
// with marks where text was left out.
func shorten(line fileLine, start int) string {
	raw := bytes.TrimSuffix(line.raw, []byte("\r"))
	if line.size <= maxLine && utf8.RuneCount(raw) <= shownChars {
		return files.ValidText(raw)
	}
	start = min(start, len(raw))
	begin := back(raw, start, leadChars)
	end := forward(raw, begin, shownChars)
	if end == len(raw) {
		begin = back(raw, end, shownChars)
	}
	text := files.ValidText(raw[begin:end])
	if begin > 0 {
		text = "…" + text
	}
	if end < line.size {
		text += "…"
	}
	return text + " [line of " + strconv.Itoa(line.size) + " bytes]"
}

// back returns the offset n characters before at.
func back(raw []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(raw[:at])
		at -= size
	}
	return at
}

// forward returns the offset n characters after at.
func forward(raw []byte, at, n int) int {
	for ; n > 0 && at < len(raw); n-- {
		_, size := utf8.DecodeRune(raw[at:])
		at += size
	}
	return at
}
