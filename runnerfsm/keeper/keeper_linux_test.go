package keeper

import (
	"bytes"
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
	"go.uber.org/goleak"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper/signaltest"
	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// TestMain lets the test binary be the keeper.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "keep" {
		os.Exit(Main(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "keep-alone" {
		os.Exit(runAlone(os.Args[2:]))
	}
	goleak.VerifyTestMain(signaltest.Tests{M: m})
}

// family starts processes of every kind that gets away from its parent, each
// deaf to SIGTERM: in the group, in a group and session of its own, orphaned.
const family = `
deaf='trap "" TERM INT HUP; echo $$ >>"$WORK/pids"; touch "$WORK/$1"; while :; do sleep 1; done'
sh -c "$deaf" deaf child &
setsid sh -c "$deaf" deaf session &
(setsid sh -c "$deaf" deaf orphan &) &
until [ -e "$WORK/child" ] && [ -e "$WORK/session" ] && [ -e "$WORK/orphan" ]; do sleep 0.01; done
touch "$WORK/ready"
`

// kept is a script under a keeper.
type kept struct {
	*Kept
	work string
}

func keep(t *testing.T, script string) kept {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return keepBy(t, []string{self, "keep"}, script)
}

// keepBy keeps a script by a keeper with options.
func keepBy(t *testing.T, keeper []string, script string) kept {
	t.Helper()
	work := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "WORK=" + work, "GORACE=atexit_sleep_ms=0"}
	k, err := Start(keeper, cmd)
	require.NoError(t, err)
	return kept{k, work}
}

// waitReady waits until the script made the file "ready".
func (k kept) waitReady(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(k.work, "ready"))
		return err == nil
	}, 10*time.Second, 5*time.Millisecond)
}

// alive lists the processes that carry the test's mark.
func (k kept) alive() []string {
	var found []string
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, _ := os.ReadFile(path) // "" of the dead
		if bytes.Contains(env, []byte("WORK="+k.work+"\x00")) {
			cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return found
}

func TestExitCode(t *testing.T) {
	assert.Equal(t, 0, keep(t, "exit 0").Wait())
	assert.Equal(t, 7, keep(t, "exit 7").Wait())
	assert.Equal(t, 128+9, keep(t, "kill -9 $$").Wait())
	self, err := os.Executable()
	require.NoError(t, err)
	k, err := Start([]string{self, "keep"}, exec.Command("/dev/null"))
	require.NoError(t, err)
	assert.Equal(t, CannotStart, k.Wait())
	_, err = Start([]string{self, "keep"}, exec.Command("no-such-program"))
	assert.ErrorIs(t, err, exec.ErrNotFound)
}

// TestNothingIsLeft: the command ends, and what it started with it.
func TestNothingIsLeft(t *testing.T) {
	k := keep(t, family+"exit 3")
	assert.Equal(t, 3, k.Wait())
	assert.Empty(t, k.alive())
	pids, err := os.ReadFile(filepath.Join(k.work, "pids"))
	require.NoError(t, err)
	require.Len(t, strings.Fields(string(pids)), 3)
	for _, field := range strings.Fields(string(pids)) {
		pid, err := strconv.Atoi(field)
		require.NoError(t, err)
		assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "not even a dead process is left")
	}
}

// TestAskedToEnd: the command gets the signal that the keeper got, and its exit
// code is the keeper's.
func TestAskedToEnd(t *testing.T) {
	k := keep(t, `trap 'exit 5' INT`+family+"while :; do sleep 0.02; done")
	k.waitReady(t)
	k.Signal(os.Interrupt)
	assert.Equal(t, 5, k.Wait())
	assert.Empty(t, k.alive())
}

// TestSecondSignal: a command that does not listen is not waited for any longer.
func TestSecondSignal(t *testing.T) {
	k := keep(t, `trap '' INT TERM`+family+"while :; do sleep 1; done")
	k.waitReady(t)
	started := time.Now()
	k.Signal(os.Interrupt)
	k.Signal(syscall.SIGTERM)
	assert.Equal(t, 128+9, k.Wait())
	assert.Less(t, time.Since(started), graceTold, "the second signal cut the wait short")
	assert.Empty(t, k.alive())
}

// TestGrace: a keeper can be told how long a command may take to end.
func TestGrace(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	k := keepBy(t, []string{self, "keep", Grace(10 * time.Millisecond)}, `trap '' TERM`+family+"while :; do sleep 1; done")
	k.waitReady(t)
	started := time.Now()
	k.Signal(syscall.SIGTERM)
	assert.Equal(t, 128+9, k.Wait())
	assert.Less(t, time.Since(started), graceTold)
}

