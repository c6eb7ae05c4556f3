package tools

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGrepShowsWhatReadShows: what an agent copies from one result, it finds in the other, whatever the file's encoding.
func TestGrepShowsWhatReadShows(t *testing.T) {
	utf16 := "\xff\xfe" + strings.Join(strings.Split("Größe key\n", ""), "\x00")
	utf16 = strings.NewReplacer("\u00f6", "\xf6", "\u00df", "\xdf").Replace(utf16) + "\x00"
	engines(t, func(t *testing.T, s Settings) {
		for about, file := range map[string]string{
			"Latin-1":      "Gr\xf6\xdfe: \xc4pfel key\n\xfcber die key\n",
			"Windows-1252": "f\xfcnf \x96 \x93\xc4pfel\x94 \xe0 3\x80\r\nkey gr\xf6\xdfer\r\n",
			"long line":    strings.Repeat("\xfc", 1) + strings.Repeat(" \xe4 \xf6", 2000) + " key \xdfx" + strings.Repeat(" \xe4", 300),
			"UTF-16":       utf16,
			"bad UTF-8":    "a\xffb key\n",
		} {
			t.Run(about, func(t *testing.T) {
				s.Root = t.TempDir()
				write(t, s.Root, "f", file)
				tools := newTools(t, s)
				read, err := call(t, tools["read"], `{"file_path":"f"}`)
				require.NoError(t, err)
				found, err := call(t, tools["grep"], `{"pattern":"key","paths":["f"],"context_lines":1}`)
				require.NoError(t, err)
				require.Contains(t, found.Text(), "key")
				lines := strings.Split(read.Text(), "\n")
				for _, m := range found.(*grepOutput).Matches {
					shown, _, _ := strings.Cut(strings.TrimPrefix(m.Text, "…"), "… [line of")
					line := strings.TrimSuffix(lines[m.Line-1], "\r")
					assert.Contains(t, line, shown)
					require.NotNil(t, m.Column)
					assert.True(t, strings.HasPrefix(string([]rune(line)[*m.Column-1:]), "key"), "column %d", *m.Column)
				}
				for _, l := range found.(*grepOutput).Context {
					assert.Equal(t, strings.TrimSuffix(lines[l.Line-1], "\r"), l.Text)
				}
			})
		}
	})
}
