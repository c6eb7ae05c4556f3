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

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/gateway"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/wrap"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

func gatewayInitCommand(p command.Process) *cobra.Command {
	var undo, all, show bool
	c := &cobra.Command{
		Use:   "init [--yes] [--show] [--uninstall] " + strings.Join(wrap.Clients(), "|"),
		Short: "Shorten the tools of a client's own servers, each where it stands",
		Long: `Writes this program in front of the command of each server in a client's own configuration. The server keeps
its name, and its tools theirs, so that every rule and every setting of the client's holds as before. Servers over
HTTP and servers that a rule names by their command stay as they are. --uninstall takes this program out again.

Each server is started once. One whose list becomes shorter by less than 300 tokens stays as it is, and one that
cannot be asked now, too, unless --yes is given.`,
		Args: command.OneArgument("CLIENT"),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := serversOf(p, cmp.Or(agent.Named(args[0]).Name, args[0]))
			switch {
			case err != nil && !slices.Contains(wrap.Clients(), agent.Named(args[0]).Name):
				return command.Usagef("%v", err)
			case err != nil:
				return err
			case undo:
				return unwrap(p.Stdout, l, true)
			}
			return wrapServers(c.Context(), p, l, all, show)
		},
	}
	c.Flags().BoolVarP(&all, "yes", "y", false, "wrap servers, too, that bring little or cannot be asked now")
	c.Flags().BoolVar(&undo, "uninstall", false, "take this program out again")
	c.Flags().BoolVar(&show, "show", false, "say what would be done, and change nothing")
	c.MarkFlagsMutuallyExclusive("show", "uninstall")
	return c
}

func serversOf(p command.Process, client string) (wrap.List, error) {
	self, err := os.Executable()
	if err != nil {
		return wrap.List{}, err
	}
	return wrap.Of(client, self, p.Lookup, inject.Settings{Env: p.Env}.Managed(agent.Named(client)))
}

// worthwhile is the number of tokens that a server's list has to become shorter by.
const worthwhile = 300

// wrapServers wraps a client's servers, or says what it would do.
func wrapServers(ctx context.Context, p command.Process, l wrap.List, all, show bool) error {
	servers, stay, err := l.Servers()
	if err != nil {
		return fmt.Errorf("%s: %w", l.File.Path, err)
	}
	var lines, names []string
	for _, m := range measured(ctx, p, servers) {
		switch {
		case m.problem != "" && !all:
			stay[m.name] = m.problem + "; --yes wraps it all the same"
		case m.before-m.after < worthwhile && m.problem == "" && !all:
			stay[m.name] = fmt.Sprintf("its tools have %d tokens, and would have %d", m.before, m.after)
		default:
			names = append(names, m.name)
			lines = append(lines, m.String())
		}
	}
	if len(names) > 0 && !show {
		if err := l.Install(names); err != nil {
			return fmt.Errorf("%s: %w", l.File.Path, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stay)) {
		lines = append(lines, fmt.Sprintf("%s stays as it is: %s.", name, stay[name]))
	}
	lines = append(lines, done(l, names, show))
	_, err = io.WriteString(p.Stdout, strings.Join(lines, "\n")+"\n")
	return err
}

// done is the last sentence about the wrapping of servers.
func done(l wrap.List, names []string, show bool) string {
	switch {
	case len(names) == 0:
		return fmt.Sprintf("%s has no server to wrap; nothing was changed.", l.File.Path)
	case show:
		return fmt.Sprintf("Nothing was changed: \"mcp-pruner gateway init %s\" does it.", l.Client.Name)
	}
	return fmt.Sprintf("%s is changed; restart %s. \"mcp-pruner gateway init --uninstall %s\" takes that back.", l.File.Path, l.Client.Title, l.Client.Name)
}

// measure is what the tools of a server take of a model's context.
type measure struct {
	name          string
	before, after int // tokens
	problem       string
}

func (m measure) String() string {
	if m.problem != "" {
		return m.name + ": wrapped; what that brings is not known"
	}
	return fmt.Sprintf("%s: %d tokens of tools become %d", m.name, m.before, m.after)
}

// measured starts servers, all at a time, and asks them for their tools.
func measured(ctx context.Context, p command.Process, servers []wrap.Server) []measure {
	if len(servers) == 0 {
		return nil
	}
	entries := map[string]any{}
	for _, s := range servers {
		entries[s.Name] = map[string]any{"command": s.Command[0], "args": s.Command[1:], "env": s.Env, "cwd": s.Cwd}
	}
	raw, err := json.Marshal(map[string]any{"mcpServers": entries})
	configs, failed := connect.ReadConfig(raw, p.Lookup)
	list := make([]measure, len(configs))
	for i, c := range configs {
		list[i] = measure{name: c.Name, problem: "it cannot be asked for its tools"}
	}
	if errors.Join(err, failed) != nil {
		return list
	}
	g, err := gateway.Open(gateway.Options{
		Servers: configs, Mode: gateway.Trim, Target: upstream.DefaultTarget, Version: buildVersion(), Env: p.Env, Note: note(nil), Stderr: stderrTo(note(nil)),
	})
	if err != nil {
		return list
	}
	defer g.Close()
	g.Wait(ctx, upstreamsWithin, false)
	rows := g.Report(tokens.EstimateAll)
	for i := range list {
		for _, r := range rows {
			if r.Server == list[i].name && r.Problem == "" {
				list[i] = measure{name: r.Server, before: r.Before, after: r.After}
			} else if r.Server == list[i].name {
				list[i].problem += " (" + r.Problem + ")"
			}
		}
	}
	return list
}

// unwrap takes this program out of the entries of a client's servers. loud: it says so, too, if there are none.
func unwrap(w io.Writer, l wrap.List, loud bool) error {
	names, note, err := l.Uninstall()
	if err != nil {
		return fmt.Errorf("%s: %w", l.File.Path, err)
	}
	switch {
	case len(names) > 0:
		_, err = fmt.Fprintf(w, "%s starts %s itself again.\n", l.Client.Title, strings.Join(names, ", "))
	case loud:
		_, err = fmt.Fprintf(w, "%s has no server that is wrapped; nothing was changed.\n", l.File.Path)
	}
	if note != "" {
		_, err = fmt.Fprintf(w, "%s.\n", note)
	}
	return err
}
