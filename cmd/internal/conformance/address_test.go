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

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

var address = regexp.MustCompile(`(?:github\.com/|io\.github\.|--repo )([A-Za-z0-9-]+/mcp-pruner)\b|@([A-Za-z0-9-]+)/(?:maintainers|release)\b`)

// TestOneAddress proves that every file that names the repository has the address of verbs.Repository: manifests, workflows,
// pages. Of Go files the compiler proves it, because the address is the path of the module.
func TestOneAddress(t *testing.T) {
	name, ok := strings.CutPrefix(verbs.Repository, "github.com/")
	require.True(t, ok, "CODEOWNERS, workflows and the MCP registry's name need a repository on GitHub")
	owner, _, _ := strings.Cut(name, "/")
	named := make(map[string]bool)
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir() && (name == "testdata" || name == "dist" || name == "bin" || name == ".git" || name == ".cache"):
			return filepath.SkipDir
		case d.IsDir() || !d.Type().IsRegular() || strings.HasSuffix(name, ".go") || name == "go.sum":
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range address.FindAllStringSubmatch(string(text), -1) {
			named[strings.TrimPrefix(filepath.ToSlash(path), top+"/")] = true
			want := name
			if m[2] != "" {
				want = owner
			}
			assert.Equal(t, want, m[1]+m[2], "%s: want the address %s", path, verbs.Repository)
		}
		return err
	}))
	for _, file := range []string{"go.mod", "cmd/dev/go.mod", "Dockerfile", "SECURITY.md", "npm/package.json", "server.json", "plugin/mcpb/manifest.json",
		"plugin/claude/.claude-plugin/plugin.json", "plugin/claude-tools/.claude-plugin/plugin.json", ".github/CODEOWNERS", ".github/workflows/release.yml"} {
		assert.True(t, named[file], "%s does not name the repository", file)
	}
}
