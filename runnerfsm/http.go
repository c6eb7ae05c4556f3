package runnerfsm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"mcp-pruner/fsm"
	"mcp-pruner/fsm/event"
	"mcp-pruner/fsm/trace"
	"mcp-pruner/runnerfsm/keeper"
)

// HTTPOptions is a run that owns the process of its server.
type HTTPOptions struct {
	Options
	Check           func(env []string) error // of the server's settings; nil: none
	ShutdownTimeout time.Duration            // until SIGKILL; 0: 8 s
	HealthEvery     time.Duration            // while the client works; 0: 1 s
	MaxFailures     int                      // in a row, until it is unreachable; 0: 3
	ServerLog       io.Writer                // what the server prints, line by line; nil: nobody
}

const (
	ownedStartTimeout = 10 * time.Second
	ownedStopTimeout  = 8 * time.Second // a server finishes and cancels its calls within 7 s
	healthEvery       = time.Second
	maxFailures       = 3
	startingEvery     = 20 * time.Millisecond // health checks of a server that starts
	exitGrace         = time.Second           // for news of an exit, which may come after the connections failed
)

var httpTable = fsm.MustCompile(fsm.HTTPRunTable())

// owned is a run that owns the process of its server.
type owned struct {
	*run
	options HTTPOptions
	server  *server // nil until it was started

	connected bool    // the client said so
	end       *ending // of the server; nil until it was ended
	escalated bool    // it had to be killed
}

