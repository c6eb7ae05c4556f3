package verbs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/gateway"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// upstreamsWithin is how long list and --report wait for upstream servers: npx may download a package first.
const upstreamsWithin = 60 * time.Second

// gatewayFlags are the flags that the gateway's verbs share.
type gatewayFlags struct {
	mode    string
	splitRW bool
	bare    bool
	target  float64
	mapFile string
	tokens  string

	overHTTP, listing, reporting, asJSON, wrap bool
	pruneOver                                  int  // negative: never
	pruneGiven                                 bool // the flag was
}

func (f *gatewayFlags) add(c *cobra.Command) {
	f.mode, f.target = gateway.Auto, upstream.DefaultTarget
	flags := c.Flags()
	flags.Var(command.Choice(&f.mode, gateway.Auto, gateway.Group, gateway.Trim), "mode",
		"few tools with actions, the same tools with less text, or by client")
	flags.BoolVar(&f.splitRW, "split-rw", false, "put what only reads in tools of its own")
	flags.BoolVar(&f.bare, "bare", false, "tool names without the server's name in front; for exactly one server")
	flags.Var(command.Share(&f.target), "target", "share of the list's tokens that has to go, at most; less keeps more prose")
	flags.StringVar(&f.mapFile, "map", "", "file that says how tools are grouped, pinned, hidden and renamed")
	flags.StringVar(&f.tokens, "subject-tokens", "", "file with the tokens that ${subject.token:NAME} stands for, by subject")
}

func gatewayCommand(p command.Process) *cobra.Command {
	var f gatewayFlags
	c := &cobra.Command{
		Use:   "gateway [flags] CONFIG | gateway --wrap [--prune-over N] -- COMMAND [ARG...]",
		Short: "Serve the tools of other MCP servers in fewer tokens",
		Long: `Starts the MCP servers of CONFIG, a file with {"mcpServers": {...}} as clients use
it ("-" is the standard input, except over stdio), and serves their tools: as a few tools with an action parameter, or, for clients
that search tools themselves, under their own names with less text. Calls, results,
errors, progress and questions to the client pass through.

With --wrap it starts one server and shortens its tools' texts; their names stay. "gateway init CLIENT" writes this into
the entries of a client.

docs/GATEWAY.md has the forms, the mapping file, and when not to use it.`,
		Example: `  mcp-pruner gateway --report servers.json
  mcp-pruner gateway --wrap -- npx -y @playwright/mcp
  claude mcp add all -- mcp-pruner gateway servers.json
  mcp-pruner gateway --http --port 8010 servers.json`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case f.wrap && len(args) == 0:
				return command.Usagef("--wrap needs a server's command after --, such as: mcp-pruner gateway --wrap -- npx -y @playwright/mcp")
			case f.wrap:
				return nil
			}
			if len(args) == 2 && args[0] == "list" {
				args = args[1:]
			}
			return command.OneArgument("CONFIG")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, p, args) },
	}
	f.add(c)
	c.Flags().BoolVar(&f.overHTTP, "http", false, "serve over HTTP, as the verb serve does")
	c.Flags().BoolVar(&f.listing, "list", false, "print what is exposed of each server, and why, and end")
	c.Flags().BoolVar(&f.reporting, "report", false, "print bytes and tokens before and after, and end")
	c.Flags().BoolVar(&f.asJSON, "json", false, "the report as JSON")
	c.Flags().BoolVar(&f.wrap, "wrap", false, "serve one server, given as its command, whose tools keep their names")
	c.Flags().IntVar(&f.pruneOver, "prune-over", 0, fmt.Sprintf("cut results of more characters than this; recover_text returns them (default: never; %d with a CONFIG and MCP_PRUNER_STORE)", pruneOverWithStore))
	settings.AddFlags(c.Flags(), settings.HTTP)
	c.AddCommand(gatewayInitCommand(p))
	return command.EndsItself(c)
}

