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

const configUsage = `usage: mcp-pruner config --provider claude|codex|json

Prints what "mcp-pruner run" would inject here, to be wired by hand:
  claude  the argument of --mcp-config
  codex   --config arguments for codex exec, and the section of config.toml
  json    the mcpServers record, for the Agent SDK and other clients
What else the client needs is said on standard error.
`

// Config is the verb config.
func Config(ctx context.Context, args, env []string, _ io.Reader, stdout, stderr io.Writer) int {
	if isHelp(args) {
		fmt.Fprint(stdout, configUsage)
		return exitOK
	}
	f, err := parseConfig(args)
	if err != nil {
		return usageError(stderr, err, configUsage)
	}
	set, servers, code := injection(env, stderr)
	if code != exitOK {
		return code
	}
	out := bufio.NewWriter(stdout)
	f.print(out, runnerfsm.Launch{Servers: servers, Passed: set.Passed()})
	if err := out.Flush(); err != nil {
		fmt.Fprintln(stderr, "mcp-pruner config:", err)
		return exitFail
	}
	fmt.Fprintf(stderr, "for: %s\n", f.hint)
	fmt.Fprintln(stderr, "note: MCP_PRUNER_CWD is this directory; leave it out where other projects read it too: the server then serves the one it is started in")
	notePruner(ctx, servers, stderr)
	if !set.Enabled() {
		fmt.Fprintln(stderr, "note: \"mcp-pruner run\" injects nothing: JEEVES_PRUNER_ENABLED is not 1, true, yes or on")
	}
	return exitOK
}

func parseConfig(args []string) (form, error) {
	var f form
	chosen := func(name string) error {
		var ok bool
		if f, ok = configForms()[name]; !ok {
			return errors.New("not one of claude, codex, json")
		}
		return nil
	}
	others, after, err := takeOptions(args, []option{{"--provider", chosen}})
	switch extra := append(others, after...); {
	case err != nil:
		return form{}, err
	case len(extra) > 0:
		return form{}, fmt.Errorf("there is no argument %q", extra[0])
	case f.print == nil:
		return form{}, errors.New("--provider is missing: claude, codex or json")
	}
	return f, nil
}

// form prints servers for one client; hint says what else that client needs.
type form struct {
	print func(io.Writer, runnerfsm.Launch)
	hint  string
}

// configForms are the forms that --provider chooses from.
func configForms() map[string]form {
	return map[string]form{
		"claude": {jsonConfig, "claude -p --mcp-config=JSON; its tools are allowed with --allowedTools=mcp__" + runnerfsm.ServerName},
		"codex":  {codexConfig, "codex exec with the first part, or ~/.codex/config.toml with the second"},
		"json":   {jsonConfig, "every client that reads an mcpServers record"},
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
