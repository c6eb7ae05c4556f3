// Package keeper runs a command under a supervisor process that ends everything the
// command started.
//
// A client such as Codex puts the MCP servers it starts into process groups of their own
// and may die without ending them. So the runner does not start the client itself. It
// starts a keeper, a small process of the same program. The keeper starts the client,
// adopts the processes that the client's death orphans, and ends all of them when the
// client ends, when the runner asks for it, or when the runner is gone.
package keeper

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// graceTold is how long a command may take to end after it was asked to, and how long its
// output may then take to be read.
const graceTold = 5 * time.Second

// Verb is the first argument of a program that is to run as a keeper; the others are the command.
const Verb = "keep"

// CannotStart is the exit code of a keeper whose command cannot be executed, which is
// the shell's.
const CannotStart = 126

// Kept is a command under a keeper.
type Kept struct {
	cmd     *exec.Cmd
	life    *os.File // open as long as the runner lives: the keeper sees it close
	outputs []*output
	ended   chan struct{}   // closed when the keeper is gone, and all it kept
	told    atomic.Bool     // a signal that asks it to end was sent
	wanted  context.Context // done when the output is no longer needed
	drop    context.CancelFunc
}

// Start starts cmd under a keeper. self is how this program is run as a keeper
// ("mcp-pruner", "keep"). cmd is changed into that and must not be used again. A writer for
// its output may be an Ender.
func Start(self []string, cmd *exec.Cmd) (*Kept, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("keeper: %w", err)
	}
	defer theirs.Close()
	argv := append(append([]string{}, self...), cmd.Path)
	cmd.Args = append(argv, cmd.Args[1:]...)
	cmd.Path = self[0]
	cmd.ExtraFiles = []*os.File{theirs}
	ownGroup(cmd)
	var streams pipes
	err = streams.connect(cmd)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		ours.Close()
		streams.close()
		return nil, fmt.Errorf("keeper: %w", err)
	}
	streams.run()
	k := &Kept{cmd: cmd, life: ours, outputs: streams.outputs, ended: make(chan struct{})}
	k.wanted, k.drop = context.WithCancel(context.Background())
	return k, nil
}

// Signal forwards a signal to the command's process group. The keeper gives it
// a while to end and then kills it; after a second signal it kills at once. When the
// command has ended, output that was not read yet is dropped.
func (k *Kept) Signal(s os.Signal) {
	k.told.Store(true)
	select {
	case <-k.ended:
		k.drop()
	default:
		_ = k.cmd.Process.Signal(s)
	}
}

// Forward sends a signal that does not ask the command to end, such as SIGCONT.
func (k *Kept) Forward(s os.Signal) { _ = k.cmd.Process.Signal(s) }

// Kill ends the command and all it started at once.
func (k *Kept) Kill() { k.Signal(killNow) }

// Wait waits until the command and everything it started have ended and their output has
// been read. It returns the exit code, 128 + N when signal N ended the command.
func (k *Kept) Wait() int {
	_ = k.cmd.Wait() // the result is in ProcessState
	close(k.ended)
	k.life.Close()
	defer k.drop()
	wanted := k.wanted
	if k.told.Load() {
		limited, cancel := context.WithTimeout(wanted, graceTold)
		defer cancel()
		wanted = limited
	}
	for _, o := range k.outputs {
		o.drain(wanted)
	}
	if k.cmd.ProcessState == nil {
		return 1
	}
	return process.ExitCode(k.cmd.ProcessState)
}

// runAlone is the part of a keeper that every system allows: it runs argv with its own standard
// streams and returns the exit code. Ctrl-C reaches the command, too, which decides what to do.
func runAlone(argv []string) int {
	_, argv = takeRemoves(argv)
	_, argv = takeGrace(argv, 0)
	if len(argv) == 0 {
		return noCommand()
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "mcp-pruner:", err)
		return CannotStart
	}
	return process.ExitCode(cmd.ProcessState)
}

func noCommand() int {
	fmt.Fprintln(os.Stderr, "mcp-pruner keep: there is no command to keep")
	return 2
}

// Grace is the argument that sets how long a keeper waits for a command that was asked to
// end. It precedes the command.
func Grace(d time.Duration) string { return graceFlag + d.String() }

const graceFlag = "--grace="

// SecretsPrefix is the beginning of the name of a directory with a run's secrets.
const SecretsPrefix = "mcp-pruner-run-"

// Removes is the argument that names a directory of secrets. The keeper removes it at its end if the runner is gone and
// could not. It precedes the command.
func Removes(dir string) string { return removesFlag + dir }

const removesFlag = "--removes="

// takeRemoves removes that argument and returns its value, "" if it names anything else than a directory of secrets.
func takeRemoves(argv []string) (dir string, rest []string) {
	if len(argv) == 0 || !strings.HasPrefix(argv[0], removesFlag) {
		return "", argv
	}
	dir = strings.TrimPrefix(argv[0], removesFlag)
	if !filepath.IsAbs(dir) || !strings.HasPrefix(filepath.Base(dir), SecretsPrefix) {
		dir = ""
	}
	return dir, argv[1:]
}

// takeGrace removes that argument and returns its value.
func takeGrace(argv []string, otherwise time.Duration) (time.Duration, []string) {
	if len(argv) == 0 || !strings.HasPrefix(argv[0], graceFlag) {
		return otherwise, argv
	}
	d, err := time.ParseDuration(strings.TrimPrefix(argv[0], graceFlag))
	if err != nil {
		return otherwise, argv[1:]
	}
	return d, argv[1:]
}

// NotIgnored leaves out the signals that this process was started to ignore, by nohup or
// by a shell that runs it in the background.
func NotIgnored(signals ...os.Signal) []os.Signal {
	return slices.DeleteFunc(signals, signal.Ignored)
}
