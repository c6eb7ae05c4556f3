package exact_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/exact"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// TestGapsAreShort counts the marks of every range of 40 lines, and of all that follows each, of Go's own files: at most 12
// tokens. The estimate behind that is too low for a few names.
func TestGapsAreShort(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(goRoot(t), "src/net/http/*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	marks, named, long := 0, 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		d := doc.New(string(text))
		all := structure.Code(d).Openings(d, structure.Declared)
		for from := 1; from+40 < len(d.Lines); from += 40 {
			for _, to := range []int{from + 39, len(d.Lines)} {
				b := lineprune.Block{Start: from, End: to, Openings: lineprune.Within(all, from, to), Size: len(text)}
				bare := lineprune.Gap(lineprune.Block{Start: from, End: to}, 1)
				mark := lineprune.Gap(b, 1)
				if marks++; mark != bare {
					named++
				}
				n := exact.Count(mark)
				if n > 12 {
					long++
				}
				assert.LessOrEqual(t, n, 14, mark)
				assert.Regexp(t, fmt.Sprintf(`^%s(: .+)?$`, bare), mark)
			}
		}
	}
	assert.Greater(t, named*5, marks*2, "marks that name something")
	assert.Less(t, long*50, named, "marks of more than 12 tokens, of %d", named)
}
