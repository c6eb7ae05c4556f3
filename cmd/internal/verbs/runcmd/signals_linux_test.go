package runcmd_test

import (
	"fmt"
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

// waits is a client that runs until a file is created.
const waits = `touch "$WORK/ready"; until [ -e "$WORK/done" ]; do sleep 0.02; done; exit 4`

// TestIgnoredSignals checks that a run under nohup, or in the background of a script, is not ended by the
// signals that it was started to ignore.
func TestIgnoredSignals(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	p := newPlace(t, map[string]string{"claude": waits, "mcp-pruner": ""})
	cmd := exec.Command("/bin/sh", "-c", `trap '' HUP INT QUIT; exec "$@"`, "sh", self, "run", "--provider", "claude", "--", "x")
	cmd.Dir, cmd.Env = p.dir, p.env
	require.NoError(t, cmd.Start())
	p.await(t, "ready")
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		require.NoError(t, cmd.Process.Signal(s))
	}
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "done"), nil, 0o600))
	assert.Equal(t, 4, code(t, cmd), "the client's own")
}

// TestStop checks that Ctrl-Z stops the client, too, and that both continue together.
func TestStop(t *testing.T) {
	p := newPlace(t, map[string]string{"claude": `echo $$ >"$WORK/pid"; ` + waits, "mcp-pruner": ""})
	group := func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} } // a job of its own
	cmd := p.start(t, group, "--provider", "claude", "--", "x")
	p.await(t, "ready")
	text, err := os.ReadFile(filepath.Join(p.dir, "pid"))
	require.NoError(t, err)
	client, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTSTP))
	for _, pid := range []int{client, cmd.Process.Pid} {
		require.Eventually(t, func() bool { return state(t, pid) == "T" }, 10*time.Second, 5*time.Millisecond)
	}
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "done"), nil, 0o600))
	require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
	assert.Equal(t, 4, code(t, cmd))
}

// TestStopNobodyWouldEnd checks that a run is not stopped, and the client only briefly, if there is no
// shell that could continue it.
func TestStopNobodyWouldEnd(t *testing.T) {
	p := newPlace(t, map[string]string{"claude": waits, "mcp-pruner": ""})
	session := func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
	cmd := p.start(t, session, "--provider", "claude", "--", "x")
	p.await(t, "ready")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTSTP))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "done"), nil, 0o600))
	assert.Equal(t, 4, code(t, cmd))
}

// state returns the letter by which /proc describes the state of a process.
func state(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	return rest[:1]
}

// TestThirdSignal checks that the third signal ends a run whatever it waits for (here a standard error that
// is never read), and that no process is left.
func TestThirdSignal(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	p := newPlace(t, map[string]string{"claude": `touch "$WORK/ready"; while :; do echo "a line that nobody reads" >&2; done`, "mcp-pruner": ""})
	cmd := p.start(t, func(cmd *exec.Cmd) { cmd.Stderr = w }, "--provider", "claude", "--", "x")
	w.Close()
	p.await(t, "ready")
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	require.Eventually(t, func() bool {
		_ = cmd.Process.Signal(os.Interrupt)
		return len(ended) == 1
	}, 20*time.Second, 200*time.Millisecond)
	assert.Eventually(t, func() bool { return len(p.groups()) == 0 }, 15*time.Second, 20*time.Millisecond)
}
