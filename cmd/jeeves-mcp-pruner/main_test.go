//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper/signaltest"
)

func TestMain(m *testing.M) {
	testscript.Main(signaltest.Tests{M: m}, map[string]func(){"jeeves-mcp-pruner": main})
}

// event is a line of the log.
type event struct {
	Event string
	Data  map[string]any
}

// server is the program under test.
type server struct {
	*exec.Cmd
	t      *testing.T
	root   string
	url    string
	stdout bytes.Buffer

	reading sync.WaitGroup
	mu      sync.Mutex
	events  []event
}

func program(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("jeeves-mcp-pruner")
	require.NoError(t, err)
	cmd := exec.Command(path, args...)
	cmd.Env = append(append(os.Environ(), "HOME=/"), env...) // a login shell's profile is not ours to test
	return cmd
}

// start starts the program and waits until it is healthy.
func start(t *testing.T, env ...string) *server {
	t.Helper()
	s := &server{t: t, root: t.TempDir()}
	s.Cmd = program(t, env, "--root", s.root)
	s.Stdout = &s.stdout
	logs, err := s.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, s.Start())
	t.Cleanup(func() { _ = s.Process.Kill() })
	s.reading.Go(func() { s.read(logs) })
	var ready event
	require.Eventually(t, func() bool {
		ready = s.logged("mcp_pruner.ready")
		return ready.Event != ""
	}, 10*time.Second, 5*time.Millisecond)
	s.url = fmt.Sprintf("http://%s", net.JoinHostPort(ready.Data["host"].(string), fmt.Sprint(ready.Data["port"])))
	assert.Equal(t, s.root, ready.Data["root"])
	response, err := http.Get(s.url + "/healthz")
	require.NoError(t, err)
	_ = response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	return s
}

func (s *server) read(logs io.Reader) {
	lines := bufio.NewScanner(logs)
	for lines.Scan() {
		var e event
		assert.NoError(s.t, json.Unmarshal(lines.Bytes(), &e), lines.Text())
		s.mu.Lock()
		s.events = append(s.events, e)
		s.mu.Unlock()
	}
}

func (s *server) logged(name string) event {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.events, func(e event) bool { return e.Event == name })
	if i < 0 {
		return event{}
	}
	return s.events[i]
}

// end waits for the process and returns its exit code.
func (s *server) end() int {
	s.t.Helper()
	s.reading.Wait()
	_ = s.Wait()
	assert.Empty(s.t, s.stdout.String(), "nothing belongs on standard output")
	return s.ProcessState.ExitCode()
}

// bash starts a call and waits until its command is at work.
func (s *server) bash(script string) (answer func() (string, error)) {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": "bash", "arguments": map[string]any{"cmd": "touch started; " + script}},
	})
	require.NoError(s.t, err)
	var text []byte
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		response, err := http.Post(s.url+"/mcp", "application/json", bytes.NewReader(body))
		if failed = err; err == nil {
			text, failed = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
	}()
	require.Eventually(s.t, func() bool {
		_, err := os.Stat(filepath.Join(s.root, "started"))
		return err == nil
	}, 10*time.Second, 5*time.Millisecond)
	return func() (string, error) {
		<-done
		return string(text), failed
	}
}

// What was received is answered, even though the server was told to end.
func TestTheEndAnswersWhatWasReceived(t *testing.T) {
	t.Parallel()
	s := start(t)
	answer := s.bash("sleep 1; echo done")
	require.NoError(t, s.Process.Signal(syscall.SIGTERM))
	text, err := answer()
	require.NoError(t, err)
	assert.Contains(t, text, `"text":"done\n"`)
	assert.Equal(t, 0, s.end())
	assert.Equal(t, true, s.logged("mcp_pruner.stopped").Data["graceful"])
}

// What takes too long is cancelled.
func TestTheEndDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	s := start(t, "MCP_PRUNER_DRAIN_S=1")
	answer := s.bash("sleep 600")
	began := time.Now()
	require.NoError(t, s.Process.Signal(syscall.SIGINT))
	_, err := answer()
	assert.Error(t, err, "there is no answer")
	assert.Equal(t, 0, s.end())
	assert.Less(t, time.Since(began), time.Minute)
	assert.Equal(t, "cancelled", s.logged("tool.internal_error").Data["reason"])
	assert.Equal(t, true, s.logged("mcp_pruner.stopped").Data["graceful"])
}

// With port 0 nobody could find a server that keeps quiet about where it listens.
func TestAQuietServerSaysWhereItListens(t *testing.T) {
	t.Parallel()
	s := start(t, "MCP_PRUNER_LOG_LEVEL=error")
	require.NoError(t, s.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, 0, s.end())
	assert.Empty(t, s.logged("mcp_pruner.stopped"))
}

// What cannot be is refused before anything is served, with the design's name.
func TestBadSettings(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	for _, c := range []struct {
		env, args []string
		want      string
	}{
		{[]string{"JEEVES_MCP_PRUNER_HOST=0.0.0.0"}, nil, "invalid_host: JEEVES_MCP_PRUNER_HOST=\"0.0.0.0\""},
		{[]string{"JEEVES_MCP_PRUNER_PORT=x"}, nil, "invalid_port: "},
		{[]string{"JEEVES_PRUNER_TIMEOUT_MS=5"}, nil, "invalid_timeout_ms: "},
		{[]string{"MCP_PRUNER_RESULT=both"}, nil, "MCP_PRUNER_RESULT=\"both\""},
		{nil, []string{"--host", "192.168.0.1"}, "invalid_host: --host=\"192.168.0.1\""},
		{nil, []string{"--root=/no/such/dir"}, "invalid_root_dir: --root="},
		{nil, []string{"--port", port}, "address already in use"},
	} {
		cmd := program(t, c.env, c.args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run()
		assert.Equal(t, 2, cmd.ProcessState.ExitCode(), c.want)
		assert.Empty(t, stdout.String())
		var e event
		require.NoError(t, json.Unmarshal(stderr.Bytes(), &e), stderr.String())
		assert.Equal(t, "mcp_pruner.start_failed", e.Event)
		assert.Contains(t, e.Data["message"], c.want)
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]struct {
		code           int
		stdout, stderr string
	}{
		"--help":           {0, "  jeeves-mcp-pruner [flags]", ""},
		"--log-format=xml": {2, "", `invalid argument "xml" for "--log-format" flag: want json or text`},
		"--no-such":        {2, "", "unknown flag: --no-such"},
		"extra":            {2, "", `there is no argument "extra"`},
	} {
		cmd := program(t, nil, args)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run()
		assert.Equal(t, want.code, cmd.ProcessState.ExitCode(), args)
		assert.Contains(t, stdout.String(), want.stdout)
		assert.Contains(t, stderr.String(), want.stderr)
		assert.Equal(t, want.stdout == "", stdout.Len() == 0, args)
	}
}

func TestLogsForPeople(t *testing.T) {
	cmd := program(t, nil, "--log-format", "text", "--root", "/no/such/dir")
	out, _ := cmd.CombinedOutput()
	line := strings.TrimSpace(string(out))
	assert.Regexp(t, `^\S+Z ERROR mcp_pruner.start_failed message="invalid_root_dir: --root=\\"/no/such/dir\\": want an existing directory"$`, line)
}
