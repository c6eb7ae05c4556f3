package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// verb is the verb proxy with its flags.
type verb struct {
	Options
	upstream string
	ensured  bool
	idle     time.Duration
}

// Command returns the verb proxy.
func Command(p command.Process, version string) *cobra.Command {
	v := verb{Options: Options{Policy: GC, Version: version}}
	c := &cobra.Command{
		Use:   "proxy",
		Short: "Clear old tool results between an agent and its model's API",
		Long: `Serves the Anthropic Messages, OpenAI Responses and Chat Completions and Gemini APIs on
this machine and passes every request on. Old tool results are replaced by a line with the
command that prints them, in batches and only when it pays. The first line on standard error
is a JSON event with the address in data.url. Clients need the secret, too: data.url_file
is a file with both, and "mcp-pruner init claude --proxy" writes them. Keys pass through and
are never stored. docs/GC.md explains what it does and what it saves.`,
		Example: `  mcp-pruner proxy --port 8787
  ANTHROPIC_BASE_URL=$(cat ~/.local/state/mcp-pruner/proxy-8787.url) claude
  GOOGLE_GEMINI_BASE_URL=$(cat ~/.local/state/mcp-pruner/proxy-8787.url) gemini`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			err := v.check()
			if err != nil {
				return err
			}
			if v.Door, err = door(c, p); err != nil {
				return err
			}
			if !v.ensured {
				return run(c.Context(), p, v.Options, v.idle)
			}
			if err = v.checkEnsured(); err != nil {
				return err
			}
			if !c.Flags().Changed(idleFlag) {
				v.idle = idleInBackground
			}
			return stopping(p, ensure(c.Context(), p, v.Options, v.idle))
		},
	}
	v.addFlags(c.Flags())
	return command.EndsItself(c)
}

func (v *verb) addFlags(f *pflag.FlagSet) {
	f.IntVar(&v.Port, "port", 0, "where to listen; 0 takes any free port")
	settings.AddFlags(f, settings.Proxy)
	f.StringVar(&v.upstream, "upstream", "", "where all requests go (default: to the provider that path and key both name)")
	f.Var(v.Policy.Flag(), "policy", PolicyUsage)
	f.StringVar(&v.Store, "store", "", StoreUsage)
	f.StringVar(&v.Note, "note", "", "write the first request of a conversation to this new file, which only you can read, for mcp-pruner context --from")
	f.BoolVar(&v.ensured, "ensure", false, "start the proxy in the background unless one answers there, and wait until it does")
	f.DurationVar(&v.idle, idleFlag, 0, "end after a time without requests; 0: never (default: 24h with --ensure)")
}

const idleFlag = "end-idle"

// check parses --upstream and refuses what no proxy can use.
func (v *verb) check() error {
	if v.upstream != "" {
		u, err := url.Parse(v.upstream)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return command.Usagef("--upstream %q: want an http or https URL", v.upstream)
		}
		v.Upstream = u
	}
	if v.Port < 0 || v.Port > 65535 {
		return command.Usagef("--port %d: want a number from 0 to 65535", v.Port)
	}
	if v.Note != "" {
		return newFile(v.Note)
	}
	return nil
}

// checkEnsured refuses the settings that a proxy in the background cannot have.
func (v *verb) checkEnsured() error {
	switch {
	case v.Port == 0:
		return command.Usagef("--ensure wants --port")
	case v.Door.Asks() || v.Door.Access.Cert != "":
		return command.Usagef("--ensure starts a proxy for this machine only; a proxy for others is a service of its own, see docs/TEAMS.md")
	case v.Note != "":
		return command.Usagef("--note is for a proxy that you start yourself; leave out --ensure")
	}
	return nil
}

// stopPrompt is the exit code by which a hook of Claude Code's stops the prompt and shows the reason.
const stopPrompt = 2

// stopping returns what ends a hook. If something else listens in the proxy's place, the prompt is stopped, because the client
// would send it the key and the conversation.
func stopping(p command.Process, err error) error {
	var other Stranger
	if !errors.As(err, &other) || other.kindly {
		return err
	}
	_, _ = fmt.Fprintf(p.Stderr, "mcp-pruner proxy: %v. This client would send it your key and the conversation, so the prompt is stopped. "+
		"End that program and try again, or do without the proxy: \"mcp-pruner init claude --proxy --uninstall\", and start the client again.\n", other)
	return command.Exit(stopPrompt)
}

