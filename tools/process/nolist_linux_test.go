package process

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These tests run as on macOS, where neither the system's processes nor their environments are listed.

// deaf starts two processes that ignore SIGTERM, in the group of the command.
const deaf = `
trap "" TERM
echo $$ >leader
sh -c 'echo $$ >child; while :; do sleep 600; done' &
until [ -s child ]; do sleep 0.01; done
touch ready
wait`

// A cancelled command and its process group are killed although they ignore SIGTERM.
func TestACancelWithoutAListOfProcesses(t *testing.T) {
	before := living
	living = nil
	defer func() { living = before }()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		p := shell(deaf)
		p.Dir = dir
		_, err := p.Run(ctx)
		ended <- err
	}()
	eventually(t, "the command is at work", func() bool { return exists(filepath.Join(dir, "ready")) })
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	for _, name := range []string{"leader", "child"} {
		pid := pidIn(t, filepath.Join(dir, name))
		eventually(t, name+" is gone", func() bool { return !alive(pid) })
	}
	assert.Empty(t, Living())
}

// The watcher kills a command's process group in every shell that may be a system's /bin/sh. That of macOS is bash 3.2,
// dash or zsh.
func TestTheWatcherWithoutProc(t *testing.T) {
	ran := 0
	for _, sh := range []string{"sh", "bash --posix", "dash", "zsh --emulate sh", "ksh", "mksh", "busybox sh"} {
		line := strings.Fields(sh)
		path, err := exec.LookPath(line[0])
		if err != nil {
			continue
		}
		ran++
		dir := t.TempDir()
		command := exec.Command("/bin/sh", "-c", deaf)
		command.Dir, command.SysProcAttr = dir, &syscall.SysProcAttr{Setsid: true}
		require.NoError(t, command.Start())
		go func() { _ = command.Wait() }()
		eventually(t, "the command is at work", func() bool { return exists(filepath.Join(dir, "ready")) })
		all := []int{pidIn(t, filepath.Join(dir, "leader")), pidIn(t, filepath.Join(dir, "child"))}

		script := strings.ReplaceAll(watcherScript, "/proc/", filepath.Join(dir, "none")+"/")
		watcher := exec.Command(path, append(line[1:], "-c", script, "watcher")...)
		watcher.Stdin = strings.NewReader("+ :MARK\n+ " + strconv.Itoa(all[0]) + ":MARK\n- :MARK\n+ 1:GONE\n- 1:GONE\n")
		out, err := watcher.CombinedOutput()
		assert.Empty(t, string(out), sh)
		assert.NoError(t, err, sh)
		for _, pid := range all {
			eventually(t, sh+" has killed it", func() bool { return !alive(pid) })
		}
	}
	assert.Positive(t, ran)
}
