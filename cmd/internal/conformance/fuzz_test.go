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

var target = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// TestFuzzTargetsHaveHostileSeeds proves that each fuzz target has a corpus, which every "go test" runs, and that each corpus has its target.
func TestFuzzTargetsHaveHostileSeeds(t *testing.T) {
	want, found := make(map[string]bool), make(map[string]bool)
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch folder, name := filepath.Split(path); {
		case d.IsDir() && (name == ".git" || name == ".cache"):
			return filepath.SkipDir
		case d.IsDir() && filepath.Base(folder) == "fuzz":
			found[path] = true
		case strings.HasSuffix(name, "_test.go"):
			text, err := os.ReadFile(path)
			for _, f := range target.FindAllStringSubmatch(string(text), -1) {
				want[filepath.Join(folder, "testdata/fuzz", f[1])] = true
			}
			return err
		}
		return nil
	}))
	assert.Equal(t, want, found)
}
