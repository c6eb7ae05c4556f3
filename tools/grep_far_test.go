//go:build unix

package tools

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
)

// farApart is a text with the word needle in its second line and in two others, half a
// megabyte apart, and the result of a search for it.
func farApart(name, end string, around int) (text, want string) {
	var b strings.Builder
	var lines []string
	for i := range 30_000 {
		line := fmt.Sprintf("line %05d of a long log, nothing in it", i+1)
		if i == 1 || i == 14_000 || i == 28_000 {
			line = fmt.Sprintf("line %05d has the needle", i+1)
		}
		lines = append(lines, line)
		b.WriteString(line + end)
	}
	var shown []string
	for _, i := range []int{1, 14_000, 28_000} {
		for n := max(0, i-around); n <= i+around; n++ {
			if n == i {
				shown = append(shown, fmt.Sprintf("%s:%d:20:%s", name, n+1, lines[n]))
			} else {
				shown = append(shown, fmt.Sprintf("%s-%d-%s", name, n+1, lines[n]))
			}
		}
	}
	return b.String(), strings.Join(shown, "\n")
}

// TestGrepFarApart: matches far into a file are found without reading everything before
// them; the lines, their numbers and the lines around them are right in any encoding.
func TestGrepFarApart(t *testing.T) {
	for _, c := range []struct {
		name, end string
		change    func(text string) string
	}{
		{name: "plain", end: "\n"},
		{name: "crlf", end: "\r\n"},
		{name: "mark", end: "\n", change: func(text string) string { return "\xef\xbb\xbf" + text }},
		{name: "utf16", end: "\n", change: func(text string) string {
			out := []byte{0xff, 0xfe}
			for _, unit := range utf16.Encode([]rune(text)) {
				out = append(out, byte(unit), byte(unit>>8))
			}
			return string(out)
		}},
	} {
		for _, around := range []int{0, 2} {
			root := t.TempDir()
			text, want := farApart(c.name, c.end, around)
			if c.change != nil {
				text = c.change(text)
			}
			write(t, root, c.name, text)
			engines(t, func(t *testing.T, s Settings) {
				s.Root = root
				out := run(t, newTools(t, s)["grep"], fmt.Sprintf(`{"pattern":"needle","context_lines":%d}`, around))
				assert.Equal(t, want, strings.ReplaceAll(out.Text(), "\n--\n", "\n"), c.name)
			})
		}
	}
}

// TestGrepFarIntoBinary: a NUL byte after the last match, far behind the others, hides what
// rg's rules hide and no more.
func TestGrepFarIntoBinary(t *testing.T) {
	root := t.TempDir()
	text, want := farApart("f", "\n", 0)
	rows := strings.Split(want, "\n")
	for _, c := range []struct {
		nul  string
		want string
	}{
		{strings.Repeat("x\n", 100_000) + "\x00\n", want},
		{"\x00\n", strings.Join(rows[:2], "\n")}, // the last match is within 64 KiB of it
	} {
		write(t, root, "f", text[:strings.Index(text, "line 28010")]+c.nul)
		engines(t, func(t *testing.T, s Settings) {
			s.Root = root
			for _, path := range []string{".", "f"} {
				out := run(t, newTools(t, s)["grep"], fmt.Sprintf(`{"pattern":"needle","path":%q}`, path))
				assert.Equal(t, c.want, out.Text(), path)
			}
		})
	}
}

// TestGrepKeepsTheFirst: of many more matches than may be shown, those in the first files
// are shown whatever the order in which files are searched, and the others are counted.
func TestGrepKeepsTheFirst(t *testing.T) {
	root := t.TempDir()
	for i := range 300 {
		write(t, root, fmt.Sprintf("d%02d/f%03d", i%10, i), strings.Repeat("needle\n", 20))
	}
	engines(t, func(t *testing.T, s Settings) {
		s.Root = root
		out := run(t, newTools(t, s)["grep"], `{"pattern":"needle","max_matches":45}`)
		var want []string
		for i := range 45 {
			want = append(want, fmt.Sprintf("d00/f%03d:%d:1:needle", i/20*10, i%20+1))
		}
		assert.Equal(t, strings.Join(want, "\n"), out.Text())
		result := out.(*grepOutput)
		assert.Equal(t, 6000, result.total)
		assert.Len(t, result.elsewhere, 298)
	})
}