// RunHTTP starts a server, runs the client with its URL, and ends the server. Like
// Run it fails only for reasons of this program.
func RunHTTP(ctx context.Context, o HTTPOptions) (Result, error) {
	if o.StartTimeout == 0 {
		o.StartTimeout = ownedStartTimeout
	}
	if o.ShutdownTimeout == 0 {
		o.ShutdownTimeout = ownedStopTimeout
	}
	if o.HealthEvery == 0 {
		o.HealthEvery = healthEvery
	}
	if o.MaxFailures == 0 {
		o.MaxFailures = maxFailures
	}
	h := &owned{run: newRun(o.Options), options: o}
	defer func() { h.secrets.remove() }()
	result, err := h.drive(ctx, httpTable, map[fsm.State]handler{
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

// decide is run:init: what do the settings say?
func (h *owned) decide(context.Context) (fsm.Trigger, fsm.Facts) {
	enabled, err := h.Settings.HTTPEnabled()
	if err == nil && !enabled {
		return fsm.ConfigDisabled, fsm.Facts{"reason": "config_disabled"}
	}
	h.wanted = true
	if err == nil {
		err = errors.Join(h.check(), h.checkTools())
	}
	if err != nil {
		return fsm.ConfigInvalid, fsm.Facts{"message": oneLine(err), "reason": "config_invalid"}
	}
	return fsm.ConfigResolved, nil
}

func (h *owned) check() error {
	_, pathErr := h.Settings.httpCommand()
	env, urlErr := h.Settings.httpEnv()
	var settingsErr error
	if h.options.Check != nil {
		settingsErr = h.options.Check(env)
	}
	return errors.Join(pathErr, urlErr, settingsErr)
}

// start is run:mcp_pruner_starting: the server starts and becomes healthy.
func (h *owned) start(ctx context.Context) (fsm.Trigger, fsm.Facts) {
	failed := func(message string) fsm.Facts {
		return fsm.Facts{"message": message, "reason": "start_failed"}
	}
	if err := h.spawn(); err != nil {
		return fsm.SpawnFailed, failed(oneLine(err))
	}
	trigger, facts := h.await(ctx, failed)
	if trigger != fsm.ServerReady {
		h.server.kill()
	}
	return trigger, facts
}

func (h *owned) spawn() error {
	command, pathErr := h.Settings.httpCommand()
	env, urlErr := h.Settings.httpEnv()
	if err := errors.Join(pathErr, urlErr); err != nil { // was in order a moment ago
		return err
	}
	if program := LookPath(command[0], env); program != "" {
		command[0] = program
	}
	env, err := h.guard(env)
	if err != nil {
		return err
	}
	server, err := startServer(h.Keeper, command, env, h.Settings.Root, h.options.ServerLog)
	if err != nil {
		return err
	}
	h.server = server
	return nil
}

// guard makes the server ask for a token that only this run has: every user of the
// machine could use its tools otherwise. A server that is not ours ignores it.
func (h *owned) guard(env []string) ([]string, error) {
	var err error
	if h.secrets, err = newSecrets(); err != nil {
		return nil, err
	}
	return append(env, tokenFileVariable+"="+h.secrets.tokenFile()), nil
}

// await waits until the server is healthy, or what keeps it from that.
func (h *owned) await(ctx context.Context, failed func(string) fsm.Facts) (fsm.Trigger, fsm.Facts) {
	timeout := time.NewTimer(h.options.StartTimeout)
	defer timeout.Stop()
	ticker := time.NewTicker(startingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-h.server.exited:
			return h.neverReady(failed)
		case <-timeout.C:
			facts := failed(fmt.Sprintf("not healthy within %v", h.options.StartTimeout))
			facts["timeout_ms"] = h.options.StartTimeout.Milliseconds()
			return fsm.StartTimedOut, facts
		case s := <-h.Signals:
			return h.interrupt(s, failed)
		case <-ctx.Done():
			return h.interrupt(syscall.SIGTERM, failed)
		case <-ticker.C:
			if h.server.health(ctx) != nil || h.server.gone() {
				continue
			}
			host, port := h.server.address()
			return fsm.ServerReady, fsm.Facts{"host": host, "port": port, "root": h.Settings.Root}
		}
	}
}

// interrupt ends a run whose client has not been started, and now will not be.
func (h *owned) interrupt(s os.Signal, failed func(string) fsm.Facts) (fsm.Trigger, fsm.Facts) {
	h.interrupted.Store(signalNumber(s))
	h.phase = noPhase()
	return fsm.StartFailed, failed("phase ended before ready")
}

// neverReady tells a server that could not be executed from one that ended.
func (h *owned) neverReady(failed func(string) fsm.Facts) (fsm.Trigger, fsm.Facts) {
	if h.server.code == keeper.CannotStart {
		return fsm.SpawnFailed, failed(h.server.lastWords())
	}
	message := fmt.Sprintf("exited with code %d before it was ready", h.server.code)
	if words := h.server.lastWords(); words != "" {
		message += ": " + words
	}
	return fsm.StartFailed, failed(message)
}

// watch is run:mcp_pruner_running: the client works, until it has ended or the
// server is lost, be it to everybody or to this client alone.
func (h *owned) watch(ctx context.Context) (fsm.Trigger, fsm.Facts) {
	host, port := h.server.address()
	entry := Server{URL: serverURL(host, port) + "/mcp"}
	if h.secrets != nil {
		entry.Token = h.secrets.token
	}
	h.phase = h.launch(ctx, Servers{ServerName: entry})
	probes := newProber(h.options.HealthEvery, h.server)
	defer probes.stop()
	for {
		select {
		case <-h.phase.ended:
			return h.ended()
		case report := <-h.phase.news:
			if trigger, facts := h.heard(report); trigger != "" {
				return trigger, facts
			}
		case <-h.server.exited:
			return fsm.ServerExited, h.exitFacts()
		case <-probes.tick():
			probes.start(ctx)
		case err := <-probes.result:
			if probes.counted(err) < h.options.MaxFailures {
				continue
			}
			if h.server.goneWithin(exitGrace) {
				return fsm.ServerExited, h.exitFacts()
			}
			return fsm.ServerUnreachable, unreachableFacts(probes.failures, err.Error())
		}
	}
}

// heard is what the client says of the server while it works. One that gives up
// because of it is about to end, and is heard again then.
func (h *owned) heard(report Report) (fsm.Trigger, fsm.Facts) {
	switch report.News {
	case Ready:
		h.connected = true
	case NotReady:
		return fsm.ServerUnreachable, unreachableFacts(0, report.Message)
	case Failed:
		if h.server.goneWithin(exitGrace) {
			return fsm.ServerExited, h.exitFacts()
		}
		return fsm.ServerUnreachable, unreachableFacts(0, "the client reports a call as failed: "+report.Reason)
	}
	return "", nil
}

// ended is the end of the client. The server worked for it only if the client said
// that it had connected, and if the server is still there to be ended.
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
	if why, gaveUp := h.gaveUp(); gaveUp { // the server is there, but not for this client
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
	return fsm.Facts{"failures": failures, "message": message, "reason": unreachable}
}

// finish is run:mcp_pruner_disabled and run:mcp_pruner_degraded: the client does its
// work, and whatever is left of the server ends after it.
func (h *owned) finish(ctx context.Context) (fsm.Trigger, fsm.Facts) {
	trigger, facts := h.run.finish(ctx)
	if h.server != nil {
		h.stop()
	}
	return trigger, facts
}

// ending is how the server ended.
type ending struct {
	graceful bool // it was asked to end, and did so by itself
	lost     bool // it was gone before it was asked to end, or killed by somebody else
	took     time.Duration
}

// stop ends the server, unless that was done before.
func (h *owned) stop() ending {
	if h.end != nil {
		return *h.end
	}
	began := time.Now()
	h.live.Wait() // from now on signals are for us
	before := h.server.gone()
	killed := !h.ends()
	if killed {
		h.escalated = true
		waited := min(time.Since(began), h.options.ShutdownTimeout)
		h.Emit(event.New("mcp_pruner.kill_escalated", "", fsm.Facts{"timeout_ms": waited.Milliseconds()}))
		h.server.kill()
	}
	signal, code := h.server.ending()
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
	if h.server.gone() {
		return true // whatever else there is to hear
	}
	h.server.askToEnd()
	timeout := time.NewTimer(h.options.ShutdownTimeout)
	defer timeout.Stop()
	select {
	case <-h.server.exited:
	case s := <-h.Signals:
		h.interrupted.Store(signalNumber(s))
	case <-timeout.C:
	}
	return h.server.gone() // it may have ended in the same moment
}

func (h *owned) exitFacts() fsm.Facts {
	facts := fsm.Facts{"reason": exited}
	if signal, code := h.server.ending(); signal != "" {
		facts["signal"] = signal
	} else {
		facts["exit_code"] = code
	}
	return facts
}

// noPhase stands for a client that is not to be started any more.
func noPhase() *phase {
	p := &phase{ended: make(chan struct{})}
	close(p.ended)
	return p
}
