//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// server is the program under test, driven as a client drives it.
type server struct {
	*exec.Cmd
	t    *testing.T
	root string
	in   io.WriteCloser
	out  *bufio.Reader
	logs *bytes.Buffer
}

func program(t *testing.T, env ...string) (*exec.Cmd, string) {
	t.Helper()
	path, err := exec.LookPath("mcp-pruner")
	require.NoError(t, err)
	root := t.TempDir()
	cmd := exec.Command(path)
	cmd.Env = append(append(os.Environ(), "PRUNER_URL=", "MCP_PRUNER_CWD="+root, "HOME="+root), env...)
	return cmd, root
}

func start(t *testing.T, env ...string) *server {
	t.Helper()
	cmd, root := program(t, env...)
	s := &server{Cmd: cmd, t: t, root: root, logs: new(bytes.Buffer)}
	var err error
	s.in, err = cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	s.out = bufio.NewReader(out)
	cmd.Stderr = s.logs
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return s
}

func call(id any, tool string, args map[string]any) string {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": args},
	})
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

func bash(id any, command string) string { return call(id, "bash", map[string]any{"command": command}) }

func ping(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", id) }

func cancel(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", id)
}

func (s *server) send(lines ...string) {
	s.t.Helper()
	_, err := io.WriteString(s.in, strings.Join(lines, ""))
	require.NoError(s.t, err)
}

type reply struct {
	ID     json.RawMessage
	Result *struct {
		Content []struct{ Text string }
		IsError bool
	}
	Error *struct {
		Code    int
		Message string
	}
}

func (r reply) text() string {
	if r.Result == nil || len(r.Result.Content) == 0 {
		return ""
	}
	return r.Result.Content[0].Text
}

// next reads the next answer.
func (s *server) next() reply {
	s.t.Helper()
	line, err := s.out.ReadBytes('\n')
	require.NoError(s.t, err, "logs: %s", s.logs)
	return parse(s.t, line)
}

func parse(t *testing.T, line []byte) reply {
	t.Helper()
	var r reply
	require.NoError(t, json.Unmarshal(line, &r), "standard output has %q", line)
	return r
}

// end waits for the process and returns its exit code and the events it logged.
func (s *server) end() (code int, events []string) {
	s.t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, _ = io.Copy(io.Discard, s.out)
		ended <- s.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		s.t.Fatal("the process does not end")
	}
	for _, line := range strings.Split(strings.TrimSpace(s.logs.String()), "\n") {
		var e struct{ Event string }
		require.NoError(s.t, json.Unmarshal([]byte(line), &e), "standard error has %q", line)
		events = append(events, e.Event)
	}
	return s.ProcessState.ExitCode(), events
}

// gone waits until a process is no more.
func gone(t *testing.T, pidFile string) {
	t.Helper()
	raw, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) }, 10*time.Second, 10*time.Millisecond)
}

// zombie says whether a process has ended and only waits to be reaped, which is
// up to whoever inherited it.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// exists waits for a file that a command creates.
func exists(t *testing.T, path string) {
	t.Helper()
	require.Eventually(t, func() bool { _, err := os.Stat(path); return err == nil }, 20*time.Second, 5*time.Millisecond)
}

// No reply is lost when the input ends right behind the calls.
func TestOneShotPipes(t *testing.T) {
	runs := 200
	if testing.Short() {
		runs = 20
	}
	const calls = 20
	binary := built(t)
	for range runs {
		cmd, root := program(t)
		cmd.Path = binary
		require.NoError(t, os.WriteFile(filepath.Join(root, "a.txt"), []byte("hello\n"), 0o600))
		var in strings.Builder
		for id := range calls {
			in.WriteString(call(id, "read", map[string]any{"file_path": "a.txt"}))
		}
		cmd.Stdin = strings.NewReader(strings.TrimSuffix(in.String(), "\n"))
		out, err := cmd.Output()
		require.NoError(t, err)
		answered := make(map[string]bool)
		for _, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
			r := parse(t, line)
			require.Equal(t, "hello\n", r.text())
			answered[string(r.ID)] = true
		}
		require.Len(t, answered, calls)
	}
}

func TestCallsAreFinishedAfterEndOfInput(t *testing.T) {
	s := start(t)
	s.send(bash(1, "sleep 1; echo done"))
	require.NoError(t, s.in.Close())
	assert.Equal(t, "done\n", s.next().text())
	code, events := s.end()
	assert.Zero(t, code)
	assert.Equal(t, "mcp_pruner.stopped", events[len(events)-1])
}

func TestACallThatGoesOnAfterEndOfInputIsCancelled(t *testing.T) {
	s := start(t)
	s.send(bash(1, "echo $$ > p; mv p pid; sleep 600"))
	exists(t, filepath.Join(s.root, "pid"))
	require.NoError(t, s.in.Close())
	code, events := s.end()
	assert.Zero(t, code)
	assert.Contains(t, events, "tool.internal_error")
	gone(t, filepath.Join(s.root, "pid"))
}

