package runcmd_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// run starts "mcp-pruner run" as a process.
func (p place) run(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, append([]string{"run"}, args...)...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = p.dir, p.env, &stderr
	require.NoError(t, cmd.Start())
	return cmd, &stderr
}

// await waits until a script has created a file.
func (p place) await(t *testing.T, file string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(p.dir, file))
		return err == nil
	}, 10*time.Second, 5*time.Millisecond)
}

// groups returns the process groups of a place, recognised by a variable in their environment, with their
// numbers of processes.
func (p place) groups() map[int]int {
	groups := make(map[int]int)
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, _ := os.ReadFile(path) // "" for a process that has ended
		if !bytes.Contains(env, []byte("WORK="+p.dir+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			if group, err := syscall.Getpgid(pid); err == nil {
				groups[group]++
			}
		}
	}
	return groups
}

// troublesome is a client whose server runs in a session of its own, ignores signals and has children. The
// client itself may be slow to end.
const troublesome = `
deaf='trap "" TERM INT HUP; (while :; do sleep 1; done) & while :; do sleep 1; done'
setsid sh -c "$deaf" &
(setsid sh -c "$deaf" &) &
echo '{"type":"system","subtype":"init","tools":["mcp__pruner__read"],"mcp_servers":[{"name":"pruner","status":"connected"}]}'
trap 'sleep 0.1; exit 0' INT
while :; do sleep 0.02; done
`

// TestNoOrphans kills 50 runs at random moments in every possible way and checks that no process group is
// left.
func TestNoOrphans(t *testing.T) {
	p := newPlace(t, map[string]string{"claude": troublesome, "mcp-pruner": ""})
	t.Cleanup(func() { // so that a failed test leaves no processes
		for group := range p.groups() {
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
	})
	random := rand.New(rand.NewPCG(1, 2))
	kills := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	var most atomic.Int32
	var runs sync.WaitGroup
	atOnce := make(chan struct{}, 8)
	for i := range 50 {
		moment := time.Duration(random.IntN(300)) * time.Millisecond
		runs.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			cmd, _ := p.run(t, "--provider", "claude", "--", "x")
			if i%2 == 0 { // so that even on a slow machine some runs are killed while the client runs
				assert.Eventually(t, func() bool { return len(p.groups()) > 0 }, 15*time.Second, 5*time.Millisecond)
			}
			timer := time.AfterFunc(moment, func() {
				most.Store(max(most.Load(), int32(len(p.groups()))))
				_ = cmd.Process.Signal(kills[i%len(kills)])
			})
			defer timer.Stop()
			_ = cmd.Wait()
		})
	}
	runs.Wait()
	assert.Eventually(t, func() bool { return len(p.groups()) == 0 }, 15*time.Second, 20*time.Millisecond)
	assert.Empty(t, p.groups())
	assert.Positive(t, most.Load(), "there was something to end")
}

// TestInterrupt checks that Ctrl-C and SIGTERM reach the client unchanged.
func TestInterrupt(t *testing.T) {
	script := `trap 'echo INT >"$WORK/got"; exit 0' INT; trap 'echo TERM >"$WORK/got"; exit 9' TERM
touch "$WORK/ready"; while :; do sleep 0.02; done`
	for signal, want := range map[syscall.Signal]struct {
		got  string
		code int
	}{syscall.SIGINT: {"INT\n", 130}, syscall.SIGTERM: {"TERM\n", 9}} {
		p := newPlace(t, map[string]string{"codex": script, "mcp-pruner": ""})
		cmd, stderr := p.run(t, "--provider=codex", "--", "x")
		p.await(t, "ready")
		require.NoError(t, cmd.Process.Signal(signal))
		_ = cmd.Wait()
		got, _ := os.ReadFile(filepath.Join(p.dir, "got"))
		assert.Equal(t, want.got, string(got))
		assert.Equal(t, want.code, cmd.ProcessState.ExitCode(), "%s", stderr)
		assert.Contains(t, stderr.String(), fmt.Sprintf("run:shutdown; calls 0, pruned 0; saved 0 of 0 bytes, about 0 tokens; exit %d\n", want.code))
		assert.Empty(t, p.groups())
	}
}

// TestCancelledContext checks that the end of the context ends the run like SIGTERM.
func TestCancelledContext(t *testing.T) {
	p := newPlace(t, map[string]string{"claude": `trap 'exit 0' TERM; touch "$WORK/ready"; while :; do sleep 0.02; done`, "mcp-pruner": ""})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	code := make(chan int)
	var stderr bytes.Buffer
	go func() {
		process := command.Process{Args: []string{"--provider", "claude"}, Env: p.env, Stdout: &bytes.Buffer{}, Stderr: &stderr}
		code <- command.Verb(ctx, verbs(process)["run"], process)
	}()
	p.await(t, "ready")
	cancel()
	assert.Equal(t, 128+15, <-code)
}
