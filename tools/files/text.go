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

// Sink keeps the beginning of a byte stream as valid UTF-8. Each invalid byte becomes U+FFFD, and the text ends
// before the rune that would exceed the limit. It accepts everything that is written and never keeps more than limit
// bytes.
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

// End adds the bytes of a rune that was never completed.
func (s *Sink) End() {
	carry := s.carry
	s.carry = nil
	if !s.Truncated {
		s.add(carry)
	}
}

// add adds bytes that do not end in the middle of a rune.
func (s *Sink) add(p []byte) {
	if !utf8.Valid(p) {
		// Bytes beyond the limit need no replacement, because a replacement never shortens the text.
		p = CutRune(p, s.Limit-len(s.Text)+utf8.UTFMax)
		valid, replaced := validBytes(p)
		s.Replaced += replaced
		p = valid
	}
	room := s.Limit - len(s.Text)
	if len(p) > room {
		p = CutRune(p, room)
		s.Truncated = true
	}
	s.Text = append(s.Text, p...)
}

// openRune returns the length of the incomplete rune at the end of p, or 0 if there is none.
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

// QuotedBytes is the maximum length of a client's text in a message. Messages are logged, and reach the model twice.
const QuotedBytes = 256

// Quoted returns a path or pattern in the form in which messages quote it.
func Quoted(s string) string {
	if len(s) <= QuotedBytes {
		return s
	}
	return string(CutRune([]byte(s[:QuotedBytes+1]), QuotedBytes)) + "…"
}

// validBytes returns p with one U+FFFD for each byte that is not UTF-8, and the number of these.
func validBytes(p []byte) (valid []byte, replaced int) {
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		if r == utf8.RuneError && size == 1 {
			replaced++
		}
		valid = utf8.AppendRune(valid, r)
		p = p[size:]
	}
	return valid, replaced
}

// ValidText returns p as a string with one U+FFFD for each byte that is not UTF-8.
func ValidText(p []byte) string {
	if utf8.Valid(p) {
		return string(p)
	}
	valid, _ := validBytes(p)
	return string(valid)
}

// Sniffed is the number of bytes at the start of a file that decide whether it is text.
const Sniffed = 8000

// maxBuffer is the maximum number of bytes that are read at once.
const maxBuffer = 64 << 10

// BufferFor returns a buffer that holds the whole of a small file. Files that the kernel generates report size 0.
func BufferFor(size int64) int {
	if size == 0 {
		return Sniffed
	}
	return int(min(size+1, maxBuffer))
}

// isLatin1 reports whether a text with this beginning is Latin-1, or Windows-1252 with its dashes and quotes. It is
// if it has some letters beyond ASCII, at most two of them in a row (other alphabets have more), no UTF-8 beyond
// ASCII and no binary data.
func isLatin1(head []byte) bool {
	const (
		least        = 3 // fewer bad bytes may be anything
		windowsMarks = "\x80\x85\x91\x92\x93\x94\x95\x96\x97\x99"
		layout       = "\t\n\f\r\x1b"
	)
	if utf8.Valid(head) { // nearly every text, and eight bytes at a time
		return false
	}
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

// Encodings of files that Decoded recognizes. UTF-8 and data that is no text have the encoding "".
const (
	UTF16  = "UTF-16"
	Latin1 = "Latin-1" // or Windows-1252
)

// FromLatin1 converts Latin-1 and Windows-1252 to UTF-8.
func FromLatin1(r io.Reader) io.Reader {
	return transform.NewReader(r, charmap.Windows1252.NewDecoder())
}

// Latin1Text returns Latin-1 or Windows-1252 as UTF-8.
func Latin1Text(p []byte) []byte {
	text, _ := charmap.Windows1252.NewDecoder().Bytes(p) // the decoder accepts every byte
	return text
}

// Decoded determines a file's encoding, removes a byte order mark and converts UTF-16 to UTF-8. A file without a mark
// passes unchanged, because a search needs the offsets of the file: the caller decodes Latin-1. Whatever shows text of
// files asks this function, so that all show the same text.
func Decoded(r io.Reader) (text *bufio.Reader, encoding string) { return DecodedWith(r, maxBuffer) }

// DecodedWith is Decoded with a buffer of another size, in bytes.
func DecodedWith(r io.Reader, buffer int) (text *bufio.Reader, encoding string) {
	raw := bufio.NewReaderSize(r, buffer)
	mark, _ := raw.Peek(3)
	switch {
	case bytes.HasPrefix(mark, []byte("\xef\xbb\xbf")):
		_, _ = raw.Discard(3)
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		return bufio.NewReaderSize(transform.NewReader(raw, utf16), buffer), UTF16
	}
	if head, _ := raw.Peek(Sniffed); isLatin1(head) {
		return raw, Latin1
	}
	return raw, ""
}