// run does what the flags say.
func (f *gatewayFlags) run(c *cobra.Command, p command.Process, args []string) error {
	f.listing = f.listing || !f.wrap && len(args) == 2 // "gateway list CONFIG"
	f.pruneGiven = c.Flags().Changed("prune-over")
	path := args[len(args)-1]
	given := settings.Given(c.Flags(), settings.HTTP)
	switch {
	case len(given) > 0 && !f.overHTTP:
		return command.Usagef("--%s is for a server over HTTP; add --http", slices.Min(slices.Collect(maps.Keys(given))))
	case f.wrap && (f.overHTTP || f.listing || f.reporting || f.mapFile != "" || f.tokens != ""):
		return command.Usagef("--wrap serves one server over stdio; leave the other flags out")
	case f.wrap && f.pruneOver == 0:
		return f.relay(c.Context(), p, args)
	case f.wrap:
		return command.Exit(serveStdio(c.Context(), p, f.offer(func(note func(string, map[string]any), changed func(...string)) (*gateway.Gateway, error) {
			return gateway.Open(f.wrapped(p, args, note, changed))
		})))
	case f.asJSON && !f.reporting:
		return command.Usagef("--json is a form of the report; add --report")
	case f.listing && f.reporting:
		return command.Usagef("--list or --report?")
	case f.listing:
		return f.list(c.Context(), p, path)
	case f.reporting:
		return f.report(c.Context(), p, path)
	}
	return f.serve(c.Context(), p, path, given)
}

func (f *gatewayFlags) list(ctx context.Context, p command.Process, path string) error {
	g, err := f.asked(ctx, p, path)
	if err != nil {
		return err
	}
	defer g.Close()
	return g.WriteList(p.Stdout, g.ModeFor(""))
}

func (f *gatewayFlags) report(ctx context.Context, p command.Process, path string) error {
	g, err := f.asked(ctx, p, path)
	if err != nil {
		return err
	}
	defer g.Close()
	rows := g.Report(tokens.EstimateAll)
	if f.asJSON {
		return json.NewEncoder(p.Stdout).Encode(map[string]any{"rows": rows})
	}
	return gateway.WriteReport(p.Stdout, rows)
}

// asked returns a gateway whose servers have had time to answer.
func (f *gatewayFlags) asked(ctx context.Context, p command.Process, path string) (*gateway.Gateway, error) {
	g, err := f.open(p, path)
	if err != nil {
		return nil, err
	}
	g.Wait(ctx, upstreamsWithin, false)
	if err := g.Check(); err != nil {
		g.Close()
		return nil, command.Usagef("%v", err)
	}
	return g, nil
}

// serve serves the upstreams' tools. The flags are those of a server over HTTP.
func (f *gatewayFlags) serve(ctx context.Context, p command.Process, path string, flags map[string]string) error {
	open := f.offer(func(note func(string, map[string]any), changed func(...string)) (*gateway.Gateway, error) {
		return f.openWith(p, path, !f.overHTTP, note, changed)
	})
	if f.overHTTP {
		return command.Exit(overHTTP{door: "gateway", form: assemble.HTTP, other: open}.serve(ctx, p, flags, fsm.LogJSON))
	}
	return command.Exit(serveStdio(ctx, p, open))
}

// offer returns what a server offers of a gateway that is opened when the server starts.
func (f *gatewayFlags) offer(open func(note func(string, map[string]any), changed func(...string)) (*gateway.Gateway, error)) offer {
	return func(emit func(fsm.Event)) (*assemble.Offer, error) {
		var tell atomic.Pointer[func(lists ...string)]
		g, err := open(note(emit), func(lists ...string) {
			if changed := tell.Load(); changed != nil {
				(*changed)(lists...)
			}
		})
		if err != nil {
			return nil, err
		}
		if err := g.Check(); err != nil {
			g.Close()
			return nil, err
		}
		return &assemble.Offer{
			List: g.Tools, Instruct: g.Instructions, Notified: g.Notified, Features: g.Features(), Prunes: g.Prunes(), Close: g.Close,
			Tell: func(changed func(lists ...string)) { tell.Store(&changed) },
		}, nil
	}
}

// relay wraps a server whose results pass untouched.
func (f *gatewayFlags) relay(ctx context.Context, p command.Process, line []string) error {
	command.BoundTightly(p.Lookup)
	code, err := gateway.Relay(ctx, connect.Config{Command: line[0], Args: line[1:]}, p.Env, f.target, p.Stdin, p.Stdout, p.Stderr)
	if err != nil {
		return err
	}
	return command.Exit(code)
}

