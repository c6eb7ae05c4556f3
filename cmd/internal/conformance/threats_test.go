package conformance

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryThreatHasItsTest proves that each threat of SECURITY.md names tests, and that these exist.
func TestEveryThreatHasItsTest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "SECURITY.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| threat | answer | test |\n|---|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	tests := testNames(t)
	for row := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(row, " | ")
		if assert.Len(t, cells, 3, row) {
			names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(cells[2], -1)
			assert.NotEmpty(t, names, "no test holds %s", row)
			for _, name := range names {
				assert.True(t, tests[name[1]], "there is no test %s", name[1])
			}
		}
	}
}

// testNames returns the names of the repository's tests.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names, declared := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		return err
	}))
	return names
}
