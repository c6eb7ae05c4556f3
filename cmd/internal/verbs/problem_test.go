package verbs

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryProblemHasARow: docs/TROUBLESHOOTING.md explains the doctor's problems, in
// their order and with their words, and no others.
func TestEveryProblemHasARow(t *testing.T) {
	page, err := os.ReadFile("../../../docs/TROUBLESHOOTING.md")
	require.NoError(t, err)
	var rows []string
	for line := range strings.Lines(string(page)) {
		if row, ok := strings.CutPrefix(line, "| `"); ok {
			rows = append(rows, row)
		}
	}
	require.Len(t, rows, int(problems)-1)
	for p := none + 1; p < problems; p++ {
		cells := strings.Split(rows[p-1], " | ")
		require.Len(t, cells, 3, rows[p-1])
		require.NotEmpty(t, p.String(), "problem %d", p)
		assert.Contains(t, cells[0], p.String())
		assert.Equal(t, p.mark() == "note", strings.Contains(cells[0], "(note)"), cells[0])
	}
}
