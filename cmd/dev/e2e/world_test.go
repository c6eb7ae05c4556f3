//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// world is a directory with a file to read, a model that plays a script, a pruning service, and one client that is set
// up to use only these.
type world struct {
	t      *testing.T
	client client
	dir    string // working directory of the run
	home   string // home folder, with the client's configuration
	model  *mockmodel.Model
	env    []string
}

// client describes one of the clients.
type client struct {
	name    string
	program string   // path below node_modules
	options []string // limit a run to its world
	setUp   func(w *world)

	shell, argument string                     // name of its own shell tool and of the argument with the command
	config          func(w *world, url string) // writes the API's address; nil if the environment has it
	direct          []string                   // arguments of a run without our server, before the prompt
	more            bool                       // the client is one of clients/more
}

func both() []client {
	return []client{
		{
			name: "claude", program: "@anthropic-ai/claude-code-linux-x64/claude", shell: "Bash", argument: "command",
			direct:  []string{"--strict-mcp-config", "--setting-sources", "user", "--no-session-persistence", "--allowedTools=Bash", "-p"},
			options: []string{"--strict-mcp-config", "--setting-sources", "", "--no-session-persistence"},
			setUp: func(w *world) {
				w.env = append(w.env, "CLAUDE_CONFIG_DIR="+w.home, "ANTHROPIC_BASE_URL="+w.model.URL,
					"ANTHROPIC_API_KEY=sk-secret-anthropic", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
					"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1")
			},
		},
		{
			name: "codex", program: "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", shell: "exec_command", argument: "cmd",
			direct:  []string{"exec", "--skip-git-repo-check", "--ephemeral", "--dangerously-bypass-approvals-and-sandbox"},
			config:  configureCodex,
			options: []string{"--skip-git-repo-check", "--ephemeral", "--sandbox", "read-only"},
			setUp: func(w *world) {
				w.env = append(w.env, "CODEX_HOME="+w.home, "MOCK_KEY=sk-secret-mock", "OPENAI_API_KEY=sk-secret-openai")
			},
		},
	}
}

func configureCodex(w *world, url string) {
	w.write(filepath.Join(w.home, "config.toml"), fmt.Sprintf(codexConfig, url), 0o600)
}

// codexConfig lets Codex send requests to the mock model only, without retries.
const codexConfig = `model = "mock-model"
model_provider = "mock"
web_search = "disabled"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "%s/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0
[features]
unbounded_connection_retries = false
plugins = false
[analytics]
enabled = false
[otel]
exporter = "none"
`

// fileText is the file that the model reads: 200 lines, one of which matters.
var fileText = strings.Repeat("func filler() {}\n", 100) + "const attempts = 3\n" + strings.Repeat("func filler() {}\n", 99)

// prunedText is the pruned text that the pruning service returns for every request. It has characters that JSON
// escapes.
const prunedText = "(filtered 100 lines)\nconst attempts = 3 // \"quoted\" <tag> & tab\there\n(filtered 99 lines)\n"

func newWorld(t *testing.T, c client, turns ...mockmodel.Turn) *world {
	t.Helper()
	if missing != nil || c.more && missingMore != nil {
		t.Skip("the clients are not installed: see the top")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, client: c, dir: filepath.Join(root, "work"), home: filepath.Join(root, "home"), model: mockmodel.Start(t, turns...)}
	bin := filepath.Join(root, "bin")
	for _, d := range []string{w.dir, w.home, bin} {
		require.NoError(t, os.Mkdir(d, 0o755))
	}
	require.NoError(t, os.Symlink(installed(c.program), filepath.Join(bin, c.name)))
	w.write(filepath.Join(w.dir, "retry.go"), fileText, 0o644)
	service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = json.NewEncoder(rw).Encode(map[string]string{"pruned_code": prunedText})
	}))
	t.Cleanup(service.Close)
	w.env = []string{
		"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + w.home, "LANG=C.UTF-8", "TMPDIR=" + root, "E2E_MARK=" + root,
		"JEEVES_PRUNER_ENABLED=true", "JEEVES_PRUNER_URL=" + service.URL + "/prune",
	}
	c.setUp(w)
	if c.config != nil {
		c.config(w, w.model.URL)
	}
	return w
}

func (w *world) write(path, text string, mode os.FileMode) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(path, []byte(text), mode))
}

// serverFake makes the runner inject a fake server that fails in the given way.
func (w *world) serverFake(how string) {
	self, err := os.Executable()
	require.NoError(w.t, err)
	w.serverScript("#!/bin/sh\nexec '" + self + "' fake-server " + how + "\n")
}

func (w *world) serverScript(text string) {
	path := filepath.Join(w.home, "server")
	w.write(path, text, 0o755)
	w.env = append(w.env, "JEEVES_MCP_PRUNER_PATH="+path)
}

// outcome is the result of a run.
type outcome struct {
	stdout, stderr string
	code           int
	events         []string // "level name data"
	summary        string
}

// command returns the command "mcp-pruner run" for the world's client.
func (w *world) command(options ...string) *exec.Cmd {
	args := append([]string{"run", "--provider", w.client.name, "--events", w.eventFile()}, w.client.options...)
	cmd := exec.Command(pruner, append(append(args, options...), "--", "how often is it tried?")...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd
}

func (w *world) eventFile() string { return filepath.Join(w.home, "events.jsonl") }

// run runs the client for at most two minutes and returns the outcome.
func (w *world) run(options ...string) outcome {
	w.t.Helper()
	cmd := w.command(options...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(w.t, cmd.Start())
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	o := outcome{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
	lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
	o.summary = strings.TrimPrefix(lines[len(lines)-1], "mcp-pruner: "+w.client.name+": ")
	o.events = w.events()
	return o
}

// events reads the run's events, without their times.
func (w *world) events() []string {
	text, err := os.ReadFile(w.eventFile())
	require.NoError(w.t, err)
	var events []string
	for line := range strings.Lines(string(text)) {
		var e struct {
			Level, Event string
			Data         json.RawMessage
		}
		require.NoError(w.t, json.Unmarshal([]byte(line), &e), line)
		events = append(events, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Level, e.Event, e.Data)))
	}
	return events
}

// seen is a tool result in a request to the model.
type seen struct {
	value json.RawMessage // the result's value in the request
	text  string          // its text; that of several blocks is joined with newlines
	error bool            // marked as an error
}

// results lists the tool results of the latest request, in order.
func (w *world) results() []seen {
	w.t.Helper()
	requests := w.model.Requests()
	require.NotEmpty(w.t, requests, "the model was not asked")
	return resultsOf(w.t, requests[len(requests)-1])
}

func newSeen(value json.RawMessage, isError bool) seen {
	s := seen{value: value, error: isError}
	var blocks []struct{ Text string }
	if json.Unmarshal(value, &s.text) == nil || json.Unmarshal(value, &blocks) != nil {
		return s
	}
	for i, b := range blocks {
		if i > 0 {
			s.text += "\n"
		}
		s.text += b.Text
	}
	return s
}

// call returns a turn with a call of one of our tools.
func call(tool string, args map[string]any) mockmodel.Turn {
	return mockmodel.Turn{Calls: []mockmodel.Call{{Server: "pruner", Tool: tool, Args: args}}}
}

func readFocused() mockmodel.Turn {
	return call("read", map[string]any{"file_path": "retry.go", "context_focus_question": "how often is it tried?"})
}

var done = mockmodel.Turn{Text: "three times"}