// memoryLimit is the soft limit in bytes above which the garbage collector runs often: twice what bodies may take.
const memoryLimit = 2 * bodyBudget

// door returns how the proxy may be reached, and by whom.
func door(c *cobra.Command, p command.Process) (settings.Door, error) {
	s, _, err := settings.Load(settings.Proxy, settings.Given(c.Flags(), settings.Proxy), p.Lookup)
	if err != nil {
		return settings.Door{}, command.Usagef("%w", err)
	}
	return s.Door, nil
}

// run serves until ctx ends.
func run(ctx context.Context, p command.Process, o Options, idle time.Duration) error {
	started := time.Now()
	command.BoundMemory(p.Lookup, memoryLimit)
	config, _, err := settings.Load(settings.Stdio, nil, p.Lookup)
	if err != nil {
		return command.Usagef("%w", err)
	}
	logs := fsm.NewEventLog(p.Stderr, fsm.Level(config.LogLevel)).InRun(config.RunID)
	defer logs.Close(time.Second)
	warn := func(message string) {
		logs.Emit(fsm.NewEvent("mcp_pruner.warning", "", fsm.Facts{"message": message}))
	}
	gate, closeGate, err := assemble.Entry{Program: "proxy", Door: o.Door, Store: o.Store, Failed: warn}.Open(ctx, p.Lookup)
	if err != nil {
		return command.Usagef("%w", err)
	}
	defer closeGate()
	l, err := o.Door.Access.Listen(ctx, o.Port, func(err error) { warn(err.Error()) })
	if err != nil {
		return fmt.Errorf("%w%s", err, holder(o.Port, gate == nil))
	}
	var own secret.Secret
	if gate == nil {
		var file string
		if own, file, err = announce(p, l); err != nil {
			return errors.Join(err, l.Close())
		}
		defer func() { _ = os.Remove(file) }() // the address ends with the proxy
	} else {
		announceShared(p, o.Door.Access.Scheme(), l)
	}
	handler, end := assembleProxy(ctx, p, config, o, logs.Emit, logs.Sync)
	handler.secret, handler.gate, handler.access = own, gate, o.Door.Access
	if gate == nil {
		key, err := secret.LoadProof(p.Lookup)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		handler.prover = prover{key, secret.NewNonce()}
	}
	ctx, stop := handler.endIdle(ctx, idle)
	defer stop()
	handler.stop = stop
	graceful, err := serve(ctx, p.Hurry, l, handler, o.Door.FinishWithin())
	end()
	logs.Emit(fsm.NewEvent("mcp_pruner.stopped", "", fsm.Facts{"graceful": graceful, "duration_ms": time.Since(started).Milliseconds()}))
	return err
}

// holder says who has a port of this machine already, if the system says.
func holder(port int, here bool) string {
	if who := ownerOf(fmt.Sprintf("127.0.0.1:%d", port)); here && who.known {
		return who.String()
	}
	return ""
}

// announce writes the proxy's address with the secret into a file, and prints the address without it and the file's
// name, whatever the log level.
func announce(p command.Process, l net.Listener) (access secret.Secret, file string, err error) {
	if access, err = secret.Load(p.Lookup); err != nil {
		return "", "", err
	}
	if file, err = secret.URLFile(p.Lookup, l.Addr().(*net.TCPAddr).Port); err != nil {
		return "", "", err
	}
	address := "http://" + l.Addr().String()
	if err := access.WriteURL(file, address); err != nil {
		return "", "", fmt.Errorf("write the address of the proxy: %w", err)
	}
	logs := fsm.NewEventLog(p.Stderr, fsm.LevelDebug)
	logs.Emit(fsm.NewEvent("proxy.ready", "", fsm.Facts{"url": address + "/" + secret.Mask, "url_file": file}))
	logs.Close(time.Second)
	return access, file, nil
}

// announceShared prints the address of a proxy whose callers have credentials of their own, whatever the log level.
func announceShared(p command.Process, scheme string, l net.Listener) {
	logs := fsm.NewEventLog(p.Stderr, fsm.LevelDebug)
	logs.Emit(fsm.NewEvent("proxy.ready", "", fsm.Facts{"url": scheme + "://" + l.Addr().String()}))
	logs.Close(time.Second)
}
