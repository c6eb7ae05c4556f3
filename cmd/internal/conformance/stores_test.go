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

var opening = regexp.MustCompile(`\b(trace|ledger)\.Open\(`)

// TestOnePlaceOpensStores proves that every door opens its trace and the ledger where assemble does it for all.
func TestOnePlaceOpensStores(t *testing.T) {
	const place = "cmd/internal/assemble"
	found := map[string]bool{}
	for _, folder := range []string{"cmd", "states", "runnerfsm", "tools", "pruneclient"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("../../..", folder), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && strings.HasSuffix(path, "cmd/dev"):
				return filepath.SkipDir
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			for _, call := range opening.FindAllString(string(text), -1) {
				found[call] = true
				assert.Contains(t, filepath.ToSlash(path), place, "%s...)", call)
			}
			return err
		}))
	}
	assert.Len(t, found, 2, "what is looked for is still how they are opened")
}
