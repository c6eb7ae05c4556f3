package runcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// ConfigCommand returns the verb config.
func ConfigCommand(p command.Process) *cobra.Command {
	var f form
	var allowBash bool
	c := &cobra.Command{
		Use: "config --provider claude|codex|json", Short: "Print what run would inject, to wire it by hand", Args: command.NoArguments,
		Long: `Prints what "mcp-pruner run" would inject here, to be wired by hand. What else the
client needs is said on standard error. The client may use read and grep without
asking.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.print == nil {
				return command.Usagef("--provider is missing: claude, codex or json")
			}
			return printConfig(c.Context(), p, f, allowBash)
		},
	}
	c.Flags().Func("provider", "claude: the argument of --mcp-config; codex: --config arguments for codex exec, and the section "+
		"of config.toml; json: the mcpServers record, for the Agent SDK and other clients", func(name string) error {
		var ok bool
		if f, ok = configForms()[name]; !ok {
			return errors.New("not one of claude, codex, json")
		}
		return nil
	})
	command.CompleteFlag(c, "provider", slices.Sorted(maps.Keys(configForms()))...)
	c.Flags().BoolVar(&allowBash, "allow-bash", false, allowBashUsage)
	return c
}

// printConfig prints a form.
func printConfig(ctx context.Context, p command.Process, f form, allowBash bool) error {
	set, servers, code := injection(p.Env, p.Stderr)
	if code != command.OK {
		return command.Exit(code)
	}
	out := bufio.NewWriter(p.Stdout)
	launch := provider.Launch{Servers: servers, Passed: set.Passed(), Tools: set.Tools(allowBash)}
	f.print(out, launch)
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(p.Stderr, "for: %s\n", f.hint(launch))
	fmt.Fprintln(p.Stderr, "note: MCP_PRUNER_CWD is this directory; leave it out where other projects read it too: the server then serves the one it is started in")
	notePruner(ctx, servers, p.Stderr)
	if !set.Enabled() {
		fmt.Fprintln(p.Stderr, "note: \"mcp-pruner run\" injects nothing: add --pruner embedded there, or set JEEVES_PRUNER_ENABLED=true")
	}
	return nil
}

// form prints servers in the format of one client. hint says what else that client needs.
type form struct {
	print func(io.Writer, provider.Launch)
	hint  func(provider.Launch) string
}

// configForms returns the forms by the values of --provider.
func configForms() map[string]form {
	always := func(hint string) func(provider.Launch) string {
		return func(provider.Launch) string { return hint }
	}
	return map[string]form{
		agent.Claude.Name: {jsonConfig, func(l provider.Launch) string {
			return "claude -p --mcp-config=JSON; these let it use the tools without asking: " + shellLine(provider.ClaudeTools(inject.ServerName, l.Tools))
		}},
		agent.Codex.Name: {codexConfig, always("codex exec with the first part, or ~/.codex/config.toml with the second")},
		"json":           {jsonConfig, always("every client that reads an mcpServers record")},
	}
}

func jsonConfig(w io.Writer, l provider.Launch) { fmt.Fprintln(w, l.Servers.JSON()) }

// codexConfig prints the configuration for Codex. It omits the settings that suit only a single run,
// because all sessions share the file: a required server that is missing, for example, would end every
// session.
func codexConfig(w io.Writer, l provider.Launch) {
	for _, s := range provider.CodexConfig(l) {
		fmt.Fprintf(w, "--config %s\n", shellQuote(s))
	}
	section := "mcp_servers." + inject.ServerName
	fmt.Fprintf(w, "\n[%s]\n", section)
	l.Servers = inject.Servers{inject.ServerName: lasting(l.Servers[inject.ServerName])}
	for _, s := range provider.CodexConfig(l) {
		key, value, _ := strings.Cut(strings.TrimPrefix(s, section+"."), "=")
		if key != "required" && key != "enabled" {
			fmt.Fprintf(w, "%s = %s\n", key, value)
		}
	}
}

// shellQuote quotes a word for a POSIX shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
