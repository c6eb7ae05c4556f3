package command

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A path in a folder of one version breaks at the next upgrade: the link or shim is taken that stays.
func TestThePathThatLasts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	for name, c := range map[string]struct {
		self   string
		links  map[string]string // link: target
		files  []string          // other programs
		path   string            // folders of PATH
		want   string
		onPath bool
	}{
		"on PATH":                  {self: "bin/mcp-pruner", path: "bin", want: "bin/mcp-pruner", onPath: true},
		"not on PATH":              {self: "bin/mcp-pruner", path: "other", want: "bin/mcp-pruner"},
		"another one on PATH":      {self: "bin/mcp-pruner", files: []string{"other/mcp-pruner"}, path: "other:bin", want: "bin/mcp-pruner"},
		"a link on PATH":           {self: "opt/mcp-pruner_0.1.0_linux_amd64/mcp-pruner", links: map[string]string{"bin/mcp-pruner": "opt/mcp-pruner_0.1.0_linux_amd64/mcp-pruner"}, path: "bin", want: "bin/mcp-pruner", onPath: true},
		"a link behind another":    {self: "opt/1.2.3/mcp-pruner", links: map[string]string{"bin/mcp-pruner": "opt/1.2.3/mcp-pruner"}, path: "opt/1.2.3:bin", want: "bin/mcp-pruner", onPath: true},
		"an archive, not on PATH":  {self: "opt/mcp-pruner_0.1.0/mcp-pruner", path: "bin", want: "opt/mcp-pruner_0.1.0/mcp-pruner"},
		"Homebrew":                 {self: "brew/Cellar/mcp-pruner/0.1.0/bin/mcp-pruner", links: map[string]string{"brew/opt/mcp-pruner": "brew/Cellar/mcp-pruner/0.1.0"}, path: "bin", want: "brew/opt/mcp-pruner/bin/mcp-pruner"},
		"npm under nvm":            {self: "nvm/versions/node/v22.1.0/lib/node_modules/mcp-pruner/node_modules/@mcp-pruner/linux-x64/bin/mcp-pruner", files: []string{"nvm/versions/node/v22.1.0/lib/node_modules/mcp-pruner/mcp-pruner.js"}, links: map[string]string{"nvm/versions/node/v22.1.0/bin/mcp-pruner": "nvm/versions/node/v22.1.0/lib/node_modules/mcp-pruner/mcp-pruner.js"}, path: "nvm/versions/node/v22.1.0/bin", want: "nvm/versions/node/v22.1.0/lib/node_modules/mcp-pruner/node_modules/@mcp-pruner/linux-x64/bin/mcp-pruner", onPath: true},
		"npm for the whole system": {self: "usr/lib/node_modules/mcp-pruner/node_modules/@mcp-pruner/linux-x64/bin/mcp-pruner", files: []string{"usr/lib/node_modules/mcp-pruner/mcp-pruner.js"}, links: map[string]string{"usr/bin/mcp-pruner": "usr/lib/node_modules/mcp-pruner/mcp-pruner.js"}, path: "usr/bin", want: "usr/lib/node_modules/mcp-pruner/node_modules/@mcp-pruner/linux-x64/bin/mcp-pruner", onPath: true},
		"asdf":                     {self: ".asdf/installs/nodejs/22.1.0/lib/node_modules/mcp-pruner/node_modules/@mcp-pruner/linux-x64/bin/mcp-pruner", files: []string{".asdf/shims/mcp-pruner"}, path: ".asdf/shims", want: ".asdf/shims/mcp-pruner", onPath: true},
		"volta":                    {self: ".volta/tools/image/packages/mcp-pruner/1.2.3/mcp-pruner", files: []string{".volta/bin/volta-shim"}, links: map[string]string{".volta/bin/mcp-pruner": ".volta/bin/volta-shim"}, path: ".volta/bin", want: ".volta/bin/mcp-pruner", onPath: true},
		"a shim of another":        {self: "bin/mcp-pruner", files: []string{".asdf/shims/mcp-pruner"}, path: ".asdf/shims", want: "bin/mcp-pruner"},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			// The test's own folder has no version in its name.
			at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
			for _, file := range append(c.files, c.self) {
				require.NoError(t, os.MkdirAll(filepath.Dir(at(file)), 0o700))
				require.NoError(t, os.WriteFile(at(file), []byte(file), 0o700))
			}
			for link, target := range c.links {
				require.NoError(t, os.MkdirAll(filepath.Dir(at(link)), 0o700))
				require.NoError(t, os.Symlink(at(target), at(link)))
			}
			var folders []string
			for _, folder := range strings.Split(c.path, ":") {
				folders = append(folders, at(folder))
			}
			path, onPath := find(at(c.self), "linux", append(folders, "", "relative"))
			assert.Equal(t, at(c.want), path)
			assert.Equal(t, c.onPath, onPath)
		})
	}
}

func TestLasts(t *testing.T) {
	for path, want := range map[string]bool{
		"/usr/local/bin/mcp-pruner": true, "/home/me/.local/bin/mcp-pruner": true, "/home/me/.asdf/shims/mcp-pruner": true,
		"/opt/homebrew/opt/mcp-pruner/bin/mcp-pruner": true, "/opt/homebrew/Cellar/mcp-pruner/0.1.0/bin/mcp-pruner": false,
		"/home/me/.nvm/versions/node/v22.1.0/bin/mcp-pruner": false, "/opt/mcp-pruner_0.1.0_linux_amd64/mcp-pruner": false,
		"/home/me/.npm/_npx/1/node_modules/.bin/mcp-pruner": false, "/usr/bin/mcp-pruner-1.2": true,
	} {
		assert.Equal(t, want, Lasts(path, "linux"), path)
	}
}
