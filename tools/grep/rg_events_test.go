package grep

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// TestRgEventsOfAnyLength reads events larger than the buffer in pieces of every size: the
// positions of matches are found, and little memory is used.
func TestRgEventsOfAnyLength(t *testing.T) {
	real := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(real, "f"), []byte(strings.Repeat("x", 600)+"\n"), 0o600))
	tree, err := files.NewRoot(real)
	require.NoError(t, err)
	root, err := os.OpenRoot(real)
	require.NoError(t, err)
	defer root.Close()
	event := func(text, submatches string) string {
		return fmt.Sprintf(`{"type":"match","data":{"path":{"text":%s},"lines":{"text":%s},"line_number":1,"absolute_offset":0,"submatches":[%s]}}`+"\n",
			strconv.Quote(filepath.Join(real, "f")), text, submatches)
	}
	sub := `{"match":{"text":"x"},"start":3,"end":4}`
	for about, text := range map[string]string{
		"short":           event(`"x\\\"\u001b"`, sub),
		"long string":     event(`"`+strings.Repeat("x", 300<<10)+`"`, sub),
		"escapes":         event(`"`+strings.Repeat(`\u001b\\\"`, 60<<10)+`"`, sub),
		"cut at a quote":  event(`"`+strings.Repeat("x", eventBytes-1)+`\"\"\"needle"`, sub),
		"cut behind it":   event(`"`+strings.Repeat("x", eventBytes-2)+`\"\"\"needle"`, sub),
		"cut in unicode":  event(`"`+strings.Repeat("x", eventBytes-3)+`\u001b\"\u001b\"needle"`, sub),
		"just dropped":    event(`"`+strings.Repeat("x", eventBytes)+`\"\u001b\\"`, sub),
		"many submatches": event(`"x"`, strings.Repeat(sub+",", 20<<10)+sub),
	} {
		for _, piece := range []int{7, 4096, len(text)} {
			c := newCollector(t.Context(), root, Search{Mode: Content, MaxMatches: 9, MaxBytes: 1 << 20, Paths: []Path{{Show: ".", real: ".", dir: true}}})
			e := &rgEvents{run: &rgRun{engine: &Engine{Root: tree}, found: c}}
			for rest := text; rest != ""; {
				n := min(piece, len(rest))
				_, err := e.Write([]byte(rest[:n]))
				require.NoError(t, err)
				rest = rest[n:]
				require.LessOrEqual(t, len(e.event), eventBytes)
			}
			got := c.result(nil)
			require.Len(t, got.Matches, 1, "%s in pieces of %d", about, piece)
			assert.Equal(t, 4, *got.Matches[0].Column)
		}
	}
}
