// Package runnerfsm runs a client, Codex or Claude Code, with the server injected, and
// drives the run machine from the client's reports.
//
// There is one handler per state. A handler does its state's work and returns the trigger
// that leaves the state; the table decides which state follows.
package runnerfsm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
)

// Options configure one run.
type Options struct {
	ID              string // id of the run in its trace
	Provider        provider.Provider
	ProviderOptions []string        // the user's own options for the client
	Prompt          string          // "" when the client reads it from Stdin
	Settings        inject.Settings // the client is started in their Dir, with their Env
	StartTimeout    time.Duration   // time for the server to start; 0: the provider's default
	AllowBash       bool            // offer the server's bash even if GrantsShell is false
	Keeper          []string        // command line that runs this program as a keeper
	Signals         <-chan os.Signal
	InFront         bool // the client has the terminal, and ends like a program that a shell started; no server is injected

	Stdin          io.Reader
	Stdout, Stderr io.Writer // of the client; safe for concurrent use
	Notes          io.Writer // takes whole lines for a person, of this program's own; nil: Stderr
	Emit           func(fsm.Event)
}

// Result is the result of a run.
type Result struct {
	// ExitCode is the client's. If the client returned 0, it may be 128 + N, when signal
	// N ended the run, or 1, when the answer could not be written.
	ExitCode int
	Machine  *fsm.Machine
	Usage    Usage
	Server   *trace.Ended // how this run's own server ended; nil: there was none
}

var table = sync.OnceValue(func() *fsm.Definition { return fsm.MustCompile(fsm.RunTable()) })

type run struct {
	Options
	input       *clientInput
	answer      clientOutput  // Stdout, as it is left to a reader
	wanted      bool          // servers were meant to be injected
	shell       bool          // the server's bash is offered
	secrets     *SecretFolder // of a run over HTTP whose server requires a token
	handedOver  []string      // variables moved from the server's entry to the environment
	phase       *phase        // the latest launch; nil before the first
	live        sync.WaitGroup
	interrupted atomic.Int32 // signal that ended the run; 0: none
}

// handler does one state's work and returns the trigger that leaves the state.
type handler func(context.Context) (fsm.Trigger, fsm.Facts)

// Run runs the client until it ends. The error concerns this program; failures of the
// server or the client are in the result.
func Run(ctx context.Context, o Options) (Result, error) {
	r := newRun(o)
	return r.drive(ctx, table(), map[fsm.State]handler{
		fsm.RunInit:     r.decide,
		fsm.RunStarting: r.connect,
		fsm.RunRunning:  r.watch,
		fsm.RunDegraded: r.finish,
		fsm.RunDisabled: r.finish,
	})
}

func newRun(o Options) *run {
	if o.Notes == nil {
		o.Notes = o.Stderr
	}
	shell := o.AllowBash || o.Provider.GrantsShell(o.ProviderOptions, o.Settings)
	if !shell {
		o.Settings = o.Settings.WithoutShell()
	}
	return &run{Options: o, shell: shell, input: newClientInput(o.Stdin), answer: clientOutput{W: o.Stdout}}
}

// drive takes a run through its machine.
func (r *run) drive(ctx context.Context, table *fsm.Definition, handlers map[fsm.State]handler) (Result, error) {
	// A process's own events have no request id; the run's id is for its trace only.
	m := table.New(r.ID, fsm.Hooks{Emit: func(e fsm.Event) {
		e.RequestID = ""
		r.Emit(e)
	}})
	for !m.Done() {
		trigger, facts := handlers[m.State()](ctx)
		if err := m.Fire(ctx, trigger, facts); err != nil {
			return Result{ExitCode: 1, Machine: m}, err
		}
	}
	r.live.Wait()
	if err := r.answer.Failed(); err != nil {
		fmt.Fprintf(r.Notes, "mcp-pruner: %s: output is lost: %v\n", r.Provider.Name(), err)
	}
	return Result{ExitCode: r.exitCode(), Machine: m, Usage: r.phase.counted()}, nil
}

