package runcmd

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/proxy"
	server "github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/redirect"
)

// allowBashUsage is the help text of --allow-bash. The client's sandbox does not apply to the server's
// bash.
const allowBashUsage = "offer the server's bash as well; the client's sandbox does not hold for it"

const runHelp = `With CLIENT and --proxy: runs the client as it is, in the terminal or not, and sends its API
calls through a proxy that only this run can use and that ends with it. An address that is
configured already becomes the proxy's upstream. Nothing is written to the client's files.
Options of this program stand directly after CLIENT; all other arguments are the client's.

With --provider: runs "claude -p" or "codex exec" with the server injected, passes its streams through,
and exits with its exit code. Options that are not listed here are the client's. Without
PROMPT the client reads it from standard input. The server is injected with --pruner, or
when JEEVES_PRUNER_ENABLED is 1, true, yes or on; a server that fails never fails the run.
The client may use the server's read and grep without asking. Its bash, for which the
client's sandbox does not hold, is offered only with --allow-bash or where the client's
own options give it a shell without sandbox and approval.

What is printed is what the client prints for the options given: its answer, or with
--output-format stream-json (claude) or --json (codex) its event stream.`

// RunCommand returns the verb run. version is recorded in traces.
func RunCommand(p command.Process, version string) *cobra.Command {
	req := &request{version: version, proxied: proxied{policy: proxy.GC}}
	c := &cobra.Command{
		Use: "run CLIENT --proxy [ARGUMENTS OF THE CLIENT] | run --provider PROVIDER [OPTIONS OF THE CLIENT] -- PROMPT", DisableFlagsInUseLine: true,
		Short: "Run a client under a proxy of its own, or with the server injected",
		Long:  runHelp,
		Example: `  mcp-pruner run claude --proxy
  mcp-pruner run codex --proxy exec "find the retry limit"
  mcp-pruner run --provider claude --pruner embedded -- "find the retry limit"`,
	}
	f := c.Flags()
	f.Func("provider", "the client: "+providerNames(), req.setProvider)
	f.Func("pruner", "inject the server, and prune there: embedded (in the server itself), the URL of a service, or off", req.setPruner)
	f.BoolVar(&req.allowBash, "allow-bash", false, allowBashUsage)
	f.Func("transport", "stdio: the client starts the server; http: this program does, gives the client its URL, and ends it", req.setTransport)
	f.Func("events", "append the run's events to this file instead of standard error", req.setEvents)
	f.Func("trace", "append the run's trace, and its requests', to this file", req.setTrace)
	f.Func("start-timeout", "seconds that the server may take to start (codex, http: 10, claude: 30)", seconds(&req.startTimeout))
	f.Func("shutdown-timeout", "http: seconds that the server may take to end (8)", seconds(&req.stopTimeout))
	f.BoolVar(&req.proxied.on, "proxy", false, "send the client's API calls through a proxy that ends with the run")
	f.Var(req.proxied.policy.Flag(), "policy", "with --proxy: "+proxy.PolicyUsage)
	f.StringVar(&req.proxied.store, "store", "", "with --proxy: "+proxy.StoreUsage)
	f.BoolVar(&req.proxied.show, "show", false, "with --proxy: print what would change, and start nothing")
	command.CompleteFlag(c, "provider", strings.Split(providerNames(), "|")...)
	command.CompleteFlag(c, "pruner", "embedded", "off")
	command.CompleteFlag(c, "transport", "stdio", "http")
	work := func() error {
		if err := req.checkProxied(f.Changed); err != nil {
			return err
		}
		said := &messages{w: p.Stderr}
		code, err := req.run(c.Context(), p, said)
		if err != nil {
			fmt.Fprintf(said.own(), "mcp-pruner: %v\n", err)
		}
		return command.Exit(code)
	}
	mixed(c, func(client, prompt []string) error {
		if req.provider == nil {
			return command.Usagef("name a client first, %s, or --provider %s", command.Or(redirect.Clients()), providerNames())
		}
		req.options, req.prompt = client, strings.Join(prompt, " ")
		return work()
	})
	return clientFirst(c, redirect.Clients(), func(client string, args []string) error {
		for _, name := range []string{"provider", "pruner", "allow-bash", "transport", "start-timeout", "shutdown-timeout"} {
			if f.Changed(name) {
				return command.Usagef("--%s is for runs with the server: use --provider %s", name, client)
			}
		}
		req.provider, req.options, req.inFront = provider.Given(client), args, true
		return work()
	})
}

