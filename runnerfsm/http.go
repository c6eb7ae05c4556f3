package runnerfsm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
)

// HTTPOptions configure a run that owns the process of its server.
type HTTPOptions struct {
	Options
	Check           func(env []string) error // checks the server's settings; nil: no check
	ShutdownTimeout time.Duration            // time until SIGKILL; 0: 8 s
	HealthEvery     time.Duration            // interval of health checks while the client works; 0: 1 s
	MaxFailures     int                      // refused, broken or bad answers in a row; then it is unreachable; 0: 3
	SilentFor       time.Duration            // time without an answer to a health check; then it is unreachable; 0: 30 s
	ServerLog       io.Writer                // receives the server's output line by line; nil: it is dropped
}

const (
	ownedStartTimeout = 10 * time.Second
	ownedStopTimeout  = 8 * time.Second       // a server finishes and cancels its calls within 7 s
	startingEvery     = 20 * time.Millisecond // interval of health checks while the server starts
	exitGrace         = time.Second           // the report of an exit may arrive after connections failed
)

var httpTable = sync.OnceValue(func() *fsm.Definition { return fsm.MustCompile(fsm.HTTPRunTable()) })

// owned is a run that owns the process of its server.
type owned struct {
	*run
	options HTTPOptions
	server  *serverProcess // nil until it is started

	connected bool    // the client reported a connection
	end       *ending // of the server; nil until it has ended
	escalated bool    // the server had to be killed
}

// RunHTTP starts a server, runs the client with its URL, and stops the server. As with Run,
// the error concerns this program only.
func RunHTTP(ctx context.Context, o HTTPOptions) (Result, error) {
	o.StartTimeout = cmp.Or(o.StartTimeout, ownedStartTimeout)
	o.ShutdownTimeout = cmp.Or(o.ShutdownTimeout, ownedStopTimeout)
	o.HealthEvery = cmp.Or(o.HealthEvery, healthEvery)
	o.MaxFailures = cmp.Or(o.MaxFailures, maxHealthFailures)
	o.SilentFor = cmp.Or(o.SilentFor, healthSilentFor)
	h := &owned{run: newRun(o.Options), options: o}
	defer func() { h.secrets.Remove() }()
	result, err := h.drive(ctx, httpTable(), map[fsm.State]handler{
		fsm.RunInit:     h.decide,
		fsm.RunStarting: h.start,
		fsm.RunRunning:  h.watch,
		fsm.RunDegraded: h.finish,
		fsm.RunDisabled: h.finish,
	})
	if h.end != nil {
		result.Server = &trace.Ended{Graceful: h.end.graceful, Escalated: h.escalated}
	}
	return result, err
}

// decide handles run:init: it reads the settings.
func (h *owned) decide(context.Context) (fsm.Trigger, fsm.Facts) {
	enabled, err := h.Settings.HTTPEnabled()
	if err == nil && !enabled {
		return fsm.ConfigDisabled, fsm.Facts{"reason": "config_disabled"}
	}
	h.wanted = true
	if err == nil {
		err = errors.Join(h.check(), h.Settings.CheckTools(h.shell))
	}
	if err != nil {
		return fsm.ConfigInvalid, fsm.Facts{"message": oneLine(err), "reason": "config_invalid"}
	}
	return fsm.ConfigResolved, nil
}

func (h *owned) check() error {
	_, pathErr := h.Settings.HTTPCommand()
	env, urlErr := h.Settings.HTTPEnv()
	var settingsErr error
	if h.options.Check != nil {
		settingsErr = h.options.Check(env)
	}
	return errors.Join(pathErr, urlErr, settingsErr)
}

// start handles run:mcp_pruner_starting: the server starts and becomes healthy.
func (h *owned) start(ctx context.Context) (fsm.Trigger, fsm.Facts) {
	if err := h.spawn(); err != nil {
		return fsm.SpawnFailed, startFailed(oneLine(err))
	}
	trigger, facts := h.await(ctx)
	if trigger != fsm.ServerReady {
		h.server.Kill()
	}
	return trigger, facts
}

func startFailed(message string) fsm.Facts {
	return fsm.Facts{"message": message, "reason": "start_failed"}
}