// decide handles run:init: it reads the settings.
func (r *run) decide(context.Context) (fsm.Trigger, fsm.Facts) {
	if r.InFront || !r.Settings.Enabled() {
		return fsm.ConfigDisabled, fsm.Facts{"reason": "config_disabled"}
	}
	r.wanted = true
	_, err := r.Settings.Servers()
	if err = errors.Join(err, r.Settings.CheckTools(r.shell)); err != nil {
		return fsm.ConfigInvalid, fsm.Facts{"message": oneLine(err), "reason": "config_invalid"}
	}
	return fsm.ConfigResolved, nil
}

// connect handles run:mcp_pruner_starting: the client starts with the server injected, and
// reports whether it connected.
func (r *run) connect(ctx context.Context) (fsm.Trigger, fsm.Facts) {
	servers, err := r.Settings.Servers()
	if err != nil { // the file existed a moment ago
		return fsm.SpawnFailed, startFailed(oneLine(err))
	}
	r.Settings, r.handedOver = r.Settings.OffCommandLines(servers)
	r.phase = r.launch(ctx, servers)
	report, more := r.phase.next()
	switch {
	case !more:
		return fsm.StartFailed, startFailed("phase ended before ready")
	case report.News == provider.Ready:
		return fsm.ServerReady, fsm.Facts{"root": r.Settings.Root}
	default:
		return fsm.SpawnFailed, startFailed(report.Message)
	}
}

// watch handles run:mcp_pruner_running, until the server fails or the phase ends.
func (r *run) watch(context.Context) (fsm.Trigger, fsm.Facts) {
	for {
		report, more := r.phase.next()
		switch {
		case !more:
			return fsm.PhaseEnded, nil
		case report.News == provider.Failed:
			return fsm.ServerFailed, fsm.Facts{"reason": report.Reason}
		}
	}
}

// finish handles run:mcp_pruner_disabled and run:mcp_pruner_degraded: the client works
// without the server. If it was not started yet, or ended only because a required server
// was missing, it is started without the server, once.
func (r *run) finish(ctx context.Context) (fsm.Trigger, fsm.Facts) {
	again := r.phase == nil
	if !again {
		_, again = r.gaveUp()
	}
	if again {
		r.phase = r.launch(ctx, nil)
	}
	<-r.phase.ended
	return fsm.PhaseEnded, nil
}

// gaveUp waits for a client that reported why it gives up. It returns false for a client
// that nevertheless succeeded, and for one that was asked to end, which is not started
// again.
func (r *run) gaveUp() (why string, gaveUp bool) {
	r.phase.mu.Lock()
	why, gaveUp = r.phase.why, r.phase.gaveUp
	r.phase.mu.Unlock()
	if !gaveUp {
		return "", false
	}
	<-r.phase.ended
	return why, r.phase.code != 0 && r.interrupted.Load() == 0
}

// exitCode returns the client's exit code. A success is corrected if the run was
// interrupted (as Claude reports it) or if the answer was lost, because a script that
// continues would rely on it.
func (r *run) exitCode() int {
	switch s := r.interrupted.Load(); {
	case r.phase.code != 0:
		return r.phase.code
	case s != 0:
		return 128 + int(s)
	case r.answer.Failed() != nil:
		return 1
	}
	return 0
}

// Summary describes a run in one line for a user.
func (r Result) Summary() string {
	path := string(r.Machine.Definition().Initial())
	for _, step := range r.Machine.Steps() {
		path += " > " + string(step.To)
	}
	return fmt.Sprintf("%s; calls %d, pruned %d; saved %d of %d bytes, about %d tokens; exit %d", path,
		r.Usage.Calls, r.Usage.Pruned, r.Usage.RawBytes-r.Usage.Bytes, r.Usage.RawBytes, r.Usage.SavedTokens(), r.ExitCode)
}

// oneLine puts joined errors on one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
