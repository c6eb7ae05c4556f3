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
				read := run(t, tools["read"], `{"file_path":"f"}`)
				found := run(t, tools["grep"], `{"pattern":"key","paths":["f"],"context_lines":1}`)
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

// TestGrepFindsWhatReadShows: a word with letters beyond ASCII is found in a file of any encoding, and in each but once.
func TestGrepFindsWhatReadShows(t *testing.T) {
	root := t.TempDir()
	write(t, root, "latin1", "eins\nGr\xf6\xdfe \xfc Gr\xf6\xdfe key\nzw\xf6lf Gr\xf6\xdfen")
	write(t, root, "sub/1252", "\x93Gr\xf6\xdfe\x94 \xe4\xf6\n")
	write(t, root, "utf8", "eine Größe key\n")
	write(t, root, "ascii", "key\n")
	engines(t, func(t *testing.T, s Settings) {
		s.Root = root
		grep := newTools(t, s)["grep"]
		for _, c := range []struct{ args, want string }{
			{`"pattern":"Größe"`, "latin1:2:1:Größe ü Größe key\nlatin1:3:7:zwölf Größen\nsub/1252:1:2:“Größe” äö\nutf8:1:6:eine Größe key"},
			{`"pattern":"größe[^n]","case_sensitive":false,"output_mode":"count"`, "latin1:1\nsub/1252:1\nutf8:1"},
			{`"pattern":"größe","case_sensitive":false,"output_mode":"files"`, "latin1\nsub/1252\nutf8"},
			{`"pattern":"Größen","fixed_string":true,"paths":["latin1"],"context_lines":1`, "latin1-2-Größe ü Größe key\nlatin1:3:7:zwölf Größen"},
			{`"pattern":"”|key","glob":"!utf8"`, "ascii:1:1:key\nlatin1:2:15:Größe ü Größe key\nsub/1252:1:7:“Größe” äö"},
		} {
			out, err := call(t, grep, "{"+c.args+"}")
			require.NoError(t, err, c.args)
			assert.Equal(t, c.want, out.Text(), c.args)
		}
	})
}
