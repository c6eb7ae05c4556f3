package runnerfsm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
)

// notFound is the shell's exit code for a command that does not exist.
const notFound = 127

// phase is one launch of the client.
type phase struct {
	news  chan provider.Report // reports that move the machine; their number is bounded, see reportTo
	ended chan struct{}        // closed when the client and all processes it started have ended
	code  int                  // exit code, valid once ended is closed

	mu     sync.Mutex
	usage  Usage
	told   [provider.CallEnded]bool // every kind of news except calls is reported once
	gaveUp bool
	why    string
}

// launch starts the client with the given servers injected.
func (r *run) launch(ctx context.Context, servers inject.Servers) *phase {
	p := &phase{news: make(chan provider.Report, len(phase{}.told)), ended: make(chan struct{})}
	if r.InFront {
		return r.launchInFront(ctx, p)
	}
	kept, err := r.start(p, servers)
	if err != nil {
		return r.unstarted(p, notFound, err)
	}
	r.live.Go(func() {
		r.passSignals(ctx, func(s os.Signal) {
			r.interrupted.Store(signalNumber(s))
			kept.Signal(s)
		}, p.ended)
	})
	stops := watchStops()
	r.live.Go(func() { passStops(stops, kept, p.ended) })
	go func() {
		p.code = kept.Wait()
		r.input.End()
		close(p.ended)
	}()
	return p
}

// unstarted reports a client that could not be started.
func (r *run) unstarted(p *phase, code int, err error) *phase {
	fmt.Fprintf(r.Notes, "mcp-pruner: %s: %v\n", r.Provider.Name(), err)
	p.code = code
	close(p.ended)
	return p
}

// start starts the client's process. If servers are injected, its output is read.
func (r *run) start(p *phase, servers inject.Servers) (*keeper.Kept, error) {
	launch := provider.Launch{
		Servers: servers, Lost: r.wanted && len(servers) == 0, Passed: slices.Concat(r.Settings.Passed(), r.handedOver), Tools: r.Settings.Tools(r.shell),
		Options: r.ProviderOptions, Prompt: r.Prompt, StartTimeout: r.StartTimeout,
	}
	if r.secrets != nil && len(servers) > 0 {
		var err error
		if launch.ConfigFile, err = r.secrets.Config(servers.JSON()); err != nil {
			return nil, err
		}
	}
	args := r.Provider.Args(launch)
	path, err := system.Here(r.Settings.Env).ClientPath(r.Provider.Name(), args)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = r.Settings.Dir, slices.Clone(r.Settings.Env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.input.Open(len(servers) == 0), r.Stdout, r.Stderr
	if len(servers) > 0 {
		cmd.Env = append(cmd.Env, r.Provider.Env(launch)...)
		cmd.Env = append(cmd.Env, servers.PastProxies(cmd.Env)...)
		r.read(cmd, r.Provider.Read(launch, provider.Output{Stdout: &r.answer, Stderr: r.Notes, Report: r.reportTo(p)}))
	}
	self := r.Keeper
	if r.secrets != nil {
		self = append(slices.Clone(self), keeper.Removes(r.secrets.Dir))
	}
	return keeper.Start(self, cmd)
}

// read attaches a reader to the client's output. If standard output cannot be passed on,
// the client finds it closed, as it would without the runner. Messages that cannot be
// passed on are read nevertheless.
func (r *run) read(cmd *exec.Cmd, reader provider.Reader) {
	stdout := &clientTap{lineWriter: lineWriter{Take: reader.Stdout}, Failed: r.answer.Failed, Ended: reader.End}
	if reader.Raw() {
		stdout.Through = &r.answer
	}
	stderr := &clientTap{lineWriter: lineWriter{Take: reader.Stderr}, Through: r.Stderr}
	cmd.Stdout, cmd.Stderr = stdout, stderr
}

// passSignals forwards the runner's signals while the phase lasts.
func (r *run) passSignals(ctx context.Context, forward func(os.Signal), ended <-chan struct{}) {
	cancelled := ctx.Done()
	for {
		select {
		case <-ended:
			return
		case s := <-r.Signals:
			forward(s)
		case <-cancelled:
			cancelled = nil
			forward(syscall.SIGTERM)
		}
	}
}

func signalNumber(s os.Signal) int32 {
	n, _ := s.(syscall.Signal)
	return int32(n)
}

// reportTo returns the function that takes the reader's reports. It counts calls, and keeps
// only the first report of every other kind, so that the channel never fills.
func (r *run) reportTo(p *phase) func(provider.Report) {
	return func(report provider.Report) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if report.News == provider.CallEnded {
			p.usage.add(report.Pruning)
			return
		}
		if p.told[report.News] {
			return
		}
		p.told[report.News] = true
		if report.News == provider.GaveUp {
			p.gaveUp, p.why = true, report.Message
		}
		if !p.gaveUp {
			r.input.Forget()
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
func (p *phase) next() (report provider.Report, more bool) {
	select {
	case report = <-p.news:
		return report, true
	case <-p.ended:
	}
	select {
	case report = <-p.news:
		return report, true
	default:
		return provider.Report{}, false
	}
}