func (h *owned) spawn() error {
	command, pathErr := h.Settings.HTTPCommand()
	env, urlErr := h.Settings.HTTPEnv()
	if err := errors.Join(pathErr, urlErr); err != nil { // both were valid a moment ago
		return err
	}
	if program := system.Here(env).LookPath(command[0]); program != "" {
		command[0] = program
	}
	env, err := h.guard(env)
	if err != nil {
		return err
	}
	h.server, err = startServer(h.Keeper, command, env, h.Settings.Root, h.options.ServerLog)
	return err
}

// guard makes the server require a token that only this run has. Without it, every user of
// the machine could use its tools. A server that is not this program ignores the token.
func (h *owned) guard(env []string) ([]string, error) {
	var err error
	if h.secrets, err = NewSecretFolder(); err != nil {
		return nil, err
	}
	return append(env, tokenFileVariable+"="+h.secrets.TokenFile()), nil
}

// await waits until the server is healthy, or cannot become healthy.
func (h *owned) await(ctx context.Context) (fsm.Trigger, fsm.Facts) {
	timeout := time.NewTimer(h.options.StartTimeout)
	defer timeout.Stop()
	probes := newHealthProber(startingEvery, h.server, h.options.StartTimeout)
	defer probes.Stop()
	for {
		select {
		case <-h.server.Exited:
			return h.neverReady()
		case <-timeout.C:
			facts := startFailed(fmt.Sprintf("not healthy within %v", h.options.StartTimeout))
			facts["timeout_ms"] = h.options.StartTimeout.Milliseconds()
			return fsm.StartTimedOut, facts
		case s := <-h.Signals:
			return h.interrupt(s)
		case <-ctx.Done():
			return h.interrupt(syscall.SIGTERM)
		case <-probes.Tick():
			probes.Start(ctx)
		case err := <-probes.Result:
			probes.Take(err)
			if err != nil || h.server.Gone() {
				continue
			}
			host, port := h.server.Address()
			return fsm.ServerReady, fsm.Facts{"host": host, "port": port, "root": h.Settings.Root}
		}
	}
}

// interrupt ends a run whose client was not started yet, and will not be.
func (h *owned) interrupt(s os.Signal) (fsm.Trigger, fsm.Facts) {
	h.interrupted.Store(signalNumber(s))
	h.phase = noPhase()
	return fsm.StartFailed, startFailed("phase ended before ready")
}

// neverReady distinguishes a server that could not be executed from one that exited.
func (h *owned) neverReady() (fsm.Trigger, fsm.Facts) {
	if h.server.Code == keeper.CannotStart {
		return fsm.SpawnFailed, startFailed(h.server.LastWords())
	}
	message := fmt.Sprintf("exited with code %d before it was ready", h.server.Code)
	if words := h.server.LastWords(); words != "" {
		message += ": " + words
	}
	return fsm.StartFailed, startFailed(message)
}

// watch handles run:mcp_pruner_running, until the client ends or the server is lost, either
// altogether or for this client only.
func (h *owned) watch(ctx context.Context) (fsm.Trigger, fsm.Facts) {
	host, port := h.server.Address()
	entry := inject.Server{URL: serverURL(host, port) + "/mcp"}
	if h.secrets != nil {
		entry.Token = h.secrets.Token
	}
	h.phase = h.launch(ctx, inject.Servers{inject.ServerName: entry})
	probes := newHealthProber(h.options.HealthEvery, h.server, h.options.SilentFor)
	defer probes.Stop()
	for {
		select {
		case <-h.phase.ended:
			return h.ended()
		case report := <-h.phase.news:
			if trigger, facts := h.heard(report); trigger != "" {
				return trigger, facts
			}
		case <-h.server.Exited:
			return fsm.ServerExited, h.exitFacts()
		case <-probes.Tick():
			probes.Start(ctx)
		case err := <-probes.Result:
			if probes.Take(err); !probes.Lost(err, h.options.MaxFailures) {
				continue
			}
			if h.server.GoneWithin(exitGrace) {
				return fsm.ServerExited, h.exitFacts()
			}
			return fsm.ServerUnreachable, unreachableFacts(probes.Failures, err.Error())
		}
	}
}