// request is a parsed command line of run.
type request struct {
	version      string // of this program
	provider     provider.Provider
	pruner       *string // set by an option
	allowBash    bool
	options      []string // options for the client itself
	prompt       string
	events       string
	trace        string
	traceGiven   bool // set by an option
	startTimeout time.Duration

	proxied proxied
	inFront bool // the client has the terminal, and its arguments are as given

	http        bool // the run starts a server of its own over HTTP
	stopTimeout time.Duration
}

func (r *request) setProvider(name string) error {
	found, ok := provider.ByName(name)
	if !ok {
		return errors.New("not one of " + providerNames())
	}
	r.provider = found
	return nil
}

// setPruner sets the pruner's URL; "off" stands for an empty URL.
func (r *request) setPruner(where string) error {
	switch {
	case where == "":
		return errors.New("want embedded, the URL of a service, or off")
	case where == "off":
		where = ""
	}
	r.pruner = &where
	return nil
}

// withPruner returns the environment with the server enabled and the pruner's URL set, under every variable
// that could override it.
func (r *request) withPruner(env []string) []string {
	if r.pruner == nil {
		return env
	}
	return append(slices.Clone(env), "JEEVES_PRUNER_ENABLED=true", "JEEVES_MCP_PRUNER_ENABLED=true",
		"JEEVES_PRUNER_URL="+*r.pruner, "JEEVES_PRUNER_ENDPOINT=", "PRUNER_URL="+*r.pruner)
}

func (r *request) setEvents(path string) error {
	if path == "" {
		return errNoFile
	}
	r.events = path
	return nil
}

// errNoFile refuses an empty file name, which results from an unset variable.
var errNoFile = errors.New("no file is named")

func (r *request) setTrace(path string) (err error) {
	if path == "" {
		return errNoFile
	}
	r.traceGiven = true
	r.trace, err = filepath.Abs(path)
	return err
}

// withTrace returns the environment with the absolute path of the trace, because the server opens it, too,
// and may run in another directory.
func (r *request) withTrace(env []string) ([]string, error) {
	path := inject.Settings{Env: env}.Get(traceVariable)
	if r.trace == "" && path != "" {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		r.trace = absolute
	}
	if r.trace == "" {
		return env, nil
	}
	return append(slices.Clone(env), traceVariable+"="+r.trace), nil
}

func (r *request) setTransport(name string) error {
	if name != "stdio" && name != "http" {
		return errors.New("not one of stdio|http")
	}
	r.http = name == "http"
	return nil
}

// seconds returns a parser for a number of seconds in decimal notation.
func seconds(to *time.Duration) func(string) error {
	return func(value string) error {
		d, err := time.ParseDuration(value + "s")
		if err != nil || strings.Trim(value, "0123456789.") != "" || d < time.Millisecond {
			return errors.New("not a number of seconds")
		}
		*to = d
		return nil
	}
}

// run runs the client. It returns an error only for a failure of this program, not of the run.
func (r *request) run(ctx context.Context, p command.Process, stderr *messages) (int, error) {
	options, err := r.runOptions(p.Env)
	if err != nil {
		return command.Fail, err
	}
	if r.proxied.show {
		return failed(r.showProxied(p.Stdout, options))
	}
	otherwise := stderr.own()
	if r.inFront {
		otherwise = io.Discard // the client may be drawing on the terminal
	}
	events, err := openEvents(r.events, otherwise)
	if err != nil {
		return command.Usage, fmt.Errorf("--events: %w", err)
	}
	defer events.Close()
	if r.traceGiven { // of one that the environment names, the server says what is wrong
		if err := trace.Check(r.trace); err != nil {
			return command.Usage, fmt.Errorf("--trace: %w", err)
		}
	}
	signals, stop := r.watch(ctx)
	defer stop()
	write := fsm.JSONSink(events, fsm.LevelInfo)
	options.Signals, options.Emit = signals, func(e fsm.Event) {
		e.RunID = options.ID
		write(e)
	}
	options.Stdin, options.Stdout, options.Stderr, options.Notes = p.Stdin, p.Stdout, stderr, stderr.own()
	if r.inFront {
		options.InFront, options.Stderr = true, p.Stderr
	}
	if r.proxied.on {
		end, err := r.proxyFor(ctx, p, &options)
		if err != nil {
			return failed(err)
		}
		defer func() { fmt.Fprintf(stderr.own(), "mcp-pruner: %s: %s\n", r.provider.Name(), end()) }()
	}
	if !r.inFront {
		r.noteDisabled(options.Settings, stderr.own())
	}
	result, err := r.launch(context.WithoutCancel(ctx), options, events)
	if err != nil {
		return command.Fail, err
	}
	r.record(result, options, stderr.own())
	if !r.inFront {
		fmt.Fprintf(stderr.own(), "mcp-pruner: %s: %s\n", r.provider.Name(), result.Summary())
	}
	return result.ExitCode, nil
}

