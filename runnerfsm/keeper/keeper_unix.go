//go:build unix

package keeper

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// killNow asks a keeper to kill its command. Only this package sends it.
const killNow = syscall.SIGUSR1

const (
	lifeline = 3 // the descriptor that closes when the runner is gone

	graceLost = 2 * time.Second        // for a client whose runner is gone
	graceLeft = 500 * time.Millisecond // for processes that a client left running
)

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// Main is the keeper process: it runs argv with its own standard streams and
// returns the exit code.
func Main(argv []string) int {
	secrets, argv := takeRemoves(argv)
	told, argv := takeGrace(argv, graceTold)
	if len(argv) == 0 {
		return noCommand()
	}
	IgnoreQuit()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, append(EndSignals(), killNow)...)
	stops := make(chan os.Signal, 2)
	signal.Notify(stops, syscall.SIGTSTP, syscall.SIGCONT)
	lost := runnerLost()
	adoptOrphans()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	ownGroup(cmd)
	process.DieWithParent(cmd.SysProcAttr)
	ended, err := process.Start(cmd)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcp-pruner:", err)
		return CannotStart
	}
	go forward(stops, cmd.Process.Pid) // until this process ends
	attend(cmd.Process.Pid, told, ended, signals, lost)
	process.End(remaining{cmd.Process.Pid, descendants}, syscall.SIGTERM, graceLeft, nil)
	<-ended
	reap()
	select {
	case <-lost:
		if secrets != "" {
			_ = os.RemoveAll(secrets) // else the next run sweeps it
		}
	default:
	}
	return process.ExitCode(cmd.ProcessState)
}

// IgnoreQuit ignores SIGQUIT where SIGINT is ignored. It has to be called before signals
// are caught. Shells ignore both for background processes, and Go preserves only an ignored SIGINT.
func IgnoreQuit() {
	if signal.Ignored(syscall.SIGINT) {
		signal.Ignore(syscall.SIGQUIT)
	}
}

// EndSignals are the signals that ask a run or its keeper to end.
func EndSignals() []os.Signal {
	return NotIgnored(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
}

// forward sends SIGTSTP and SIGCONT on to the command's process group.
func forward(signals <-chan os.Signal, group int) {
	for s := range signals {
		_ = syscall.Kill(-group, s.(syscall.Signal))
	}
}

// runnerLost returns a channel that is closed when the runner's end of the lifeline is
// closed, however the runner ends. The command must not inherit the other end.
func runnerLost() <-chan struct{} {
	syscall.CloseOnExec(lifeline)
	lost := make(chan struct{})
	go func() {
		defer close(lost)
		life := os.NewFile(lifeline, "lifeline")
		if life != nil {
			_, _ = io.Copy(io.Discard, life)
		}
	}()
	return lost
}

// attend waits until the command has ended by itself, or was asked to end and killed after
// its grace period.
func attend(pid int, grace time.Duration, ended <-chan struct{}, signals <-chan os.Signal, lost <-chan struct{}) {
	c := command{pid, ended}
	select {
	case <-ended:
	case s := <-signals:
		if s == killNow {
			s = syscall.SIGKILL
		}
		process.End(c, s.(syscall.Signal), grace, signals)
	case <-lost:
		process.End(c, syscall.SIGTERM, graceLost, nil)
	}
}

// command is the process group of the command that is kept.
type command struct {
	pid   int
	ended <-chan struct{}
}

func (c command) Signal(s syscall.Signal) { _ = syscall.Kill(-c.pid, s) }

// Alive reports whether the command has not ended. Its group may outlive it, see remaining.
func (c command) Alive() bool {
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// remaining are the command's process group and, where they are known, all descendants of the keeper.
type remaining struct {
	group       int
	descendants func() []int // nil: not known
}

func (r remaining) Signal(s syscall.Signal) {
	_ = syscall.Kill(-r.group, s)
	if r.descendants == nil {
		return
	}
	for _, pid := range r.descendants() {
		_ = syscall.Kill(pid, s)
	}
}

func (r remaining) Alive() bool {
	if r.descendants == nil {
		return process.GroupAlive(r.group)
	}
	return len(r.descendants()) > 0
}

// reap waits for adopted processes that have ended. In a container there may be no init
// process to do so, and their process groups would seem to live on. The command itself was
// waited for before, so that its exit status is not lost here.
func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}