// heard handles a report of the client about the server while the client works. A client
// that gives up because of the server is about to end, and is handled then.
func (h *owned) heard(report provider.Report) (fsm.Trigger, fsm.Facts) {
	switch report.News {
	case provider.Ready:
		h.connected = true
	case provider.NotReady:
		return fsm.ServerUnreachable, unreachableFacts(0, report.Message)
	case provider.Failed:
		if h.server.GoneWithin(exitGrace) {
			return fsm.ServerExited, h.exitFacts()
		}
		return fsm.ServerUnreachable, unreachableFacts(0, "the client reports a call as failed: "+report.Reason)
	}
	return "", nil
}

// ended handles the end of the client. The server counts as used only if the client
// reported a connection and the server is still running.
func (h *owned) ended() (fsm.Trigger, fsm.Facts) {
	for {
		report, more := h.phase.next()
		if !more {
			break
		}
		if trigger, facts := h.heard(report); trigger != "" {
			return trigger, facts
		}
	}
	if why, gaveUp := h.gaveUp(); gaveUp { // the server is running, but this client cannot use it
		return fsm.ServerUnreachable, unreachableFacts(0, why)
	}
	end := h.stop()
	switch {
	case end.lost:
		return fsm.ServerExited, h.exitFacts()
	case !h.connected:
		return fsm.ServerUnreachable, unreachableFacts(0, "the client ended without having connected to it")
	}
	return fsm.PhaseEnded, fsm.Facts{"graceful": end.graceful, "duration_ms": end.took.Milliseconds()}
}

func unreachableFacts(failures int, message string) fsm.Facts {
	return fsm.Facts{"failures": failures, "message": message, "reason": provider.Unreachable}
}

// finish handles run:mcp_pruner_disabled and run:mcp_pruner_degraded: the client does its
// work, and what is left of the server is stopped afterwards.
func (h *owned) finish(ctx context.Context) (fsm.Trigger, fsm.Facts) {
	trigger, facts := h.run.finish(ctx)
	if h.server != nil {
		h.stop()
	}
	return trigger, facts
}

// ending is the way in which the server ended.
type ending struct {
	graceful bool // it exited by itself after it was asked to
	lost     bool // it ended before it was asked to, or was killed by another process
	took     time.Duration
}

// stop stops the server, once.
func (h *owned) stop() ending {
	if h.end != nil {
		return *h.end
	}
	began := time.Now()
	h.live.Wait() // from here on, this function receives the signals
	before := h.server.Gone()
	killed := !h.ends()
	if killed {
		h.escalated = true
		waited := min(time.Since(began), h.options.ShutdownTimeout)
		h.Emit(fsm.NewEvent("mcp_pruner.kill_escalated", "", fsm.Facts{"timeout_ms": waited.Milliseconds()}))
		h.server.Kill()
	}
	signal, code := h.server.Ending()
	h.end = &ending{
		graceful: !before && !killed && signal == "" && code == 0,
		lost:     before || !killed && signal != "" && signal != "SIGTERM",
		took:     time.Since(began),
	}
	return *h.end
}

// ends asks the server to end and says whether it did, before its time was over or
// the run was told to end, once more if it was told before.
func (h *owned) ends() bool {
	if h.server.Gone() {
		return true // ignore everything else
	}
	h.server.AskToEnd()
	timeout := time.NewTimer(h.options.ShutdownTimeout)
	defer timeout.Stop()
	select {
	case <-h.server.Exited:
	case s := <-h.Signals:
		h.interrupted.Store(signalNumber(s))
	case <-timeout.C:
	}
	return h.server.Gone() // it may have ended at the same moment
}

func (h *owned) exitFacts() fsm.Facts {
	facts := fsm.Facts{"reason": provider.Exited}
	if signal, code := h.server.Ending(); signal != "" {
		facts["signal"] = signal
	} else {
		facts["exit_code"] = code
	}
	return facts
}

// noPhase returns a phase for a client that will not be started.
func noPhase() *phase {
	p := &phase{ended: make(chan struct{})}
	close(p.ended)
	return p
}