// failed returns the exit code for an error: what the user has to change is a usage error.
func failed(err error) (int, error) {
	var refused redirect.Refusal
	switch {
	case err == nil:
		return command.OK, nil
	case errors.As(err, &refused), command.IsUsage(err):
		return command.Usage, err
	}
	return command.Fail, err
}

// watch returns the signals that this process gets, as the kind of run wants them.
func (r *request) watch(ctx context.Context) (signals <-chan os.Signal, stop func()) {
	if r.inFront {
		return passedSignals()
	}
	return watchSignals(ctx)
}

// record appends the run to the trace, if there is one.
func (r *request) record(result runnerfsm.Result, options runnerfsm.Options, stderr io.Writer) {
	if r.trace == "" {
		return
	}
	record := trace.NewRecord(result.Machine)
	record.Server, record.Client, record.Ended = r.version, r.provider.Name(), result.Server
	appendTrace(r.trace, options, record, stderr)
}

// noteDisabled explains how to enable the server in a run that injects none.
func (r *request) noteDisabled(set inject.Settings, stderr io.Writer) {
	enabled := set.Enabled()
	if r.http {
		on, err := set.HTTPEnabled()
		enabled = on || err != nil // the run itself reports an invalid value
	}
	if !enabled {
		fmt.Fprintf(stderr, "mcp-pruner: %s runs without the server: add --pruner embedded, or set JEEVES_PRUNER_ENABLED=true\n", r.provider.Name())
	}
}

// launch runs the client under the machine for its transport. The events of a server within this process
// are written to the run's event file, if there is one.
func (r *request) launch(ctx context.Context, o runnerfsm.Options, events io.Writer) (runnerfsm.Result, error) {
	if !r.http {
		return runnerfsm.Run(ctx, o)
	}
	owned := runnerfsm.HTTPOptions{Options: o, ShutdownTimeout: r.stopTimeout, Check: func(env []string) error {
		_, _, err := server.Load(server.HTTP, map[string]string{"root": o.Settings.Root}, server.FromEnv(env))
		return err
	}}
	if r.events != "" {
		owned.ServerLog = serverEvents{events}
	}
	return runnerfsm.RunHTTP(ctx, owned)
}

// runOptions returns the options of the run except its streams. The server's root is the client's working
// directory, which the client's own options can change.
func (r *request) runOptions(env []string) (runnerfsm.Options, error) {
	env, err := r.withTrace(r.withPruner(env))
	if err != nil {
		return runnerfsm.Options{}, err
	}
	id := newRunID()
	env = append(slices.Clone(env), runVariable+"="+id)
	set, err := settings(env)
	if err != nil {
		return runnerfsm.Options{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return runnerfsm.Options{}, err
	}
	set.Root = r.provider.Dir(r.options, set.Dir)
	return runnerfsm.Options{
		ID: id, Provider: r.provider, ProviderOptions: r.options, Prompt: r.prompt,
		Settings: set, StartTimeout: r.startTimeout, AllowBash: r.allowBash, Keeper: []string{self, keeper.Verb},
	}, nil
}

func newRunID() string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return "run_" + hex.EncodeToString(b[:])
}

// openEvents opens the file for events in append mode. Without a path it returns standard error.
func openEvents(path string, stderr io.Writer) (io.WriteCloser, error) {
	if path == "" {
		return struct {
			io.Writer
			io.Closer
		}{stderr, io.NopCloser(nil)}, nil
	}
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}