func TestSignalsEndTheServerAndItsCommands(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s := start(t)
		s.send(bash(1, "trap '' TERM; echo $$ > p; mv p pid; sleep 600 & wait; sleep 600"))
		exists(t, filepath.Join(s.root, "pid"))
		require.NoError(t, s.Process.Signal(signal))
		code, events := s.end()
		assert.Zero(t, code, signal)
		assert.Equal(t, "mcp_pruner.stopped", events[len(events)-1])
		gone(t, filepath.Join(s.root, "pid"))
	}
}

// When nobody reads our answers any more, the work stops and so do we.
func TestLosingStandardOutputEndsTheServer(t *testing.T) {
	cmd, root := program(t)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	var logs bytes.Buffer
	cmd.Stderr = &logs
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = w
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	_, err = io.WriteString(in, bash(1, "echo $$ > p; mv p pid; sleep 600"))
	require.NoError(t, err)
	exists(t, filepath.Join(root, "pid"))
	require.NoError(t, r.Close())
	_, err = io.WriteString(in, bash(2, "echo unheard"))
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), "exit code 0")
	assert.Contains(t, logs.String(), "tool.respond_failed")
	gone(t, filepath.Join(root, "pid"))
}

// Our own handling of SIGPIPE does not reach the commands we run.
func TestCommandsHaveTheUsualSIGPIPE(t *testing.T) {
	s := start(t)
	s.send(bash(1, `yes | head -n 1; echo "${PIPESTATUS[0]}"`))
	assert.Equal(t, "y\n141\n", s.next().text())
}

func TestACancelRightBehindItsCall(t *testing.T) {
	s := start(t)
	for id := range 50 {
		s.send(bash(id, "sleep 600"), cancel(id))
	}
	s.send(ping(1000))
	assert.Equal(t, "1000", string(s.next().ID), "no answer to a cancelled call")
	require.NoError(t, s.in.Close())
	code, events := s.end()
	assert.Zero(t, code)
	assert.Equal(t, 50, strings.Count(strings.Join(events, " "), "tool.internal_error"))
}

func TestACancelKillsTheCommandAndTheConnectionStays(t *testing.T) {
	s := start(t)
	s.send(bash(1, "echo $$ > p; mv p pid; sleep 600"))
	exists(t, filepath.Join(s.root, "pid"))
	s.send(cancel(1))
	gone(t, filepath.Join(s.root, "pid"))
	s.send(bash(2, "echo still here"))
	assert.Equal(t, "still here\n", s.next().text())
}

func TestAQueuedCallCanBeCancelled(t *testing.T) {
	s := start(t, "MCP_PRUNER_MAX_CALLS=16")
	for id := range 16 {
		s.send(bash(id, fmt.Sprintf("touch started%d; until [ -e go ]; do sleep 0.01; done", id)))
	}
	for id := range 16 {
		exists(t, filepath.Join(s.root, fmt.Sprintf("started%d", id)))
	}
	s.send(bash(16, "touch ran"), cancel(16), ping(17))
	assert.Equal(t, "17", string(s.next().ID))
	require.NoError(t, os.WriteFile(filepath.Join(s.root, "go"), nil, 0o600))
	for range 16 {
		assert.NotEqual(t, "16", string(s.next().ID))
	}
	assert.NoFileExists(t, filepath.Join(s.root, "ran"))
}

// Sixteen calls run at once: each waits for all the others, and for a ping's answer.
func TestSixteenCallsRunAtOnce(t *testing.T) {
	s := start(t)
	for id := range 16 {
		s.send(bash(id, fmt.Sprintf("touch here%d; until [ $(ls here* | wc -l) = 16 ] && [ -e pinged ]; do sleep 0.02; done; echo met", id)))
	}
	s.send(ping(99))
	assert.Equal(t, "99", string(s.next().ID), "a ping does not wait for them")
	require.NoError(t, os.WriteFile(filepath.Join(s.root, "pinged"), nil, 0o600))
	for range 16 {
		assert.Equal(t, "met\n", s.next().text())
	}
}

func TestALineOver32MiBIsRefusedAndTheNextOneServed(t *testing.T) {
	s := start(t)
	s.send(call(1, "bash", map[string]any{"command": strings.Repeat("x", 33<<20)}), ping(2))
	r := s.next()
	assert.Equal(t, "null", string(r.ID))
	assert.Equal(t, -32600, r.Error.Code)
	assert.Equal(t, "2", string(s.next().ID))
}

// A client that never reads our standard error cannot stop us.
func TestNobodyReadsStandardError(t *testing.T) {
	cmd, _ := program(t)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd.Stderr = w
	var in strings.Builder
	for id := range 2000 {
		in.WriteString(call(id, "read", map[string]any{"file_path": "missing"}))
	}
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, 2000, bytes.Count(out, []byte("\n")))
}
