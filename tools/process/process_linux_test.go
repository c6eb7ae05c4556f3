package process

import (
	"bytes"
	"context"
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

// TestMain lets the test binary be a server that runs one command after the other.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RUN_DIR"); dir != "" {
		for _, script := range []string{os.Getenv("RUN_FIRST"), os.Getenv("RUN_SCRIPT")} {
			p := shell(script)
			p.Dir = dir
			_, _ = p.Run(context.Background())
		}
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

// everyKind starts processes in the command's group, in groups of their own and in
// sessions of their own.
const everyKind = `
echo $$ >leader
sh -c 'echo $$ >child; while :; do sleep 600; done' &
timeout 600 sh -c 'trap "" TERM; echo $$ >grouped; while :; do sleep 600; done' &
sh -c 'echo $$ >orphan.pid; while :; do sleep 600; done' &
(setsid sh -c 'trap "" TERM; echo $$ >daemon; while :; do sleep 600; done' &)
until [ -s child ] && [ -s grouped ] && [ -s orphan.pid ] && [ -s daemon ]; do sleep 0.01; done
touch ready
wait`

// daemon leaves a process in a session of its own, as a server that the user asked for.
const daemon = `
(setsid sh -c 'echo $$ >stays; while :; do sleep 600; done' >/dev/null 2>&1 &)
until [ -s stays ]; do sleep 0.01; done`

// stays checks that the daemon runs, and ends it.
func stays(t *testing.T, dir string) {
	t.Helper()
	pid := pidIn(t, filepath.Join(dir, "stays"))
	assert.True(t, alive(pid))
	assert.NoError(t, syscall.Kill(-pid, syscall.SIGKILL))
}

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
	for _, name := range []string{"leader", "child", "grouped", "orphan.pid", "daemon"} {
		all = append(all, pidIn(t, filepath.Join(dir, name)))
	}
	return all
}

func pidIn(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return pid
}

// TestNothingOutlivesAKilledServer: SIGKILL leaves a server no time to end what it
// started, nor does SIGQUIT; the kernel and the watcher do. A daemon of a command that
// ended before is none of theirs.
func TestNothingOutlivesAKilledServer(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGQUIT} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			server := exec.Command(os.Args[0])
			server.Env = append(os.Environ(), "RUN_FIRST="+daemon, "RUN_SCRIPT="+everyKind, "RUN_DIR="+dir)
			server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			require.NoError(t, server.Start())
			eventually(t, "the command is at work", func() bool { return exists(filepath.Join(dir, "ready")) })
			all := pids(t, dir)
			require.NoError(t, syscall.Kill(-server.Process.Pid, signal), "the whole group, as clients do")
			_ = server.Wait()
			for _, pid := range all {
				eventually(t, "everything is gone", func() bool { return !alive(pid) })
			}
			stays(t, dir)
		})
	}
}

// TestACancelReachesOtherGroups: timeout(1) puts its command into a group of its own,
// setsid(1) into a session of its own.
func TestACancelReachesOtherGroups(t *testing.T) {
	dir := t.TempDir()
	before := shell(daemon)
	before.Dir = dir
	_, err := before.Run(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		p := shell(everyKind)
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
	stays(t, dir)
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
	one := w.add(family{1, "A"})
	two := w.add(family{2, "B"})
	one()
	require.Len(t, pipes, 1)
	assert.Equal(t, "+ 1:A\n+ 2:B\n- 1:A\n", pipes[0].String())
	pipes[0].broken = true
	three := w.add(family{3, "C"})
	require.Len(t, pipes, 2)
	assert.Equal(t, "+ 2:B\n+ 3:C\n", pipes[1].String())
	two()
	three()
	pipes[1].broken = true
	w.add(family{4, "D"})()
	assert.Equal(t, "+ 4:D\n- 4:D\n", pipes[2].String())
}

// TestTheWatcherKnowsACommandBeforeItStarts: a server may be killed as soon as a command has
// started, and the command may have started others by then.
func TestTheWatcherKnowsACommandBeforeItStarts(t *testing.T) {
	var told pipe
	before := watching
	watching = &watcher{start: func() (io.WriteCloser, error) { return &told, nil }}
	defer func() { watching = before }()
	_, err := shell("exit").Run(t.Context())
	require.NoError(t, err)
	assert.Regexp(t, `^\+ (:\w+)\n\+ (\d+:\w+)\n- \d+:\w+\n- :\w+\n$`, told.String())
}

// TestTheWatcherForgetsWhatEnded: its list is as long as the commands under way, however
// many there were.
func TestTheWatcherForgetsWhatEnded(t *testing.T) {
	var input strings.Builder
	told := func(op string, leader int) { fmt.Fprintf(&input, "%s %s\n", op, family{leader, "MARK"}) }
	for leader := range 10_000 {
		told("+", leader)
		if leader >= 3 {
			told("-", leader-3)
		}
	}
	cmd := exec.Command("/bin/sh", "-c", `kill() { :; }; trap 'echo "[$live]"; exit 0' EXIT; `+watcherScript)
	cmd.Stdin = strings.NewReader(input.String())
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, "[ 9997:MARK 9998:MARK 9999:MARK ]\n", string(out))
}
