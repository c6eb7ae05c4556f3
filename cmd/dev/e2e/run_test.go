//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

const realDir = "../../../testdata/runner/real"

// each runs a test for both clients.
func each(t *testing.T, test func(t *testing.T, c client)) {
	for _, c := range both() {
		t.Run(c.name, func(t *testing.T) { test(t, c) })
	}
}

// path is a path through the run machine, taken with a real client.
type path struct {
	name  string
	about string
	turns []mockmodel.Turn
	world func(w *world)
	args  []string
	fails bool // the client itself fails
}

// allowBash makes the runner offer bash, which it does not offer by default.
var allowBash = []string{"--allow-bash"}

func paths() []path {
	return []path{
		{name: "running", about: "the real server: a pruned read, a failed read, a command", args: allowBash, turns: []mockmodel.Turn{
			readFocused(), call("read", map[string]any{"file_path": "missing.go"}), call("bash", map[string]any{"command": "echo hi"}), done,
		}},
		{name: "off", about: "JEEVES_PRUNER_ENABLED is not set", world: func(w *world) {
			w.env = append(w.env, "JEEVES_PRUNER_ENABLED=")
		}},
		{name: "config-invalid", about: "JEEVES_PRUNER_URL is no URL", world: func(w *world) {
			w.env = append(w.env, "JEEVES_PRUNER_URL=nowhere")
		}},
		{name: "path-invalid", about: "JEEVES_MCP_PRUNER_PATH is not there", world: func(w *world) {
			w.env = append(w.env, "JEEVES_MCP_PRUNER_PATH="+w.home+"/missing")
		}},
		{name: "spawn-fails", about: "the server cannot be executed", world: func(w *world) {
			w.serverScript("#!/no/such/interpreter\n")
		}},
		{name: "exits", about: "the server exits at start", world: func(w *world) { w.serverFake("exit") }},
		{name: "hangs", about: "the server never answers initialize", args: []string{"--start-timeout", "2"}, world: func(w *world) {
			w.serverFake("hang")
		}},
		{name: "refuses-setting", about: "the real server refuses one of its settings and exits", world: func(w *world) {
			w.env = append(w.env, "MCP_PRUNER_RESULT=poem")
		}},
		{name: "crash", about: "the real server is killed in a call, and the run goes on", args: allowBash, turns: []mockmodel.Turn{
			readFocused(), call("bash", map[string]any{"command": "kill -9 $PPID; sleep 5"}), done,
		}},
		{name: "dies", about: "the server exits right after the handshake", world: func(w *world) { w.serverFake("die") }},
		{name: "ends-early", about: "the client ends before it starts a server", args: []string{"--no-such-option"}, fails: true},
		{name: "call-timeout", about: "a call runs into the client's own timeout", args: allowBash, turns: []mockmodel.Turn{
			call("bash", map[string]any{"command": "sleep 20"}), done,
		}, world: func(w *world) {
			w.env = append(w.env, "MCP_TOOL_TIMEOUT=1000") // claude
			if w.client.name == "codex" {
				w.client.options = append(w.client.options, "-c", "mcp_servers.pruner.tool_timeout_sec=1")
			}
		}},
	}
}

// TestPaths takes every path through the run machine with both real clients and compares the events with the
// transcript. It proves that the client completes its work, even if the server fails.
func TestPaths(t *testing.T) {
	for _, p := range paths() {
		t.Run(p.name, func(t *testing.T) {
			each(t, func(t *testing.T, c client) {
				turns := p.turns
				if turns == nil {
					turns = []mockmodel.Turn{done}
				}
				w := newWorld(t, c, turns...)
				if p.world != nil {
					p.world(w)
				}
				o := w.run(p.args...)
				assert.Equal(t, p.fails, o.code != 0, "%s", o.stderr)
				if !p.fails {
					assert.Equal(t, "three times\n", o.stdout)
				}
				w.compare(p, o)
				assert.Empty(t, w.left(), "nothing is left")
			})
		})
	}
}

