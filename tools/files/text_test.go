package files

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRuneOverTwoWrites: a rune may begin in one read of a pipe and end in another, after any of its bytes.
func TestRuneOverTwoWrites(t *testing.T) {
	for _, r := range []string{"é", "数", "\U0001F600"} {
		text := "a" + r + "b"
		for at := range len(text) + 1 {
			s := Sink{Limit: 100}
			for _, part := range []string{text[:at], text[at:]} {
				n, err := s.Write([]byte(part))
				assert.NoError(t, err)
				assert.Equal(t, len(part), n)
			}
			s.End()
			assert.Equal(t, text, string(s.Text), "split after %d bytes", at)
			assert.Zero(t, s.Replaced)
		}
		one := Sink{Limit: 100}
		for i := range len(text) { // a byte at a time
			_, _ = one.Write([]byte(text[i : i+1]))
		}
		one.End()
		assert.Equal(t, text, string(one.Text))
		assert.Zero(t, one.Replaced)
	}
}

// TestRuneWithoutEnd: each byte of a rune that never ends is one U+FFFD, when the stream ends and when it goes on.
func TestRuneWithoutEnd(t *testing.T) {
	for _, rest := range []string{"", "x"} {
		for n := 1; n <= 3; n++ {
			s := Sink{Limit: 100}
			_, _ = s.Write([]byte("a" + "\U0001F600"[:n]))
			_, _ = s.Write([]byte(rest))
			s.End()
			assert.Equal(t, "a"+strings.Repeat("\uFFFD", n)+rest, string(s.Text))
			assert.Equal(t, n, s.Replaced)
		}
	}
}

// TestSinkEndsBeforeTheRuneThatExceeds: a text is never longer than its limit, and has no part of a rune.
func TestSinkEndsBeforeTheRuneThatExceeds(t *testing.T) {
	text := "ab\U0001F600c"
	for limit, want := range map[int]string{2: "ab", 3: "ab", 5: "ab", 6: "ab\U0001F600", 7: text} {
		s := Sink{Limit: limit}
		_, _ = s.Write([]byte(text))
		s.End()
		assert.Equal(t, want, string(s.Text), "limit %d", limit)
		assert.Equal(t, want != text, s.Truncated, "limit %d", limit)
	}
}
