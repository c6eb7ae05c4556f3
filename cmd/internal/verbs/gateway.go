package verbs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/gateway"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/takeover"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// How long the verbs wait for upstream servers.
const (
	upstreamsWithin = 60 * time.Second // list and --report: npx may download a package first
)

// gatewayFlags are the flags that the gateway's verbs share.
type gatewayFlags struct {
	mode    string
	splitRW bool
	bare    bool
	target  float64
	mapFile string
	tokens  string
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

// gatewayCommand is the verb gateway.
func gatewayCommand(p command.Process) *cobra.Command {
	var f gatewayFlags
	var overHTTP, list, report, asJSON bool
	c := &cobra.Command{
		Use:   "gateway [flags] CONFIG",
		Short: "Serve the tools of other MCP servers in fewer tokens",
		Long: `Starts the MCP servers of CONFIG, a file with {"mcpServers": {...}} as clients use
it ("-" is the standard input, except over stdio), and serves their tools: as a few tools with an action parameter, or, for clients
that search tools themselves, under their own names with less text. Calls, results,
errors, progress and questions to the client pass through.

docs/GATEWAY.md has the forms, the mapping file, and when not to use it.`,
		Example: `  mcp-pruner gateway --report servers.json
  claude mcp add all -- mcp-pruner gateway servers.json
  mcp-pruner gateway --http --port 8010 servers.json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 2 && args[0] == "list" {
				args = args[1:]
			}
			return command.OneArgument("CONFIG")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			list = list || len(args) == 2 // "gateway list CONFIG"
			path := args[len(args)-1]
			switch {
			case asJSON && !report:
				return command.Usagef("--json is a form of the report; add --report")
			case list && report:
				return command.Usagef("--list or --report?")
			case list:
				return f.list(c.Context(), p, path)
			case report:
				return f.report(c.Context(), p, path, asJSON)
			case overHTTP:
				return f.serve(c.Context(), p, path, settings.Given(c.Flags(), settings.HTTP))
			}
			return f.serve(c.Context(), p, path, nil)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&overHTTP, "http", false, "serve over HTTP, as the verb serve does")
	c.Flags().BoolVar(&list, "list", false, "print what is exposed of each server, and why, and end")
	c.Flags().BoolVar(&report, "report", false, "print bytes and tokens before and after, and end")
	c.Flags().BoolVar(&asJSON, "json", false, "the report as JSON")
	settings.AddFlags(c.Flags(), settings.HTTP)
	c.AddCommand(gatewayInitCommand(p))
	return command.EndsItself(c)
}

func (f *gatewayFlags) list(ctx context.Context, p command.Process, path string) error {
	g, err := f.open(p, path, note(nil))
	if err != nil {
		return err
	}
	defer g.Close()
	g.Wait(ctx, upstreamsWithin, false)
	if err := g.Check(); err != nil {
		return command.Usagef("%v", err)
	}
	return g.WriteList(p.Stdout, g.ModeFor(""))
}

func (f *gatewayFlags) report(ctx context.Context, p command.Process, path string, asJSON bool) error {
	g, err := f.open(p, path, note(nil))
	if err != nil {
		return err
	}
	defer g.Close()
	g.Wait(ctx, upstreamsWithin, false)
	if err := g.Check(); err != nil {
		return command.Usagef("%v", err)
	}
	rows := g.Report(tokens.EstimateAll)
	if asJSON {
		return json.NewEncoder(p.Stdout).Encode(map[string]any{"rows": rows})
	}
	return gateway.WriteReport(p.Stdout, rows)
}

// serve serves the upstreams' tools, over HTTP where flags are given.
func (f *gatewayFlags) serve(ctx context.Context, p command.Process, path string, flags map[string]string) error {
	open := func(emit func(fsm.Event)) (*offered, error) {
		var tell atomic.Pointer[func(lists ...string)]
		g, err := f.openWith(p, path, flags == nil, note(emit), func(lists ...string) {
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
		return &offered{
			list: g.Tools, instruct: g.Instructions, notified: g.Notified, features: g.Features(), prunes: g.Prunes(), close: g.Close,
			tell: func(changed func(lists ...string)) { tell.Store(&changed) },
		}, nil
	}
	if flags != nil {
		return command.Exit(overHTTP{door: "gateway", tools: true, other: open}.serve(ctx, p, flags, fsm.LogJSON))
	}
	return command.Exit(serveStdio(ctx, p, open))
}

func (f *gatewayFlags) open(p command.Process, path string, note func(string, map[string]any)) (*gateway.Gateway, error) {
	g, err := f.openWith(p, path, false, note, nil)
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
	o := gateway.Options{
		Servers: servers, Mode: f.mode, SplitRW: f.splitRW, Bare: f.bare, Target: f.target,
		Version: buildVersion(), OneClient: oneClient, Env: upstreamEnv(p.Env), Note: note, Changed: changed,
		Stderr: func(server, line string) {
			note("gateway.upstream_stderr", map[string]any{"upstream": server, "message": line})
		},
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
	return gateway.Open(o)
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
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return tools.Withheld(name)
	})
}

// gatewayInitCommand returns the verb gateway init.
func gatewayInitCommand(p command.Process) *cobra.Command {
	var undo, all, show bool
	c := &cobra.Command{
		Use:   "init [--yes] [--show] [--uninstall] " + strings.Join(takeover.Clients(), "|"),
		Short: "Put the servers of a client's configuration behind the gateway, or back",
		Long: `Moves the MCP servers of a client's own configuration into a file of the gateway and
puts the gateway in their place. --uninstall puts them back. Servers over SSE, servers
that the client's rules restrict and this program's own entries stay where they are.

Each server is started once and asked what it has. One that cannot be asked, or has
something that does not pass the gateway, stays too, unless --yes is given.`,
		Args: command.OneArgument("CLIENT"),
		RunE: func(c *cobra.Command, args []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			t, err := takeover.Of(args[0], self, p.Lookup)
			switch {
			case err != nil && !slices.Contains(takeover.Clients(), args[0]):
				return command.Usagef("%v", err)
			case err != nil:
				return err
			}
			t.Rules = append(t.Rules, inject.Settings{Env: p.Env}.Managed(agent.Named(t.Client))...)
			if undo {
				return takeBack(p, t)
			}
			if !all {
				t.Lost = func(servers map[string]any) map[string]string {
					return lost(c.Context(), p, agent.Named(t.Client), servers)
				}
			}
			return takeOver(p, t, show)
		},
	}
	c.Flags().BoolVarP(&all, "yes", "y", false, "move servers, too, that lose something or cannot be asked now")
	c.Flags().BoolVar(&undo, "uninstall", false, "put the servers back")
	c.Flags().BoolVar(&show, "show", false, "say what would be moved, and change nothing")
	c.MarkFlagsMutuallyExclusive("show", "uninstall")
	return c
}

// lost starts servers and returns what each of them would lose behind the gateway.
func lost(ctx context.Context, p command.Process, client *agent.Client, servers map[string]any) map[string]string {
	raw, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return nil // they were decoded from a file
	}
	configs, err := connect.ReadConfig(raw, p.Lookup)
	if err != nil {
		return nil // what a name is wrong with, the gateway says
	}
	ctx, cancel := context.WithTimeout(ctx, upstreamsWithin)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	losses := map[string]string{}
	for _, c := range configs {
		all.Go(func() {
			why := withheld(p.Env, client, c)
			if why == "" {
				why = gateway.Lost(ctx, c, buildVersion(), upstreamEnv(p.Env))
			}
			if why != "" {
				mu.Lock()
				defer mu.Unlock()
				losses[c.Name] = why + "; --yes moves it all the same"
			}
		})
	}
	all.Wait()
	return losses
}

// withheld says which variables a server gets from its client, and would not get from the gateway, or returns "".
func withheld(env []string, client *agent.Client, c connect.Config) string {
	var names []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if _, own := c.Env[name]; !own && tools.ClientSecret(name) {
			names = append(names, name)
		}
	}
	if client.Servers.OnlyNamed || c.URL != "" || len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf("the gateway would withhold %s from it; if it needs that, name it in the env of its entry", strings.Join(names, ", "))
}

// takeOver moves a client's servers, or prints the moves that it would make.
func takeOver(p command.Process, t takeover.Takeover, show bool) error {
	do, what := t.Install, "Now behind the gateway (%[2]s): %[1]s. \"mcp-pruner gateway init --uninstall %[3]s\" takes that back.\n"
	if show {
		do, what = t.Plan, "%[1]s would go through the gateway (%[2]s). Nothing was changed: \"mcp-pruner gateway init %[3]s\" does it.\n"
	}
	moved, stay, err := do()
	if err != nil {
		return fmt.Errorf("%s: %w", t.File, err)
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(stay)) {
		fmt.Fprintf(&out, "%s stays with the client: %s.\n", name, stay[name])
	}
	if len(moved) == 0 {
		fmt.Fprintf(&out, "%s has no server to take over; nothing was changed.\n", t.File)
	} else {
		fmt.Fprintf(&out, what, strings.Join(moved, ", "), t.Config, t.Client)
	}
	for _, rule := range t.Stale {
		out.WriteString(rewritten(rule, t.Config))
	}
	_, err = io.WriteString(p.Stdout, out.String())
	return err
}

// rewritten says how a rule is to be written anew.
func rewritten(r takeover.Rewrite, config string) string {
	if r.New == "" {
		return fmt.Sprintf("The rule %s matches no tool behind the gateway. \"mcp-pruner gateway --list %s\" prints the tools there; write a rule for one of them.\n", r.Old, config)
	}
	return fmt.Sprintf("The rule %s matches no tool behind the gateway. To keep it, write %s in its place.\n", r.Old, r.New)
}

func takeBack(p command.Process, t takeover.Takeover) error {
	done, err := t.Uninstall()
	if err != nil {
		return fmt.Errorf("%s: %w", t.File, err)
	}
	what := "has no gateway of ours; nothing was changed."
	if done.Changed {
		what = "has its servers back."
	}
	if _, err := fmt.Fprintf(p.Stdout, "%s %s\n", t.File, what); err != nil || done.Left == "" {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s.\n", done.Left)
	return err
}