// TestKill: nothing is asked first.
func TestKill(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	k := keepBy(t, []string{self, "keep", Grace(time.Hour)}, `trap '' TERM INT`+family+"while :; do sleep 1; done")
	k.waitReady(t)
	k.Kill()
	assert.Equal(t, 128+9, k.Wait())
	assert.Empty(t, k.alive())
}

// TestRunnerLost: the runner is gone (its end of the lifeline is all the keeper
// sees of that); nobody waits, and still nothing is left.
func TestRunnerLost(t *testing.T) {
	k := keep(t, family+"while :; do sleep 1; done")
	k.waitReady(t)
	require.NoError(t, k.life.Close())
	assert.Eventually(t, func() bool { return len(k.alive()) == 0 }, 10*time.Second, 10*time.Millisecond)
	_ = k.cmd.Wait()
}

// TestKeeperKilled: even then the command dies.
func TestKeeperKilled(t *testing.T) {
	k := keep(t, `touch "$WORK/ready"; while :; do sleep 0.02; done`)
	k.waitReady(t)
	k.Signal(os.Kill)
	assert.Equal(t, 128+9, k.Wait())
	assert.Eventually(t, func() bool { return len(k.alive()) == 0 }, 10*time.Second, 10*time.Millisecond)
}

// TestLifelineIsNotInherited: or the command would hold the runner's descriptor.
func TestLifelineIsNotInherited(t *testing.T) {
	k := keep(t, "ls /proc/$$/fd >\"$WORK/fds\"")
	assert.Equal(t, 0, k.Wait())
	fds, err := os.ReadFile(filepath.Join(k.work, "fds"))
	require.NoError(t, err)
	assert.NotContains(t, strings.Fields(string(fds)), "3")
}

// TestLeftWithoutAListOfProcesses: as on macOS, what the command left in its group is killed although it ignores SIGTERM.
func TestLeftWithoutAListOfProcesses(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", `trap "" TERM; sh -c 'echo $$ >left; while :; do sleep 600; done' & until [ -s left ]; do sleep 0.01; done`)
	cmd.Dir = dir
	ownGroup(cmd)
	require.NoError(t, cmd.Run())
	text, err := os.ReadFile(filepath.Join(dir, "left"))
	require.NoError(t, err)
	process.End(remaining{group: cmd.Process.Pid}, syscall.SIGTERM, graceLeft, nil)
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat")
	if err == nil {
		assert.Contains(t, string(stat), ") Z ")
	}
}

// TestKeeperOnWindows: a keeper passes on its streams, the exit code and the reason why it cannot start a command, and
// leaves an interrupt to the command.
func TestKeeperOnWindows(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	alone := func(args ...string) (int, string) {
		cmd := exec.Command(self, append([]string{"keep-alone"}, args...)...)
		cmd.Stdin = strings.NewReader("input")
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	code, out := alone(Grace(time.Second), "/bin/sh", "-c", "cat; kill -INT $PPID; echo ' error' >&2; exit 7")
	assert.Equal(t, 7, code)
	assert.Equal(t, "input error\n", out)
	code, out = alone("/dev/null")
	assert.Equal(t, CannotStart, code)
	assert.Contains(t, out, "mcp-pruner: fork/exec /dev/null")
	code, out = alone()
	assert.Equal(t, 2, code)
	assert.Equal(t, "mcp-pruner keep: there is no command to keep\n", out)
}

func TestNoCommand(t *testing.T) { assert.Equal(t, 2, Main(nil)) }

// TestSecretsOfALostRunAreRemoved proves that a keeper whose runner was killed removes the run's secrets, and that it
// removes nothing else, and nothing while the runner lives.
func TestSecretsOfALostRunAreRemoved(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for name, removed := range map[string]bool{SecretsPrefix + "1": true, "home": false} {
		dir := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte("secret"), 0o600))
		ended := keepBy(t, []string{self, "keep", Removes(dir)}, "exit 3")
		require.Equal(t, 3, ended.Wait())
		assert.DirExists(t, dir, "the runner removes it")

		lost := keepBy(t, []string{self, "keep", Removes(dir)}, "sleep 600")
		require.NoError(t, lost.life.Close())
		require.NotZero(t, lost.Wait())
		if removed {
			assert.NoDirExists(t, dir)
		} else {
			assert.FileExists(t, filepath.Join(dir, "token"))
		}
	}
}
