//go:build e2e

package e2e

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUninstallEverything sets everything up in Claude Code, in its user's and in a project's settings, uses it, and takes it out again
// in one command: all files are byte for byte what they were, nothing runs any more, and the client works without us.
func TestUninstallEverything(t *testing.T) {
	const odd = "{\r\n\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]},\r\n\t\"statusLine\": {\"type\":\"command\", \"command\": \"echo 'mine'\"},\r\n" +
		"\"permissions\" : {\"allow\": [ \"Bash(ls:*)\" ], \"deny\":[]}, \"env\": {\"A\": \"1.50\"}   }"
	for _, contextFirst := range []bool{false, true} {
		w := newWorld(t, only("claude"), native("I run the tests.", "Bash", map[string]any{"command": testLog, "description": "which test failed and why"}), done)
		w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
		own := filepath.Join(w.dir, ".claude", "settings.local.json")
		files := map[string]string{filepath.Join(w.home, "settings.json"): odd, own: "{ \"permissions\": {\"deny\":[\"WebFetch\"]}}"}
		require.NoError(t, os.Mkdir(filepath.Dir(own), 0o755))
		for path, text := range files {
			w.write(path, text, 0o600)
		}
		switches := func() {
			w.ours("context", "claude", "--trust", "--apply", "Workflow")
			w.ours("context", "claude", "--trust", "--project", "--apply", "ScheduleWakeup")
		}
		if contextFirst {
			switches()
		}
		w.ours("init", "claude", "--hooks", "--mcp", "--proxy", "--statusline", "--allow-recover")
		if !contextFirst {
			switches()
		}
		started := false
		if l, err := net.Listen("tcp", "127.0.0.1:8787"); err == nil {
			require.NoError(t, l.Close())
			w.ours("proxy", "--ensure", "--port", "8787", "--upstream", w.model.URL)
			started = true
		}
		for path, text := range files {
			now, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.NotEqual(t, text, string(now), path)
		}

		_, err := os.Stat(own)
		require.NoError(t, err)
		w.dir = w.home // from anywhere, also for the project
		out := w.ours("uninstall")
		for path, text := range files {
			now, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, text, string(now), "%s, context first: %v\n%s", path, contextFirst, out)
		}
		if started {
			assert.Contains(t, out, "the proxy at http://127.0.0.1:8787 has ended")
		}
		assert.Contains(t, out, "These stay")
		list, err := os.ReadFile(filepath.Join(w.home, ".claude.json"))
		require.NoError(t, err)
		assert.NotContains(t, string(list), "mcp-pruner", "the server")
		assert.NoFileExists(t, filepath.Join(w.home, "state", "mcp-pruner", "proxy-secret"))
		require.Eventually(t, func() bool { return len(w.left()) == 0 }, time.Minute, 10*time.Millisecond, "processes")
	}
}
