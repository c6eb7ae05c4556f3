// Package process runs child processes and makes sure that they end, with everything they started.
package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

const (
	killAfter  = 500 * time.Millisecond // between SIGTERM and SIGKILL
	lookEvery  = 5 * time.Millisecond   // for processes that are to end
	reapWithin = 2 * time.Second        // for killed processes to be gone
)

var (
	// ErrTimeout is the error of a process that was ended because it took too long.
	ErrTimeout = errors.New("timed out")
	// ErrEnough ends a process when the writer of its output returns it.
	ErrEnough = errors.New("enough")
)

// SpawnError is the error of a child that could not be started.
type SpawnError struct{ Err error }

func (e *SpawnError) Error() string { return e.Err.Error() }
func (e *SpawnError) Unwrap() error { return e.Err }

// NotInstalled returns the SpawnError of a program that was not found.
func NotInstalled(name string) error {
	return &SpawnError{fmt.Errorf("%s: %w", name, syscall.ENOENT)}
}

// Process is a child process to run. It has no terminal. Its standard input is Stdin or the null device, and its
// output goes to the writers chunk by chunk, or directly to a file.
type Process struct {
	Path           string
	Args, Env      []string
	Dir            string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Timeout        time.Duration // 0: none
	Watched        bool          // if this process dies, everything that the child started is killed
	Whole          bool          // everything in the child's session is killed when the child ends
}

// Run waits for the child to end and returns its exit code. Otherwise the error
// is a *SpawnError, ErrTimeout, ErrEnough, or ctx's own; the child, its session
// and, if it is Watched, everything else it started are then dead. What a child
// that ended left running in the background can neither hold up the call nor
// write to the writers after it.
func (p Process) Run(parent context.Context) (int, error) {
	if err := parent.Err(); err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	if p.Timeout > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, p.Timeout, ErrTimeout)
		defer cancel()
	}

	cmd, mark := p.command()
	if p.Watched {
		// Before the start, because this process may be killed right after it.
		defer watching.add(family{mark: mark})()
	}
	pumps, err := p.connect(cmd)
	if err != nil {
		return 0, &SpawnError{err}
	}
	exited, err := Start(cmd)
	if err != nil {
		for _, one := range pumps {
			one.abandon()
		}
		return 0, &SpawnError{err}
	}
	all := family{cmd.Process.Pid, mark}
	release := contain(cmd.Process)
	if p.Watched {
		defer watching.add(all)()
	}
	for _, one := range pumps {
		go one.run(stop)
	}

	var cause error
	select {
	case <-exited:
		if p.Whole {
			End(running{family{leader: all.leader}, exited}, syscall.SIGKILL, 0, nil) // a daemon, which has a session of its own, may stay
		}
		release(p.Whole)
	case <-ctx.Done():
		cause = context.Cause(ctx)
		End(running{all, exited}, syscall.SIGTERM, killAfter, nil)
		release(true)
	}
	finish(pumps...)
	switch {
	case parent.Err() != nil && cause != nil:
		return 0, parent.Err()
	case cause != nil:
		return 0, cause
	case errors.Is(context.Cause(ctx), ErrEnough):
		return 0, ErrEnough
	}
	return ExitCode(cmd.ProcessState), nil
}

// command prepares the child. mark is the value of MarkVariable by which what the child starts is known, "" if it is
// not watched.
func (p Process) command() (cmd *exec.Cmd, mark string) {
	cmd = exec.Command(p.Path, p.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.Dir, p.Env, p.Stdin
	ownGroup(cmd)
	if p.Watched {
		mark = rand.Text()
		cmd.Env = append(cmd.Environ(), markVariable+"="+mark)
	}
	return cmd, mark
}

// connect gives the child its outputs. The child writes to a file itself; for any other writer there is a pump.
func (p Process) connect(cmd *exec.Cmd) (pumps []*pump, err error) {
	for _, output := range []struct {
		to   io.Writer
		take *io.Writer
	}{{p.Stdout, &cmd.Stdout}, {p.Stderr, &cmd.Stderr}} {
		if file, ok := output.to.(*os.File); ok {
			*output.take = file
			continue
		}
		one, err := newPump(output.to)
		if err != nil {
			for _, made := range pumps {
				made.abandon()
			}
			return nil, err
		}
		*output.take = one.write
		pumps = append(pumps, one)
	}
	return pumps, nil
}

// Start starts a child from a thread that exists until the child has ended, because the kernel treats the end of that
// thread as the end of the parent. The channel is closed when the child's state is known.
func Start(cmd *exec.Cmd) (exited <-chan struct{}, err error) {
	started, ended := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // its result is in cmd.ProcessState
			close(ended)
		}
	}()
	return ended, <-started
}

// group is a number of processes that are ended together.
type group interface {
	Signal(syscall.Signal)
	Alive() bool // reports whether one of them has not ended
}

// End sends a group a signal that asks it to end, and kills it when the grace period is over or hurry receives a
// value. It returns when the group is gone, or 2 seconds after it was killed, because a process that is stuck in the
// kernel does not end.
func End(g group, ask syscall.Signal, grace time.Duration, hurry <-chan os.Signal) {
	g.Signal(ask)
	if ask == syscall.SIGKILL {
		grace = 0
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	late := time.After(grace)
	var enough <-chan time.Time // once it is killed
	for g.Alive() {
		select {
		case <-look.C:
		case <-late:
			late, hurry, enough = nil, nil, time.After(reapWithin)
		case <-hurry:
			late, hurry, enough = nil, nil, time.After(reapWithin)
		case <-enough:
			return
		}
		if enough != nil {
			g.Signal(syscall.SIGKILL) // again each time: a process that is being killed may still start others
		}
	}
}

// running is a family whose leader is a child of this process.
type running struct {
	family
	exited <-chan struct{} // closed when the leader's state is known
}

func (r running) Alive() bool {
	select {
	case <-r.exited:
		return r.alive()
	default:
		return true
	}
}
