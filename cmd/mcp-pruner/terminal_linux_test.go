package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheFirstSignalEndsAReadOfTheTerminal: a verb that waits in a read of the terminal ends
// at the first Ctrl-C, SIGTERM or SIGHUP.
func TestTheFirstSignalEndsAReadOfTheTerminal(t *testing.T) {
	path := built(t)
	for _, line := range []string{
		"prune -q where", "prune -q where -", "prune -q where /dev/tty", "prune --batch",
		"trace verify -", "trace verify /dev/tty", "trace stats /dev/tty", "trace report /dev/tty",
	} {
		t.Run(line, func(t *testing.T) {
			for _, end := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
				keyboard, screen := terminal(t)
				cmd, root := program(t)
				cmd.Path, cmd.Args = path, append([]string{path}, strings.Fields(line)...)
				cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = root, screen, screen, screen
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
				require.NoError(t, cmd.Start())
				t.Cleanup(func() { _ = cmd.Process.Kill() })
				const typed = "a line that is no request"
				_, err := keyboard.WriteString(typed + "\n")
				require.NoError(t, err)
				echo := ""
				for buf := make([]byte, 1); !strings.Contains(echo, typed+"\r\n"); echo += string(buf) {
					_, err := keyboard.Read(buf) // what is echoed can be read
					require.NoError(t, err)
				}
				require.Eventually(t, func() bool { return unread(t, screen) == 0 }, 20*time.Second, 5*time.Millisecond, "the program reads the line")
				go func() { _, _ = io.Copy(io.Discard, keyboard) }()
				if end == syscall.SIGINT {
					_, err = keyboard.WriteString("\x03")
				} else {
					err = cmd.Process.Signal(end)
				}
				require.NoError(t, err)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = cmd.Wait()
				}()
				select {
				case <-ended:
					assert.Equal(t, 128+int(end), cmd.ProcessState.ExitCode(), "%v", end)
				case <-time.After(20 * time.Second):
					t.Fatalf("still there after %v", end)
				}
			}
		})
	}
}

// TestTheServerGreetsAPerson: who starts the program in a terminal is told what it waits for. A client, which gives it
// a pipe or /dev/null, gets events only, and so does a log that is kept in a file.
func TestTheServerGreetsAPerson(t *testing.T) {
	path := built(t)
	keyboard, screen := terminal(t)
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	t.Cleanup(func() { _ = null.Close() })
	start := func(stdin, stderr, read *os.File) (first string) {
		cmd, root := program(t)
		cmd.Path, cmd.Args = path, []string{path}
		cmd.Dir, cmd.Stdin, cmd.Stderr = root, stdin, stderr
		require.NoError(t, cmd.Start())
		defer func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
		first, err := bufio.NewReader(read).ReadString('\n')
		require.NoError(t, err)
		return strings.TrimSpace(first)
	}
	log, client, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = log.Close(), client.Close() })
	const ready = `"event":"mcp_pruner.ready"`
	assert.Contains(t, start(null, client, log), ready)
	assert.Contains(t, start(screen, client, log), ready)
	assert.Equal(t, "mcp-pruner waits for an MCP client on standard input. Ctrl+C ends it; mcp-pruner --help lists the commands.",
		start(screen, screen, keyboard))
}

// terminal opens a new pseudo-terminal.
func terminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	var number uint32
	var locked int32
	ioctl(t, keyboard, syscall.TIOCGPTN, unsafe.Pointer(&number))
	ioctl(t, keyboard, syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = screen.Close() })
	return keyboard, screen
}

// unread is how many typed bytes nobody has read yet.
func unread(t *testing.T, screen *os.File) (n int32) {
	ioctl(t, screen, syscall.TIOCINQ, unsafe.Pointer(&n))
	return n
}

func ioctl(t *testing.T, f *os.File, request uintptr, value unsafe.Pointer) {
	t.Helper()
	raw, err := f.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) {
		if _, _, failed := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(value)); failed != 0 {
			err = failed
		}
	}))
	require.NoError(t, err)
}
