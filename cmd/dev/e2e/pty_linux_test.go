//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal is a program on a terminal of its own, as a person sees it.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File

	mu     sync.Mutex
	screen strings.Builder // everything that was drawn
	closed chan struct{}
}

// onTerminal starts a command as the leader of a session with a terminal of its own.
func onTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	term := &terminal{t: t, cmd: cmd, master: master, closed: make(chan struct{})}
	require.NoError(t, cmd.Start())
	require.NoError(t, slave.Close())
	go term.read()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = master.Close() })
	return term
}

// read collects what is drawn, and answers the questions of the terminal's size and position that a client may ask.
func (s *terminal) read() {
	defer close(s.closed)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.screen.Write(buf[:n])
		s.mu.Unlock()
		if strings.Contains(string(buf[:n]), "\x1b[6n") {
			_, _ = s.master.WriteString("\x1b[1;1R")
		}
		if strings.Contains(string(buf[:n]), "\x1b[c") {
			_, _ = s.master.WriteString("\x1b[?62;22c")
		}
		if err != nil {
			return
		}
	}
}

var control = regexp.MustCompile(`\x1b\[(\d*)C|\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[()][0-9A-Z]|\x1b[=>78cM]`)

// text returns what was drawn so far, without spaces and control sequences, because clients move the cursor instead of
// writing spaces.
func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(strings.Fields(control.ReplaceAllString(s.screen.String(), " ")), "")
}

// see waits until a text was drawn, spaces aside.
func (s *terminal) see(text string) {
	s.t.Helper()
	require.True(s.t, s.shows(text, time.Minute), "%q is not on the screen:\n%s", text, lazy(s.text))
}

// shows reports whether a text is drawn in time, spaces aside.
func (s *terminal) shows(text string, within time.Duration) bool {
	text = strings.ReplaceAll(text, " ", "")
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(s.text(), text) {
			return true
		}
	}
	return false
}

// lazy is evaluated when it is printed.
type lazy func() string

func (l lazy) String() string { return l() }

func (s *terminal) keys(text string) {
	s.t.Helper()
	_, err := s.master.WriteString(text)
	require.NoError(s.t, err)
}

// exit waits for the end and returns the exit code.
func (s *terminal) exit() int {
	s.t.Helper()
	ended := make(chan struct{})
	go func() { _ = s.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		s.t.Fatalf("it does not end:\n%s", s.text())
	}
	return s.cmd.ProcessState.ExitCode()
}
