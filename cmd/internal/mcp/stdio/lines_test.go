package stdio

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// read reads all lines; a line that is too long reads as "<too long>".
func read(t *testing.T, r io.Reader, limit int) []string {
	t.Helper()
	l := newLineReader(r, limit)
	var lines []string
	for {
		line, tooLong, err := l.next()
		if err == io.EOF {
			return lines
		}
		require.NoError(t, err)
		if tooLong {
			line = []byte("<too long>")
		}
		lines = append(lines, string(line))
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	cases := map[string]struct {
		in   string
		want []string
	}{
		"nothing":                     {"", nil},
		"a line":                      {"a\n", []string{"a"}},
		"a last line without newline": {"a\nb", []string{"a", "b"}},
		"empty lines":                 {"\n\na\n", []string{"", "", "a"}},
		"a carriage return stays":     {"a\r\nb\n", []string{"a\r", "b"}},
		"exactly the limit":           {long[:150_000] + "\nb\n", []string{long[:150_000], "b"}},
		"over the limit, then others": {long + "\nb\n", []string{"<too long>", "b"}},
		"over the limit at the end":   {"a\n" + long, []string{"a", "<too long>"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, read(t, strings.NewReader(c.in), 150_000))
			assert.Equal(t, c.want, read(t, iotest.HalfReader(strings.NewReader(c.in)), 150_000))
		})
	}
}

// However bytes are cut into reads, the lines are the same, and they are what
// splitting the whole at its newlines gives.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\n\n{\"a\":1}\r\nlast"), uint8(8))
	f.Add([]byte(strings.Repeat("y", 70_000)+"\n\xff\xfe\n"), uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, limit uint8) {
		var want []string
		for _, line := range strings.Split(strings.TrimSuffix(string(in), "\n"), "\n") {
			if len(line) > int(limit) {
				line = "<too long>"
			}
			want = append(want, line)
		}
		if len(in) == 0 {
			want = nil
		}
		assert.Equal(t, want, read(t, bytes.NewReader(in), int(limit)))
		assert.Equal(t, want, read(t, iotest.OneByteReader(bytes.NewReader(in)), int(limit)))
	})
}
