package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRgEventsOfAnyLength feeds events that do not fit, in pieces of every size:
// where the match is comes through, and little is held.
func TestRgEventsOfAnyLength(t *testing.T) {
	real := t.TempDir()
	write(t, real, "f", strings.Repeat("x", 600)+"\n")
	root, err := os.OpenRoot(real)
	require.NoError(t, err)
	defer root.Close()
	event := func(text, submatches string) string {
		return fmt.Sprintf(`{"type":"match","data":{"path":{"text":%s},"lines":{"text":%s},"line_number":1,"absolute_offset":0,"submatches":[%s]}}`+"\n",
			quote(filepath.Join(real, "f")), text, submatches)
	}
	sub := `{"match":{"text":"x"},"start":3,"end":4}`
	for about, text := range map[string]string{
		"short":           event(`"x\\\"\u001b"`, sub),
		"long string":     event(`"`+strings.Repeat("x", 300<<10)+`"`, sub),
		"escapes":         event(`"`+strings.Repeat(`\u001b\\\"`, 60<<10)+`"`, sub),
		"cut at a quote":  event(`"`+strings.Repeat("x", eventString-1)+`\"\"\"needle"`, sub),
		"cut behind it":   event(`"`+strings.Repeat("x", eventString-2)+`\"\"\"needle"`, sub),
		"cut in unicode":  event(`"`+strings.Repeat("x", eventString-3)+`\u001b\"\u001b\"needle"`, sub),
		"just dropped":    event(`"`+strings.Repeat("x", eventString)+`\"\u001b\\"`, sub),
		"many submatches": event(`"x"`, strings.Repeat(sub+",", 20<<10)+sub),
	} {
		for _, piece := range []int{7, 4096, len(text)} {
			c := newCollector(t.Context(), root, search{Mode: modeContent, MaxMatches: 9, MaxBytes: 1 << 20, Paths: []searchPath{{show: ".", real: "."}}})
			e := &rgEvents{real: real, found: c}
			for rest := text; rest != ""; {
				n := min(piece, len(rest))
				_, err := e.Write([]byte(rest[:n]))
				require.NoError(t, err)
				rest = rest[n:]
				require.LessOrEqual(t, len(e.event), eventBytes)
			}
			require.NoError(t, c.settle())
			require.Len(t, c.matches, 1, "%s in pieces of %d", about, piece)
			assert.Equal(t, 4, *c.matches[0].Column)
		}
	}
}
