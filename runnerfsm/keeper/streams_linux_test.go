package keeper

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stream keeps a script whose streams are the given ones.
func stream(t *testing.T, script string, stdin io.Reader, stdout io.Writer) kept {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	work := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "WORK=" + work, "GORACE=atexit_sleep_ms=0"}
	cmd.Stdin, cmd.Stdout = stdin, stdout
	k, err := Start([]string{self, "keep"}, cmd)
	require.NoError(t, err)
	return kept{k, work}
}

// waited is Wait for at most a while, in which nothing but a hang does not end.
func (k kept) waited(t *testing.T) int {
	t.Helper()
	code := make(chan int, 1)
	go func() { code <- k.Wait() }()
	select {
	case c := <-code:
		return c
	case <-time.After(30 * time.Second):
		require.Fail(t, "it hangs")
		return 0
	}
}

// writerFunc is a writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestInputNobodyCloses: the command does not read it, and ends.
func TestInputNobodyCloses(t *testing.T) {
	t.Parallel()
	never, end := io.Pipe()
	t.Cleanup(func() { _ = end.Close() })
	var out bytes.Buffer
	assert.Equal(t, 3, stream(t, "echo done; exit 3", never, &out).waited(t))
	assert.Equal(t, "done\n", out.String())
}

func TestInputReachesTheCommand(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcdef"), 20000)
	var out bytes.Buffer
	assert.Equal(t, 0, stream(t, "cat", bytes.NewReader(text), &out).waited(t))
	assert.True(t, bytes.Equal(text, out.Bytes()))
}

// TestSlowWriter: however late what the command wrote is taken, none of it is lost.
func TestSlowWriter(t *testing.T) {
	t.Parallel()
	started := make(chan kept, 1)
	var out bytes.Buffer
	slow := writerFunc(func(p []byte) (int, error) {
		if out.Len() == 0 {
			<-(<-started).ended
			time.Sleep(2 * silence) // long enough for whoever would lose it
		}
		return out.Write(p)
	})
	k := stream(t, "head -c 60000 /dev/zero; echo; echo END", nil, slow)
	started <- k
	assert.Equal(t, 0, k.waited(t))
	assert.Equal(t, 60005, out.Len())
}

// TestWriterThatFails: the command finds its output closed, as it would without us.
func TestWriterThatFails(t *testing.T) {
	k := stream(t, "while echo x; do :; done", nil, writerFunc(func([]byte) (int, error) { return 0, io.ErrShortWrite }))
	assert.Equal(t, 128+int(syscall.SIGPIPE), k.waited(t))
}

// TestNobodyTakesTheOutput: the writer never returns, and a signal ends the wait,
// whether it came before the command's end or after it.
func TestNobodyTakesTheOutput(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	stuck := writerFunc(func([]byte) (int, error) { <-end; return 0, io.ErrClosedPipe })
	k := stream(t, "echo x", nil, stuck)
	go func() {
		<-k.ended
		k.Signal(os.Interrupt)
	}()
	assert.Equal(t, 0, k.waited(t))

	k = stream(t, `trap 'exit 4' INT; echo x; touch "$WORK/ready"; while :; do sleep 0.02; done`, nil, stuck)
	k.waitReady(t)
	k.Signal(os.Interrupt)
	assert.Equal(t, 4, k.waited(t))
}

// TestSurvivorHoldsThePipe: it is not waited for, silent or not, and what the
// command itself wrote is all there.
func TestSurvivorHoldsThePipe(t *testing.T) {
	t.Parallel()
	for name, chatty := range map[string]bool{"silent": false, "chatty": true} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			k := stream(t, `echo mine; touch "$WORK/ready"; until [ -e "$WORK/go" ]; do sleep 0.01; done`, nil, &out)
			k.waitReady(t)
			held, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", k.cmd.Process.Pid), os.O_WRONLY, 0)
			require.NoError(t, err)
			defer held.Close()
			if chatty {
				go func() {
					for _, err := io.WriteString(held, "more\n"); err == nil; _, err = io.WriteString(held, "more\n") {
					}
				}()
			}
			require.NoError(t, os.WriteFile(filepath.Join(k.work, "go"), nil, 0o600))
			assert.Equal(t, 0, k.waited(t))
			assert.Contains(t, out.String(), "mine\n")
		})
	}
}

// ending is a writer that is told its end.
type ending struct {
	bytes.Buffer
	ends int
}

func (e *ending) End() { e.ends++ }

// TestOneWriterForBoth: standard output and error get one pipe, so that a writer
// that is no lock need not be one, and it is told the end once.
func TestOneWriterForBoth(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	var both ending
	cmd := exec.Command("/bin/sh", "-c", "echo a; echo b >&2; echo c")
	cmd.Env = []string{"PATH=/usr/bin:/bin", "GORACE=atexit_sleep_ms=0"}
	cmd.Stdout, cmd.Stderr = &both, &both
	k, err := Start([]string{self, "keep"}, cmd)
	require.NoError(t, err)
	assert.Equal(t, 0, k.Wait())
	assert.Equal(t, "a\nb\nc\n", both.String())
	assert.Equal(t, 1, both.ends)
}

// TestIgnoredSignals: what the runner was started to ignore, the keeper and the
// command ignore too.
func TestIgnoredSignals(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	work := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", `grep SigIgn /proc/$$/status >"$WORK/ignored"; touch "$WORK/ready"; read line`)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "WORK=" + work, "GORACE=atexit_sleep_ms=0"}
	never, feed := io.Pipe()
	t.Cleanup(func() { _ = feed.Close() })
	cmd.Stdin = never
	k, err := Start([]string{"/bin/sh", "-c", `trap '' HUP INT QUIT; exec "$@"`, "sh", self, "keep"}, cmd)
	require.NoError(t, err)
	kept{k, work}.waitReady(t)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		k.Signal(s)
	}
	_, err = io.WriteString(feed, "go on\n")
	require.NoError(t, err)
	assert.Equal(t, 0, kept{k, work}.waited(t))
	ignored, err := os.ReadFile(filepath.Join(work, "ignored"))
	require.NoError(t, err)
	var mask uint64
	_, err = fmt.Sscanf(string(ignored), "SigIgn: %x", &mask)
	require.NoError(t, err)
	assert.Equal(t, uint64(0b111), mask&0b111, "%s", ignored)
}

// TestQuit: Ctrl-\ is one of the ways to end a run.
func TestQuit(t *testing.T) {
	k := keep(t, `trap 'exit 6' QUIT; touch "$WORK/ready"; while :; do sleep 0.02; done`)
	k.waitReady(t)
	k.Signal(syscall.SIGQUIT)
	assert.Equal(t, 6, k.Wait())
}
