package lineprune_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// row lists the packages below lineprune in their order: each imports only earlier ones.
var row = []string{"session", "doc", "structure", "rank", "learned"}

// Every package of the row imports only packages before it.
func TestPackagesStandInARow(t *testing.T) {
	const base = "github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/"
	for i, name := range row {
		files, err := filepath.Glob(name + "/*.go")
		require.NoError(t, err)
		require.NotEmpty(t, files, name)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			require.NoError(t, err)
			for _, spec := range f.Imports {
				if step, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), base); ours {
					require.Contains(t, row[:i], step, "%s imports %s", file, step)
				}
			}
		}
	}
}
