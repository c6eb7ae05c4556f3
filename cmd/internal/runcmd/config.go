package runcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"mcp-pruner/runnerfsm"
)

const configUsage = `usage: mcp-pruner config --provider claude|codex|json [--allow-bash]

Prints what "mcp-pruner run" would inject here, to be wired by hand:
  claude  the argument of --mcp-config
  codex   --config arguments for codex exec, and the section of config.toml
  json    the mcpServers record, for the Agent SDK and other clients
What else the client needs is said on standard error. The client may use read and
grep without asking; --allow-bash adds the server's bash, for which the client's
sandbox does not hold.
`

// Config is the verb config.
func Config(ctx context.Context, args, env []string, _ io.Reader, stdout, stderr io.Writer) int {
	if isHelp(args) {
		fmt.Fprint(stdout, configUsage)
		return exitOK
	}
	f, allowBash, err := parseConfig(args)
	if err != nil {
		return usageError(stderr, err, configUsage)
	}
	set, servers, code := injection(env, stderr)
	if code != exitOK {
		return code
	}
	out := bufio.NewWriter(stdout)
	launch := runnerfsm.Launch{Servers: servers, Passed: set.Passed(), Tools: set.Tools(allowBash)}
	f.print(out, launch)
	if err := out.Flush(); err != nil {
		fmt.Fprintln(stderr, "mcp-pruner config:", err)
		return exitFail
	}
	fmt.Fprintf(stderr, "for: %s\n", f.hint(launch))
	fmt.Fprintln(stderr, "note: MCP_PRUNER_CWD is this directory; leave it out where other projects read it too: the server then serves the one it is started in")
	notePruner(ctx, servers, stderr)
	if !set.Enabled() {
		fmt.Fprintln(stderr, "note: \"mcp-pruner run\" injects nothing: add --pruner embedded there, or set JEEVES_PRUNER_ENABLED=true")
	}
	return exitOK
}

func parseConfig(args []string) (f form, allowBash bool, err error) {
	chosen := func(name string) error {
		var ok bool
		if f, ok = configForms()[name]; !ok {
			return errors.New("not one of claude, codex, json")
		}
		return nil
	}
	others, after, err := takeOptions(args, []option{{name: "--provider", set: chosen}, {name: "--allow-bash", flag: &allowBash}})
	switch extra := append(others, after...); {
	case err != nil:
		return form{}, false, err
	case len(extra) > 0:
		return form{}, false, fmt.Errorf("there is no argument %q", extra[0])
	case f.print == nil:
		return form{}, false, errors.New("--provider is missing: claude, codex or json")
	}
	return f, allowBash, nil
}

// form prints servers for one client; hint says what else that client needs.
type form struct {
	print func(io.Writer, runnerfsm.Launch)
	hint  func(runnerfsm.Launch) string
}

// configForms are the forms that --provider chooses from.
func configForms() map[string]form {
	always := func(hint string) func(runnerfsm.Launch) string {
		return func(runnerfsm.Launch) string { return hint }
	}
	return map[string]form{
		"claude": {jsonConfig, func(l runnerfsm.Launch) string {
			return "claude -p --mcp-config=JSON; these let it use the tools without asking: " + shellLine(runnerfsm.ClaudeTools(runnerfsm.ServerName, l.Tools))
		}},
		"codex": {codexConfig, always("codex exec with the first part, or ~/.codex/config.toml with the second")},
		"json":  {jsonConfig, always("every client that reads an mcpServers record")},
	}
}

func jsonConfig(w io.Writer, l runnerfsm.Launch) { fmt.Fprintln(w, l.Servers.JSON()) }

// codexConfig leaves out of the file, which all sessions share, what only a run can
// afford or needs: a required server that is missing ends every session.
func codexConfig(w io.Writer, l runnerfsm.Launch) {
	for _, s := range runnerfsm.CodexConfig(l) {
		fmt.Fprintf(w, "--config %s\n", shellQuote(s))
	}
	section := "mcp_servers." + runnerfsm.ServerName
	fmt.Fprintf(w, "\n[%s]\n", section)
	l.Servers = runnerfsm.Servers{runnerfsm.ServerName: lasting(l.Servers[runnerfsm.ServerName])}
	for _, s := range runnerfsm.CodexConfig(l) {
		key, value, _ := strings.Cut(strings.TrimPrefix(s, section+"."), "=")
		if key != "required" && key != "enabled" {
			fmt.Fprintf(w, "%s = %s\n", key, value)
		}
	}
}

// shellQuote quotes a word for a POSIX shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
