package grep

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
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

type lineScanner struct {
	r   *bufio.Reader
	ctx context.Context
	n   int   // lines read
	at  int64 // bytes read

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
