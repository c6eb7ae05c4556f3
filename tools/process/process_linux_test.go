package process

import (
	"bytes"
	"context"
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

// TestMain lets the test binary be a server that runs one command.
func TestMain(m *testing.M) {
	if script := os.Getenv("RUN_SCRIPT"); script != "" {
		p := shell(script)
		p.Dir = os.Getenv("RUN_DIR")
		_, _ = p.Run(context.Background())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func shell(script string) Process {
	return Process{
		Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")},
		Stdout: io.Discard, Stderr: io.Discard, Timeout: time.Minute, Watched: true,
	}
}

// family starts processes in the command's group and in groups of their own.
const family = `
echo $$ >leader
sh -c 'echo $$ >child; while :; do sleep 600; done' &
timeout 600 sh -c 'trap "" TERM; echo $$ >grouped; while :; do sleep 600; done' &
sh -c 'echo $$ >orphan.pid; while :; do sleep 600; done' &
until [ -s child ] && [ -s grouped ] && [ -s orphan.pid ]; do sleep 0.01; done
touch ready
wait`

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, 20*time.Second, 5*time.Millisecond, what)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// alive says whether a process is there and no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	state := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])[0]
	return state[0] != 'Z' && state[0] != 'X'
}

func pids(t *testing.T, dir string) (all []int) {
	t.Helper()
	for _, name := range []string{"leader", "child", "grouped", "orphan.pid"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		all = append(all, pid)
	}
	return all
}

// TestNothingOutlivesAKilledServer: SIGKILL leaves a server no time to end what it
// started; the kernel and the watcher do.
func TestNothingOutlivesAKilledServer(t *testing.T) {
	dir := t.TempDir()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), "RUN_SCRIPT="+family, "RUN_DIR="+dir)
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, server.Start())
	eventually(t, "the command is at work", func() bool { return exists(filepath.Join(dir, "ready")) })
	all := pids(t, dir)
	require.NoError(t, syscall.Kill(-server.Process.Pid, syscall.SIGKILL), "the whole group, as clients do")
	_ = server.Wait()
	for _, pid := range all {
		eventually(t, "everything is gone", func() bool { return !alive(pid) })
	}
}

// TestACancelReachesOtherGroups: timeout(1) puts its command into a group of its own.
func TestACancelReachesOtherGroups(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		p := shell(family)
		p.Dir = dir
		_, err := p.Run(ctx)
		ended <- err
	}()
	eventually(t, "the command is at work", func() bool { return exists(filepath.Join(dir, "ready")) })
	all := pids(t, dir)
	cancel()
	assert.ErrorIs(t, <-ended, context.Canceled)
	for _, pid := range all {
		eventually(t, "everything is gone", func() bool { return !alive(pid) })
	}
}

// pipe is a watcher's input that can break.
type pipe struct {
	bytes.Buffer
	broken bool
}

func (p *pipe) Write(b []byte) (int, error) {
	if p.broken {
		return 0, os.ErrClosed
	}
	return p.Buffer.Write(b)
}

func (p *pipe) Close() error { return nil }

// TestWatcherIsStartedAgain: a watcher that was killed is replaced by one that
// knows of every command under way.
func TestWatcherIsStartedAgain(t *testing.T) {
	var pipes []*pipe
	w := &watcher{start: func() (io.WriteCloser, error) {
		pipes = append(pipes, new(pipe))
		return pipes[len(pipes)-1], nil
	}}
	one := w.add(1)
	two := w.add(2)
	one()
	require.Len(t, pipes, 1)
	assert.Equal(t, "+ 1\n+ 2\n- 1\n", pipes[0].String())
	pipes[0].broken = true
	three := w.add(3)
	require.Len(t, pipes, 2)
	assert.Equal(t, "+ 2\n+ 3\n", pipes[1].String())
	two()
	three()
	pipes[1].broken = true
	w.add(4)()
	assert.Equal(t, "+ 4\n- 4\n", pipes[2].String())
}
