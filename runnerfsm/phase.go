package runnerfsm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
)

// notFound is the shell's exit code for a command that does not exist.
const notFound = 127

// phase is one launch of the client.
type phase struct {
	news  chan Report   // reports that move the machine; their number is bounded, see reportTo
	ended chan struct{} // closed when the client and all processes it started have ended
	code  int           // exit code, valid once ended is closed

	mu     sync.Mutex
	usage  Usage
	told   [CallEnded]bool // every kind of news except calls is reported once
	gaveUp bool
	why    string
}

// launch starts the client with the given servers injected.
func (r *run) launch(ctx context.Context, servers Servers) *phase {
	p := &phase{news: make(chan Report, len(phase{}.told)), ended: make(chan struct{})}
	kept, err := r.start(p, servers)
	if err != nil {
		fmt.Fprintf(r.Notes, "mcp-pruner: %s: %v\n", r.Provider.Name(), err)
		p.code = notFound
		close(p.ended)
		return p
	}
	r.live.Go(func() { r.passSignals(ctx, kept, p.ended) })
	stops := watchStops()
	r.live.Go(func() { passStops(stops, kept, p.ended) })
	go func() {
		p.code = kept.Wait()
		r.input.end()
		close(p.ended)
	}()
	return p
}

// start starts the client's process. If servers are injected, its output is read.
func (r *run) start(p *phase, servers Servers) (*keeper.Kept, error) {
	launch := Launch{
		Servers: servers, Lost: r.wanted && len(servers) == 0, Passed: slices.Concat(r.Settings.Passed(), r.handedOver), Tools: r.Settings.Tools(r.shell),
		Options: r.ProviderOptions, Prompt: r.Prompt, StartTimeout: r.StartTimeout,
	}
	if r.secrets != nil && len(servers) > 0 {
		var err error
		if launch.ConfigFile, err = r.secrets.config(servers); err != nil {
			return nil, err
		}
	}
	args := r.Provider.Args(launch)
	path, err := ClientPath(r.Provider.Program(), args, r.Settings.Env)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = r.Settings.Dir, slices.Clone(r.Settings.Env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.input.open(len(servers) == 0), r.Stdout, r.Stderr
	if len(servers) > 0 {
		cmd.Env = append(cmd.Env, r.Provider.Env(launch)...)
		cmd.Env = append(cmd.Env, servers.pastProxies(cmd.Env)...)
		r.read(cmd, r.Provider.Read(launch, Output{Stdout: &r.answer, Stderr: r.Notes, Report: r.reportTo(p)}))
	}
	self := r.Keeper
	if r.secrets != nil {
		self = append(slices.Clone(self), keeper.Removes(r.secrets.dir))
	}
	return keeper.Start(self, cmd)
}

// read attaches a reader to the client's output. If standard output cannot be passed on,
// the client finds it closed, as it would without the runner. Messages that cannot be
// passed on are read nevertheless.
func (r *run) read(cmd *exec.Cmd, reader Reader) {
	stdout := &tap{lines: lines{take: reader.Stdout}, failed: r.answer.failed, ended: reader.End}
	if reader.Raw() {
		stdout.through = &r.answer
	}
	stderr := &tap{lines: lines{take: reader.Stderr}, through: r.Stderr}
	cmd.Stdout, cmd.Stderr = stdout, stderr
}

// passSignals forwards the runner's signals while the phase lasts.
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

// reportTo returns the function that takes the reader's reports. It counts calls, and keeps
// only the first report of every other kind, so that the channel never fills.
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
		if report.News == GaveUp {
			p.gaveUp, p.why = true, report.Message
		}
		if !p.gaveUp {
			r.input.forget()
		}
		p.news <- report
	}
}

// counted returns the calls counted so far. Output may still arrive after reading was given
// up.
func (p *phase) counted() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.usage
}

// next waits for the next report or the end of the phase. Reports made before the end are
// returned first.
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