// compare compares a run with its transcript, or writes the transcript with -update.
func (w *world) compare(p path, o outcome) {
	file := filepath.Join(realDir, w.client.name+"-"+p.name+".txt")
	text := fmt.Sprintf("# %s, %s\n%s\n%s\n", w.client.version(w.t), p.about, strings.Join(o.events, "\n"), o.summary)
	for from, to := range map[string]string{
		w.dir: "$WORK", w.home: "$HOME",
		"reports it pending": "reports it failed", // Claude Code reports either for a hanging server, depending on timing
	} {
		text = strings.ReplaceAll(text, from, to)
	}
	text = regexp.MustCompile(`\d+\.\d+s`).ReplaceAllString(text, "N s")
	text = unsent.ReplaceAllString(text, "connection closed: initialize response")
	if *update {
		w.write(file, text, 0o644)
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(w.t, err)
	assert.Equal(w.t, string(want), text, "%s\n%s", file, o.stderr)
}

// unsent matches Codex' message about a server that exited before the initialize request was sent. Whether it exits
// before or after the request depends on timing, and the transcript has the message of the latter case.
var unsent = regexp.MustCompile(`Send message error Transport \[[^\]]*\] error: Broken pipe \(os error \d+\), when send initialize request`)

// version returns the client's name and its pinned version.
func (c client) version(t *testing.T) string {
	pinned, err := os.ReadFile("clients/package.json")
	require.NoError(t, err)
	var packages struct{ Dependencies map[string]string }
	require.NoError(t, json.Unmarshal(pinned, &packages))
	name := map[string]string{"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex"}[c.name]
	return c.name + " " + packages.Dependencies[name]
}

// left lists the processes of a world that are still running.
func (w *world) left() []string {
	mark := "E2E_MARK=" + filepath.Dir(w.dir) + "\x00"
	var found []string
	paths, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range paths {
		env, _ := os.ReadFile(p + "/environ")
		cmdline, _ := os.ReadFile(p + "/cmdline")
		// Codex clears the environment of its child processes, but that of our server has the root folder.
		if strings.Contains(string(env), mark) || strings.Contains(string(env), filepath.Dir(w.dir)+"/") {
			found = append(found, filepath.Base(p)+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return found
}

// TestWhatTheModelSees proves that the model is offered the tools, gets the result of a pruned read as plain text, can
// distinguish an error from a success, and can run bash.
func TestWhatTheModelSees(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		w := newWorld(t, c, readFocused(), call("read", map[string]any{"file_path": "missing.go"}),
			call("bash", map[string]any{"command": "echo hi; exit 3"}), call("grep", map[string]any{"pattern": "attempts"}), done)
		o := w.run(allowBash...)
		require.Zero(t, o.code, o.stderr)

		first := string(w.model.Requests()[0].Body)
		for _, tool := range []string{"read", "bash", "grep"} {
			offered := `"mcp__pruner__` + tool + `"`
			if c.name == "codex" {
				offered = `"name":"` + tool + `"`
				assert.Contains(t, first, `"name":"mcp__pruner"`)
			}
			assert.Contains(t, first, offered)
		}
		assert.Contains(t, first, "context_focus_question")

		results := w.results()
		require.Len(t, results, 4)
		assert.True(t, strings.HasSuffix(results[0].text, prunedText), "the pruned text as it is: %s", results[0].value)
		assert.NotContains(t, results[0].text, `"structuredContent"`)
		assert.NotContains(t, results[0].text, `\n`, "no JSON around it")
		assert.Contains(t, results[1].text, "Error (not_found): ")
		assert.Contains(t, results[2].text, "Error (nonzero_exit): ")
		assert.Contains(t, results[2].text, "\nhi", "what was printed")
		if c.name == "claude" {
			assert.True(t, results[1].error && results[2].error)
		}
		assert.Contains(t, results[3].text, "retry.go:101:")
		assert.Contains(t, o.summary, fmt.Sprintf("calls 4, pruned 1; saved %d of %d bytes", len(fileText)-len(prunedText), len(fileText)))
	})
}

// TestStreams proves that the client's event stream passes through the runner as valid JSON lines if the client's
// option for it is given, and that the prompt may come from standard input.
func TestStreams(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		w := newWorld(t, c, done)
		option := map[string][]string{"claude": {"--output-format", "stream-json"}, "codex": {"--json"}}[c.name]
		cmd := w.command(option...)
		cmd.Args = cmd.Args[:len(cmd.Args)-1] // "--" and no prompt
		cmd.Stdin = strings.NewReader("a prompt from standard input")
		out, err := cmd.Output()
		require.NoError(t, err)
		for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			assert.True(t, json.Valid([]byte(line)), line)
		}
		assert.Contains(t, string(out), "three times")
		assert.Contains(t, string(w.model.Requests()[0].Body), "a prompt from standard input")
	})
}

