package lineprune

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// TestThePassageOfASearchStaysWhole proves that the lines which a search was told to show around a match stay with it,
// for a question and for a call in a session: they are what the caller wants to read, and with holes in it a function
// looks whole.
func TestThePassageOfASearchStaysWhole(t *testing.T) {
	var found []string
	for file := range 8 {
		found = append(found, fmt.Sprintf("internal/shop/part%d.go:10:func open%d(path string) error {", file, file))
		for n := 11; n < 40; n++ {
			found = append(found, fmt.Sprintf("internal/shop/part%d.go-%d-\tstep%d(path, %d)", file, n, n%7, n*file))
		}
		found = append(found, "--")
	}
	for name, opts := range map[string]Options{
		"asked":   {},
		"session": {Call: session.Origin{Tool: "grep", Args: map[string]any{"pattern": "func open"}, Context: []session.Event{{Kind: session.Say, Text: "open5 fails"}}}},
	} {
		res := prune(t, strings.Join(found, "\n"), "what does open5 do in internal/shop/part5.go", Grep, opts)
		require.Less(t, len(res.Kept), res.Total, name)
		assert.Contains(t, res.Kept, 5*31+1, name)
		for file := range 8 { // whole or gone
			kept := 0
			for _, n := range res.Kept {
				if n > file*31 && n <= file*31+30 {
					kept++
				}
			}
			assert.Contains(t, []int{0, 30}, kept, "%s, part %d", name, file)
		}
	}
}