// wrapped returns the options of a gateway for one server, which is started as its client would start it.
func (f *gatewayFlags) wrapped(p command.Process, line []string, note func(string, map[string]any), changed func(...string)) gateway.Options {
	server := connect.Config{Name: gateway.NameOf(line), Command: line[0], Args: line[1:]}
	return gateway.Options{
		Servers: []connect.Config{server}, Mode: gateway.Trim, Bare: true, Wrap: true, Target: f.target,
		Maps:    upstream.Mappings{server.Name: {PruneOver: max(f.pruneOver, 0)}},
		Version: buildVersion(), OneClient: true, Env: p.Env, Note: note, Changed: changed, Stderr: stderrTo(note),
	}
}

// stderrTo makes events of the lines that servers write to their standard error.
func stderrTo(note func(string, map[string]any)) func(server, line string) {
	return func(server, line string) {
		note("gateway.upstream_stderr", map[string]any{"upstream": server, "message": line})
	}
}

func (f *gatewayFlags) open(p command.Process, path string) (*gateway.Gateway, error) {
	g, err := f.openWith(p, path, false, note(nil), nil)
	if err != nil {
		return nil, command.Usagef("%v", err)
	}
	return g, nil
}

func (f *gatewayFlags) openWith(p command.Process, path string, oneClient bool, note func(string, map[string]any), changed func(lists ...string)) (*gateway.Gateway, error) {
	raw, err := readConfig(p, path, oneClient)
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be read: %w", err)
	}
	servers, err := connect.ReadConfig(raw, p.Lookup)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	limits, err := connect.ReadLimits(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	o := gateway.Options{
		Servers: servers, Mode: f.mode, SplitRW: f.splitRW, Bare: f.bare, Target: f.target,
		Version: buildVersion(), OneClient: oneClient, Limits: limits, Env: upstreamEnv(p.Env), Note: note, Changed: changed, Stderr: stderrTo(note),
	}
	if f.tokens != "" {
		file := web.SubjectTokens(f.tokens)
		if err := file.Check(); err != nil {
			return nil, fmt.Errorf("--subject-tokens: %w", err)
		}
		o.SubjectToken = file.Token
	}
	if f.mapFile != "" {
		raw, err := os.ReadFile(f.mapFile)
		if err != nil {
			return nil, fmt.Errorf("the mapping file cannot be read: %w", err)
		}
		if o.Maps, err = upstream.ParseMappings(raw, o.Names()); err != nil {
			return nil, err
		}
	}
	o.Maps = f.pruning(p, o)
	return gateway.Open(o)
}

// pruneOverWithStore is the number of characters over which results are cut where originals outlive the process, unless a flag or the
// mapping file names another.
const pruneOverWithStore = 16_000

// pruning returns the mappings of the servers with the limit over which their results are cut.
func (f *gatewayFlags) pruning(p command.Process, o gateway.Options) upstream.Mappings {
	over := f.pruneOver
	if store, _ := p.Lookup(settings.Store); store != "" && !f.pruneGiven {
		over = pruneOverWithStore
	}
	all := upstream.Mappings{}
	maps.Copy(all, o.Maps)
	for _, name := range o.Names() {
		m, mapped := all[name]
		if m.PruneOver = cmp.Or(m.PruneOver, over); mapped || m.PruneOver != 0 {
			all[name] = m
		}
	}
	return all
}

// readConfig reads a file, or the standard input unless that carries MCP.
func readConfig(p command.Process, path string, overStdio bool) ([]byte, error) {
	switch {
	case path != "-":
		return os.ReadFile(path)
	case overStdio:
		return nil, errors.New("the standard input carries MCP; name a file")
	}
	return io.ReadAll(p.Stdin)
}

// note turns notes about upstream servers into events. With a nil emit they are dropped.
func note(emit func(fsm.Event)) func(string, map[string]any) {
	return func(name string, facts map[string]any) {
		if emit != nil {
			emit(fsm.NewEvent(name, "", facts))
		}
	}
}

// upstreamEnv returns the environment that upstream servers get in addition to their own entries.
func upstreamEnv(env []string) []string {
	hidden := tools.Hidden(env)
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return hidden(name)
	})
}
