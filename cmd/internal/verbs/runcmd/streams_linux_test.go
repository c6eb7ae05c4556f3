package runcmd_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// start starts "mcp-pruner run" as a process with the streams set by set.
func (p place) start(t *testing.T, set func(*exec.Cmd), args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, append([]string{"run"}, args...)...)
	cmd.Dir, cmd.Env = p.dir, p.env
	set(cmd)
	require.NoError(t, cmd.Start())
	return cmd
}

// code waits for the exit code, up to a time limit that only a hang exceeds.
func code(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	timer := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	require.NotEqual(t, -1, cmd.ProcessState.ExitCode(), "it hung, or a signal ended it")
	return cmd.ProcessState.ExitCode()
}

// openPipe returns the read end of a pipe that is never written or closed.
func openPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	return r
}

const (
	answers  = "echo '" + connected + `'; echo '{"type":"result","subtype":"success","result":"the answer"}'`
	givesUp  = `case "$*" in *mcp_servers.pruner*) printf 'Error: required MCP servers failed to initialize: pruner: gone' >&2; exit 1;; esac; `
	relaunch = givesUp + "echo 'without it'"

	connected = `{"type":"system","subtype":"init","tools":["mcp__pruner__read"],"mcp_servers":[{"name":"pruner","status":"connected"}]}`
)

// TestInputStaysOpen checks that a run whose standard input is never closed, as under a parent in Node,
// ends with its client, and that a second launch starts at once.
func TestInputStaysOpen(t *testing.T) {
	for _, c := range []struct{ name, provider, script, enabled, want string }{
		{"injected", "claude", answers, "1", "the answer\n"},
		{"not enabled", "claude", "echo plain", "0", "plain\n"},
		{"second launch", "codex", relaunch, "1", "without it\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, map[string]string{c.provider: c.script, "mcp-pruner": ""})
			p.env = append(p.env, "JEEVES_PRUNER_ENABLED="+c.enabled)
			var out bytes.Buffer
			cmd := p.start(t, func(cmd *exec.Cmd) { cmd.Stdin, cmd.Stdout = openPipe(t), &out }, "--provider", c.provider, "--", "x")
			assert.Zero(t, code(t, cmd))
			assert.Equal(t, c.want, out.String())
		})
	}
}

// TestSecondLaunchReadsAgain checks that the second launch reads the input of the first one again, and then
// the rest.
func TestSecondLaunchReadsAgain(t *testing.T) {
	script := `case "$*" in *mcp_servers.pruner*) read first; echo 'required MCP servers failed to initialize: pruner: x' >&2; exit 1;; esac
touch "$WORK/second"; cat`
	p := newPlace(t, map[string]string{"codex": script, "mcp-pruner": ""})
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	var out bytes.Buffer
	cmd := p.start(t, func(cmd *exec.Cmd) { cmd.Stdin, cmd.Stdout = r, &out }, "--provider", "codex")
	_, err = w.WriteString("one\n")
	require.NoError(t, err)
	p.await(t, "second")
	_, err = w.WriteString("two\n")
	require.NoError(t, err)
	w.Close()
	assert.Zero(t, code(t, cmd))
	assert.Equal(t, "one\ntwo\n", out.String())
}

// TestSlowReader checks that the answer arrives however late it is read, on standard output or after a
// standard error that is read late.
func TestSlowReader(t *testing.T) {
	chat := strings.Repeat("y", 1000)
	script := `echo '{"type":"thread.started"}'; i=0
while [ $i -lt 100 ]; do echo '{"type":"item.completed","item":{"type":"agent_message","text":"` + chat + `"}}'; i=$((i+1)); done
echo '{"type":"item.completed","item":{"type":"agent_message","text":"THE ANSWER"}}'; echo '{"type":"turn.completed"}'; touch "$WORK/done"`
	for stream, args := range map[string][]string{"stdout": {"--json"}, "stderr": nil} {
		t.Run(stream, func(t *testing.T) {
			p := newPlace(t, map[string]string{"codex": script, "mcp-pruner": ""})
			r, w, err := os.Pipe()
			require.NoError(t, err)
			defer r.Close()
			var other bytes.Buffer
			cmd := p.start(t, func(cmd *exec.Cmd) {
				if cmd.Stdout, cmd.Stderr = w, &other; stream == "stderr" {
					cmd.Stdout, cmd.Stderr = &other, w
				}
			}, append([]string{"--provider", "codex"}, args...)...)
			w.Close()
			p.await(t, "done")
			time.Sleep(300 * time.Millisecond) // longer than a writer that gives up would wait
			var late bytes.Buffer
			_, err = late.ReadFrom(r)
			require.NoError(t, err)
			assert.Zero(t, code(t, cmd))
			assert.Contains(t, late.String()+other.String(), "THE ANSWER")
			assert.Equal(t, 100, strings.Count(late.String(), chat))
		})
	}
}

// TestOutputIsLost checks that a run whose answer could not be written does not succeed.
func TestOutputIsLost(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	p := newPlace(t, map[string]string{"claude": answers, "mcp-pruner": ""})
	var stderr bytes.Buffer
	cmd := p.start(t, func(cmd *exec.Cmd) { cmd.Stdout, cmd.Stderr = full, &stderr }, "--provider", "claude", "--", "x")
	assert.Equal(t, 1, code(t, cmd))
	assert.Contains(t, stderr.String(), "mcp-pruner: claude: output is lost: write /dev/stdout: no space left on device\n")
	assert.Contains(t, stderr.String(), "exit 1\n")
}

// TestNobodyReadsTheStream checks that the client finds its output closed, as it would without the run.
func TestNobodyReadsTheStream(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	r.Close()
	p := newPlace(t, map[string]string{"claude": "while echo '{}'; do :; done", "mcp-pruner": ""})
	cmd := p.start(t, func(cmd *exec.Cmd) { cmd.Stdout = w }, "--provider", "claude", "--output-format=stream-json", "--", "x")
	w.Close()
	assert.Equal(t, 128+13, code(t, cmd))
}

// TestStderrIsGone checks that the client's standard error is still interpreted when it cannot be written.
func TestStderrIsGone(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	r.Close()
	p := newPlace(t, map[string]string{"codex": relaunch, "mcp-pruner": ""})
	var out bytes.Buffer
	cmd := p.start(t, func(cmd *exec.Cmd) { cmd.Stdout, cmd.Stderr = &out, w }, "--provider", "codex", "--", "x")
	w.Close()
	assert.Zero(t, code(t, cmd))
	assert.Equal(t, "without it\n", out.String())
}

// TestOwnLines checks that no line of this program is appended to a line of the client.
func TestOwnLines(t *testing.T) {
	p := newPlace(t, map[string]string{"codex": relaunch, "mcp-pruner": ""})
	var stderr bytes.Buffer
	cmd := p.start(t, func(cmd *exec.Cmd) { cmd.Stderr = &stderr }, "--provider", "codex", "--", "x")
	assert.Zero(t, code(t, cmd))
	printed := lines(stderr.String())
	assert.Equal(t, "Error: required MCP servers failed to initialize: pruner: gone", printed[0])
	assert.True(t, strings.HasPrefix(printed[1], `{"level":"error"`), printed[1])
}
