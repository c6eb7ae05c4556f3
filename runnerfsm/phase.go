package runnerfsm

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"mcp-pruner/runnerfsm/keeper"
)

// notFound is the shell's exit code for a command that does not exist.
const notFound = 127

// stdinGrace is how long a client's end waits for a standard input that nobody
// writes to or closes.
const stdinGrace = 100 * time.Millisecond

// phase is one launch of the client.
type phase struct {
	news  chan Report   // what moves the machine: few, see report
	ended chan struct{} // closed when the client and all it started are gone
	code  int           // its exit code, once ended

	mu     sync.Mutex
	usage  Usage
	told   [CallEnded]bool // every kind of news but calls is told once
	gaveUp bool
}

// launch starts the client with the given servers injected.
func (r *run) launch(ctx context.Context, servers Servers) *phase {
	p := &phase{news: make(chan Report, len(phase{}.told)), ended: make(chan struct{})}
	kept, flush, err := r.start(p, servers)
	if err != nil {
		fmt.Fprintf(r.Stderr, "mcp-pruner: %s: %v\n", r.Provider.Name(), err)
		p.code = notFound
		close(p.ended)
		return p
	}
	r.live.Add(1)
	go func() {
		defer r.live.Done()
		r.passSignals(ctx, kept, p.ended)
	}()
	go func() {
		p.code = kept.Wait()
		flush()
		close(p.ended)
	}()
	return p
}

// start starts the client's process. What it prints is read to the end by flush,
// after the process ended.
func (r *run) start(p *phase, servers Servers) (kept *keeper.Kept, flush func(), err error) {
	launch := Launch{
		Servers: servers, Passed: r.Settings.Passed(),
		Options: r.ProviderOptions, Prompt: r.Prompt, StartTimeout: r.StartTimeout,
	}
	program := LookPath(r.Provider.Program(), r.Settings.Env)
	if program == "" {
		return nil, nil, fmt.Errorf("%s is not on PATH", r.Provider.Program())
	}
	cmd := exec.Command(program, r.Provider.Args(launch)...)
	cmd.Dir, cmd.Env = r.Settings.Dir, slices.Clone(r.Settings.Env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.input.launch(len(servers) == 0), r.Stdout, r.Stderr
	cmd.WaitDelay = stdinGrace
	flush = func() {}
	if len(servers) > 0 {
		cmd.Env = append(cmd.Env, r.Provider.Env(launch)...)
		flush = r.read(cmd, r.Provider.Read(launch, Output{Stdout: r.Stdout, Stderr: r.Stderr, Report: r.reportTo(p)}))
	}
	kept, err = keeper.Start(r.Keeper, cmd)
	return kept, flush, err
}

// read puts a reader behind what the client prints.
func (r *run) read(cmd *exec.Cmd, reader Reader) (flush func()) {
	stdout, stderr := &lines{take: reader.Stdout}, &lines{take: reader.Stderr}
	cmd.Stdout, cmd.Stderr = stdout, io.MultiWriter(r.Stderr, stderr)
	if reader.Raw() {
		cmd.Stdout = io.MultiWriter(r.Stdout, stdout)
	}
	return func() {
		stdout.flush()
		stderr.flush()
	}
}

// passSignals passes on what the runner is told, for as long as the phase lasts.
func (r *run) passSignals(ctx context.Context, kept *keeper.Kept, ended <-chan struct{}) {
	cancelled := ctx.Done()
	for {
		select {
		case <-ended:
			return
		case s := <-r.Signals:
			r.interrupted.Store(signalNumber(s))
			kept.Signal(s)
		case <-cancelled:
			cancelled = nil
			r.interrupted.Store(signalNumber(syscall.SIGTERM))
			kept.Signal(syscall.SIGTERM)
		}
	}
}

func signalNumber(s os.Signal) int32 {
	n, _ := s.(syscall.Signal)
	return int32(n)
}

// reportTo takes the reader's reports: calls are counted, of the rest the first
// of each kind counts, so that the channel never fills.
func (r *run) reportTo(p *phase) func(Report) {
	return func(report Report) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if report.News == CallEnded {
			p.usage.add(report.Pruning)
			return
		}
		if p.told[report.News] {
			return
		}
		p.told[report.News] = true
		p.gaveUp = p.gaveUp || report.News == GaveUp
		if !p.gaveUp {
			r.input.forget()
		}
		p.news <- report
	}
}

// next waits for the next piece of news, or the end. What was reported before the
// end comes before it.
func (p *phase) next() (report Report, more bool) {
	select {
	case report = <-p.news:
		return report, true
	case <-p.ended:
	}
	select {
	case report = <-p.news:
		return report, true
	default:
		return Report{}, false
	}
}