// TestPromptSurvivesSecondLaunch proves that a second launch of Codex gets the prompt from standard input again. The
// first launch reads it before it notices that the server is missing.
func TestPromptSurvivesSecondLaunch(t *testing.T) {
	w := newWorld(t, both()[1], done)
	w.serverFake("exit")
	cmd := w.command()
	cmd.Args = cmd.Args[:len(cmd.Args)-1]
	cmd.Stdin = struct{ *strings.Reader }{strings.NewReader("a prompt from standard input")} // a pipe, not a file
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, "three times\n", string(out))
	assert.Contains(t, string(w.model.Requests()[0].Body), "a prompt from standard input")
}

// TestTrace proves that the trace has the records of the requests and of the run, and that it verifies.
func TestTrace(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		w := newWorld(t, c, readFocused(), done)
		trace := filepath.Join(w.home, "trace.jsonl")
		o := w.run("--trace", trace)
		require.Zero(t, o.code, o.stderr)
		text, err := os.ReadFile(trace)
		require.NoError(t, err)
		var machines []string
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			var record struct{ Machine, Outcome, Tool string }
			require.NoError(t, json.Unmarshal([]byte(line), &record))
			machines = append(machines, record.Machine+" "+record.Tool+" "+record.Outcome)
		}
		assert.Equal(t, []string{"request read responded", "run  shutdown"}, machines)
		out, stderr, err := w.verb("trace", "verify", trace)
		assert.NoError(t, err, out+stderr)
	})
}

// TestInterrupted proves that an interrupted or terminated run ends within 8 seconds with an exit code other than 0,
// and leaves no process.
func TestInterrupted(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			each(t, func(t *testing.T, c client) {
				sleep := call("bash", map[string]any{"command": "touch started; sleep 60"})
				w := newWorld(t, c, sleep, done)
				cmd := w.command(allowBash...)
				require.NoError(t, cmd.Start())
				require.Eventually(t, func() bool {
					_, err := os.Stat(filepath.Join(w.dir, "started"))
					return err == nil
				}, time.Minute, 10*time.Millisecond)
				require.NoError(t, cmd.Process.Signal(signal))
				begin := time.Now()
				_ = cmd.Wait()
				assert.NotZero(t, cmd.ProcessState.ExitCode())
				assert.Less(t, time.Since(begin), 8*time.Second)
				assert.Empty(t, w.left())
			})
		})
	}
}

// TestCodexOwnEntry proves that no run fails because of an entry with the server's name in Codex' own configuration,
// which our docs tell users to add. The runner overrides an entry of the same kind (command or URL). Codex uses an
// entry of the other kind unchanged.
func TestCodexOwnEntry(t *testing.T) {
	for _, c := range []struct {
		name, entry string
		args        []string
		path        string
	}{
		{"url", `url = "http://127.0.0.1:9/mcp"`, nil, "run:mcp_pruner_starting > run:mcp_pruner_disabled > run:shutdown"},
		{"command", `command = "PRUNER"`, []string{"--transport", "http"}, "run:mcp_pruner_running > run:mcp_pruner_degraded > run:shutdown"},
		{"turned off", "command = \"/nowhere\"\nargs = [\"x\"]\nenabled = false", nil, "run:mcp_pruner_running > run:shutdown"},
		{"turned off by an option", `command = "/nowhere"`, []string{"-c", "mcp_servers.pruner.enabled=false"},
			"run:mcp_pruner_starting > run:mcp_pruner_disabled > run:shutdown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, both()[1], done)
			config := filepath.Join(w.home, "config.toml")
			text, err := os.ReadFile(config)
			require.NoError(t, err)
			w.write(config, string(text)+"[mcp_servers.pruner]\n"+strings.ReplaceAll(c.entry, "PRUNER", pruner)+"\n", 0o600)
			o := w.run(c.args...)
			assert.Zero(t, o.code, o.stderr)
			assert.Equal(t, "three times\n", o.stdout)
			assert.Contains(t, o.summary, c.path)
		})
	}
}
