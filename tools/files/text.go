package files

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Sink keeps the beginning of a byte stream as valid UTF-8: each byte that
// is none becomes U+FFFD, and the text ends before the rune that would exceed
// the limit. It takes everything that is written and never keeps more than limit.
type Sink struct {
	Limit     int
	Text      []byte
	Truncated bool
	Replaced  int    // bytes of Text that were no UTF-8
	carry     []byte // the beginning of a rune whose end has not come yet
}

func (s *Sink) Write(p []byte) (int, error) {
	if s.Truncated {
		return len(p), nil
	}
	n := len(p)
	if len(s.carry) > 0 {
		p = append(s.carry, p...)
		s.carry = nil
	}
	whole := len(p) - openRune(p)
	s.carry = append(s.carry, p[whole:]...)
	s.add(p[:whole])
	return n, nil
}

// End flushes a rune that never was completed.
func (s *Sink) End() {
	carry := s.carry
	s.carry = nil
	if !s.Truncated {
		s.add(carry)
	}
}

// add takes bytes that do not end within a rune.
func (s *Sink) add(p []byte) {
	if !utf8.Valid(p) {
		// No need to replace what cannot fit: replacing never shortens.
		p = CutRune(p, s.Limit-len(s.Text)+utf8.UTFMax)
		s.Replaced += invalid(p)
		p = AppendValid(nil, p)
	}
	room := s.Limit - len(s.Text)
	if len(p) > room {
		p = CutRune(p, room)
		s.Truncated = true
	}
	s.Text = append(s.Text, p...)
}

// openRune is the length of the incomplete rune at the end of p, 0 if none.
func openRune(p []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(p); i++ {
		tail := p[len(p)-i:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return i
		}
	}
	return 0
}

// CutRune shortens p to at most n bytes without cutting a rune.
func CutRune(p []byte, n int) []byte {
	if len(p) <= n {
		return p
	}
	for n > 0 && !utf8.RuneStart(p[n]) {
		n--
	}
	return p[:n]
}

// QuotedBytes is how much of what a client wrote is repeated in a message, which
// is logged and reaches the model twice.
const QuotedBytes = 256

// Quoted is a path or pattern as a message repeats it.
func Quoted(s string) string {
	if len(s) <= QuotedBytes {
		return s
	}
	return string(CutRune([]byte(s[:QuotedBytes+1]), QuotedBytes)) + "…"
}

// AppendValid appends p with one U+FFFD for each byte that is not UTF-8.
func AppendValid(to, p []byte) []byte {
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		to = utf8.AppendRune(to, r)
		p = p[n:]
	}
	return to
}

// invalid counts the bytes that are not UTF-8.
func invalid(p []byte) (n int) {
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		if r == utf8.RuneError && size == 1 {
			n++
		}
		p = p[size:]
	}
	return n
}

// ValidText is p as a string with one U+FFFD for each byte that is not UTF-8.
func ValidText(p []byte) string {
	if utf8.Valid(p) {
		return string(p)
	}
	return string(AppendValid(nil, p))
}

// Sniffed is how much of a file decides whether it is text.
const Sniffed = 8000

// maxBuffer is how much of a file is read at once.
const maxBuffer = 64 << 10

// BufferFor is a buffer that takes a small file whole. Files of the kernel's
// making have no size.
func BufferFor(size int64) int {
	if size == 0 {
		return Sniffed
	}
	return int(min(size+1, maxBuffer))
}

// IsLatin1 says whether a text that begins so is Latin-1, or Windows-1252 with its
// dashes and quotes: it has some letters beyond ASCII, no more than two of them in a
// row as other alphabets would, and nothing that is UTF-8 or binary.
func IsLatin1(head []byte) bool {
	const (
		least        = 3 // fewer bad bytes may be anything
		windowsMarks = "\x80\x85\x91\x92\x93\x94\x95\x96\x97\x99"
		layout       = "\t\n\f\r\x1b"
	)
	letters, row := 0, 0
	for i, b := range head {
		if b < 0x80 {
			row = 0
			if b < ' ' && strings.IndexByte(layout, b) < 0 {
				return false
			}
			continue
		}
		if row++; row > 2 || b == 0xff || b < 0xa0 && strings.IndexByte(windowsMarks, b) < 0 {
			return false
		}
		if r, _ := utf8.DecodeRune(head[i:]); r != utf8.RuneError {
			return false
		}
		if b >= 0xc0 {
			letters++
		}
	}
	return letters >= least
}

// FromLatin1 turns Latin-1 and Windows-1252 into UTF-8.
func FromLatin1(r io.Reader) io.Reader {
	return transform.NewReader(r, charmap.Windows1252.NewDecoder())
}

// Decoded drops a byte order mark and turns UTF-16 into UTF-8. What has none is
// passed on byte by byte. wide says that the file was UTF-16.
func Decoded(r io.Reader) (text *bufio.Reader, wide bool) { return DecodedWith(r, maxBuffer) }

func DecodedWith(r io.Reader, buffer int) (text *bufio.Reader, wide bool) {
	raw := bufio.NewReaderSize(r, buffer)
	mark, _ := raw.Peek(3)
	switch {
	case bytes.HasPrefix(mark, []byte("\xef\xbb\xbf")):
		_, _ = raw.Discard(3)
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		return bufio.NewReaderSize(transform.NewReader(raw, utf16), buffer), true
	}
	return raw, false
}
