package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPackageManagers proves that formula and manifest name the archives that were built, with their checksums.
func TestPackageManagers(t *testing.T) {
	r := &release{out: t.TempDir(), version: "1.2.3", when: time.Unix(0, 0), built: []string{"linux/amd64", "darwin/arm64", "windows/amd64"}}
	sums := map[string]string{}
	for _, system := range r.built {
		require.NoError(t, r.archive(system, []byte("program of "+system)))
	}
	entries, err := os.ReadDir(r.out)
	require.NoError(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		require.NoError(t, err)
		sum := sha256.Sum256(data)
		sums[e.Name()] = hex.EncodeToString(sum[:])
	}
	require.NoError(t, r.formula())
	require.NoError(t, r.scoop())

	text, err := os.ReadFile(filepath.Join(r.out, formulaName))
	require.NoError(t, err)
	formula := string(text)
	for _, name := range []string{"mcp-pruner_1.2.3_linux_amd64.tar.gz", "mcp-pruner_1.2.3_darwin_arm64.tar.gz"} {
		assert.Contains(t, formula, "/releases/download/v1.2.3/"+name+"\"\n      sha256 \""+sums[name]+"\"")
	}
	assert.NotContains(t, formula, "linux_arm64", "it was not built")
	assert.Contains(t, formula, "Untried")

	text, err = os.ReadFile(filepath.Join(r.out, scoopName))
	require.NoError(t, err)
	var manifest struct {
		Version      string
		Architecture map[string]struct{ URL, Hash string }
	}
	require.NoError(t, json.Unmarshal(text, &manifest))
	require.Len(t, manifest.Architecture, 1)
	assert.Equal(t, sums["mcp-pruner_1.2.3_windows_amd64.zip"], manifest.Architecture["64bit"].Hash)
	assert.True(t, strings.HasSuffix(manifest.Architecture["64bit"].URL, "/v1.2.3/mcp-pruner_1.2.3_windows_amd64.zip"))

	r.built = nil
	require.NoError(t, os.Remove(filepath.Join(r.out, scoopName)))
	require.NoError(t, r.scoop())
	require.NoFileExists(t, filepath.Join(r.out, scoopName), "nothing for Windows was built")
}
