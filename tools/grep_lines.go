package tools

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"
)

const (
	// nulMargin is how far before a NUL byte a file stops counting as text. rg
	// reads in pieces of this size and drops the piece with the NUL in it.
	nulMargin = 64 << 10
	// maxLine is how much of one line is looked at.
	maxLine = 16 << 20
	// shownChars is how much of a long line is shown, leadChars of it before
	// the match.
	shownChars = 500
	leadChars  = 200
)

// fileLine is one line of a file without its line feed.
type fileLine struct {
	n    int
	raw  []byte // its first maxLine bytes
	size int    // all of its bytes
	end  int64  // offset of the byte behind it
}

// read returns the lines of hits in the current file and the lines around them.
// Lines in the binary part of a file are left out; so is everything when the
// file cannot be opened any more.
func (c *collector) read(hits []hit) []fileLine {
	f, _, err := openRegular(c.root, c.file)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := decoded(f)
	s := &lineScanner{r: text, ctx: c.ctx, nul: -1}
	around := c.search.Context
	if c.search.Mode != modeContent {
		around = 0
	}
	var lines []fileLine
	for _, h := range hits {
		for s.n < h.line-around-1 && s.skip() {
		}
		for s.n < h.line+around {
			line, ok := s.next()
			if !ok {
				break
			}
			lines = append(lines, line)
		}
	}
	for read := s.at; s.nul < 0 && s.at < read+nulMargin && s.skip(); {
	}
	if s.nul < 0 {
		return lines
	}
	for i, l := range lines {
		if l.end > s.nul-nulMargin {
			c.lines = l.n - 1
			return lines[:i]
		}
	}
	return lines
}

// textLines is the number of lines of the current file before its binary part.
func (c *collector) textLines() int {
	f, _, err := openRegular(c.root, c.file)
	if err != nil {
		return 0
	}
	defer f.Close()
	text, _ := decoded(f)
	s := &lineScanner{r: text, ctx: c.ctx, nul: -1}
	var ends []int64 // of the lines that a NUL further on may still take back
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

// lineScanner reads a file line by line and notes the first NUL byte.
type lineScanner struct {
	r   *bufio.Reader
	ctx context.Context
	n   int   // lines read
	at  int64 // bytes read
	nul int64 // offset of the first NUL byte, -1 before one was seen
}

func (s *lineScanner) skip() bool {
	_, ok := s.scan(0)
	return ok
}

func (s *lineScanner) next() (fileLine, bool) { return s.scan(maxLine) }

func (s *lineScanner) scan(keep int) (fileLine, bool) {
	line := fileLine{n: s.n + 1}
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

// shorten is a line's text, or of a long line the characters around start and
// marks that say so.
func shorten(line fileLine, start int) string {
	raw := bytes.TrimSuffix(line.raw, []byte("\r"))
	if line.size <= maxLine && utf8.RuneCount(raw) <= shownChars {
		return validText(raw)
	}
	start = min(start, len(raw))
	begin := back(raw, start, leadChars)
	end := forward(raw, begin, shownChars)
	if end == len(raw) {
		begin = back(raw, end, shownChars)
	}
	text := validText(raw[begin:end])
	if begin > 0 {
		text = "…" + text
	}
	if end < line.size {
		text += "…"
	}
	return text + " [line of " + strconv.Itoa(line.size) + " bytes]"
}

// back is the offset n characters before at.
func back(raw []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(raw[:at])
		at -= size
	}
	return at
}

// forward is the offset n characters behind at.
func forward(raw []byte, at, n int) int {
	for ; n > 0 && at < len(raw); n-- {
		_, size := utf8.DecodeRune(raw[at:])
		at += size
	}
	return at
}
