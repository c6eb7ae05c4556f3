//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInstalled proves that the README's commands are enough in a fresh home without settings: the real client
// offers our tools, the model gets pruned results, commands find the user's programs, and doctor finds no problem.
func TestInstalled(t *testing.T) {
	every(t, func(t *testing.T, c client) {
		w := newWorld(t, c,
			call("read", map[string]any{"file_path": "store.go", "context_focus_question": "where are retries counted"}),
			call("bash", map[string]any{"command": "interpreter --version"}),
			call("grep", map[string]any{"pattern": "retries"}), done)
		w.env = slices.DeleteFunc(w.env, func(e string) bool { return strings.HasPrefix(e, "JEEVES_") })
		w.onPath()
		w.write(filepath.Join(w.dir, "store.go"), ledgerGo(), 0o644)
		w.virtualenv()

		for range 2 {
			out, stderr, err := w.verb("init", c.name, "--mcp")
			require.NoError(t, err, out+stderr)
		}
		out, stderr, err := w.verb("doctor")
		require.NoError(t, err, out+stderr)
		assert.Regexp(t, "(?m)^ok +"+c.name+" +pruner in .*: embedded", out)
		assert.NotContains(t, out, "BAD")

		cmd := w.own("how are retries counted?")
		if c.name == "claude" { // the command of a user, and permission for our tools
			cmd.Args = []string{cmd.Args[0], "--allowedTools=mcp__pruner", "-p", "how are retries counted?"}
		}
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
		results := w.fresh()
		require.Len(t, results, 3, string(said))
		assert.Contains(t, results[0].text, "[pruned: ")
		assert.Contains(t, results[0].text, "retries")
		assert.Less(t, len(results[0].text), len(ledgerGo())/2)
		assert.Contains(t, results[1].text, "the user's own", "the inherited PATH comes first")
		assert.Contains(t, results[2].text, "store.go:")
		assert.Empty(t, w.left())
	})
}

// virtualenv puts a folder at the front of PATH, as an activated virtualenv does, and writes a login profile that sets
// a PATH without this folder.
func (w *world) virtualenv() {
	dir := filepath.Join(w.home, "venv", "bin")
	require.NoError(w.t, os.MkdirAll(dir, 0o755))
	w.write(filepath.Join(dir, "interpreter"), "#!/bin/sh\necho \"the user's own\"\n", 0o755)
	other := filepath.Join(w.home, "system")
	require.NoError(w.t, os.MkdirAll(other, 0o755))
	w.write(filepath.Join(other, "interpreter"), "#!/bin/sh\necho \"the system's\"\n", 0o755)
	w.write(filepath.Join(w.home, ".bash_profile"), "PATH="+other+":/usr/bin:/bin\n", 0o644)
	for i, e := range w.env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			w.env[i] = "PATH=" + dir + ":" + path
		}
	}
}
