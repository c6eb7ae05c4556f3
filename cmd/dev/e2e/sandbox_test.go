//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSandbox proves that a run allows nothing that the user did not allow the client (SPEC A9). The model tries to
// write a file in the client's directory and one outside it. Both must be missing unless the user asked for bash or the
// client may run any command anyway.
func TestSandbox(t *testing.T) {
	for _, c := range []struct {
		client, name string
		options      []string
		env          []string
		offered      bool
	}{
		{client: "claude", name: "default"},
		{client: "claude", name: "edits accepted", options: []string{"--permission-mode", "acceptEdits"}},
		{client: "claude", name: "one command allowed", options: []string{"--allowedTools", "Bash(touch:*)"}},
		{client: "claude", name: "sandboxed", options: []string{"--allowedTools", "Bash", "--settings", `{"sandbox":{"enabled":true}}`}},
		{client: "claude", name: "Bash allowed", options: []string{"--allowedTools", "Bash"}, offered: true},
		{client: "claude", name: "asked for", options: allowBash, offered: true},
		{client: "claude", name: "nothing is asked", options: []string{"--dangerously-skip-permissions"}, env: []string{"IS_SANDBOX=1"}, offered: true},
		{client: "codex", name: "read-only", options: []string{"--sandbox", "read-only"}},
		{client: "codex", name: "workspace-write", options: []string{"--sandbox", "workspace-write"}},
		{client: "codex", name: "asked for", options: append([]string{"--sandbox", "read-only"}, allowBash...), offered: true},
		{client: "codex", name: "no sandbox", options: []string{"--sandbox", "danger-full-access"}, offered: true},
		{client: "codex", name: "no approvals", options: []string{"--dangerously-bypass-approvals-and-sandbox"}, offered: true},
	} {
		for _, transport := range []string{"stdio", "http"} {
			t.Run(c.client+"/"+strings.ReplaceAll(c.name, " ", "-")+"/"+transport, func(t *testing.T) {
				w := newWorld(t, clientNamed(t, c.client), call("bash", map[string]any{"command": "touch inside; touch \"$HOME/outside\""}), done)
				w.client.options = without(w.client.options, "--sandbox", "read-only")
				w.env = append(w.env, c.env...)
				o := w.run(append([]string{"--transport", transport}, c.options...)...)
				require.Zero(t, o.code, o.stderr)
				assert.Contains(t, o.summary, "run:mcp_pruner_running > run:shutdown", "read and grep are there: %s", o.stderr)
				first := string(w.model.Requests()[0].Body)
				offered := `"mcp__pruner__bash"`
				if c.client == "codex" {
					offered = `"name":"bash"`
				}
				assert.Equal(t, c.offered, strings.Contains(first, offered), "the model is told of bash")
				for _, file := range []string{filepath.Join(w.dir, "inside"), filepath.Join(w.home, "outside")} {
					_, err := os.Stat(file)
					assert.Equal(t, c.offered, err == nil, "%s", file)
				}
				assert.Empty(t, w.left())
			})
		}
	}
}

func clientNamed(t *testing.T, name string) client {
	for _, c := range append(both(), others()...) {
		if c.name == name {
			return c
		}
	}
	t.Fatalf("there is no client %q", name)
	return client{}
}

// without returns the options without the given one and its value.
func without(options []string, name, value string) []string {
	for i := range options {
		if options[i] == name && i+1 < len(options) && options[i+1] == value {
			return append(append([]string{}, options[:i]...), options[i+2:]...)
		}
	}
	return options
}
