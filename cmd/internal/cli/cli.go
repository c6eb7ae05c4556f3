// Package cli is the command line of mcp-pruner: one verb per file, and the
// server itself when there is none.
package cli

import (
	"context"
	"fmt"
	"io"
	"os/signal"

	"mcp-pruner/cmd/internal/fsmcmd"
	"mcp-pruner/cmd/internal/prunecmd"
	"mcp-pruner/cmd/internal/prunerservice"
	"mcp-pruner/cmd/internal/replay"
	"mcp-pruner/cmd/internal/runcmd"
	"mcp-pruner/cmd/internal/tracecmd"
)

// Process is what a verb gets of the operating system.
type Process struct {
	Args   []string // without the program's name
	Env    []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// Exit codes.
const (
	exitOK    = 0
	exitFail  = 1
	exitUsage = 2
)

// verb is one command.
type verb struct {
	name, help string
	run        func(context.Context, Process) int
}

func verbs() []verb {
	return []verb{
		{"serve", "serve over HTTP on this machine, to any number of clients", serveHTTP},
		{"prune", "prune a file or standard input to a question", prune},
		{"demo", "read a file over the real server with a question: before and after", demo},
		{"run", "run claude or codex with the server injected", run},
		{"config", "print what run would inject, to wire it by hand", config},
		{"install", "add the server to claude's or codex's own configuration", install},
		{"pruner", "serve prune_text, recover_text and POST /prune over HTTP on this machine", prunerHTTP},
		{"doctor", "say what the server would find: shell, rg, pruner, root, settings", doctor},
		{"trace", "verify, sum up or draw what MCP_PRUNER_TRACE recorded", trace},
		{"replay", "say what pruning would have saved and lost in your own sessions", replaySessions},
		{"fsm", "print the state machines: table, diagram or JSON", machines},
		{"version", "print the version", version},
	}
}

func machines(ctx context.Context, p Process) int {
	return fsmcmd.Run(ctx, p.Args, p.Stdin, p.Stdout, p.Stderr)
}

func replaySessions(ctx context.Context, p Process) int {
	return replay.Run(ctx, p.Args, p.Env, p.Stdout, p.Stderr)
}

func trace(ctx context.Context, p Process) int {
	return tracecmd.Run(ctx, p.Args, p.Stdin, p.Stdout, p.Stderr)
}

func prunerHTTP(ctx context.Context, p Process) int {
	return prunerservice.Run(ctx, buildVersion(), p.Args, p.Env, p.Stdout, p.Stderr)
}

func prune(ctx context.Context, p Process) int {
	return prunecmd.Run(ctx, p.Args, p.Stdin, p.Stdout, p.Stderr)
}

// Run runs the verb that the arguments name and returns the exit code.
func Run(p Process) int {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	surviveClosedPipes()
	if len(p.Args) == 0 {
		return serveStdio(ctx, p)
	}
	name := p.Args[0]
	p.Args = p.Args[1:]
	switch name {
	case "-h", "--help", "help":
		fmt.Fprint(p.Stdout, help())
		return exitOK
	case "-v", "--version":
		return version(ctx, p)
	case "keep": // between run and the client; not for people
		return runcmd.Keep(ctx, p.Args, p.Env, p.Stdin, p.Stdout, p.Stderr)
	}
	for _, v := range verbs() {
		if v.name == name {
			return v.run(ctx, p)
		}
	}
	fmt.Fprintf(p.Stderr, "mcp-pruner: there is no command %q; \"mcp-pruner --help\" lists them\n", name)
	return exitUsage
}

// noArguments serves the help of a verb without arguments and refuses all else.
func noArguments(p Process, name, does string) (code int, done bool) {
	usage := "usage: mcp-pruner " + name + "\n\nIt " + does + ".\n"
	switch {
	case len(p.Args) == 0:
		return exitOK, false
	case p.Args[0] == "-h" || p.Args[0] == "--help":
		fmt.Fprint(p.Stdout, usage)
		return exitOK, true
	}
	fmt.Fprintf(p.Stderr, "mcp-pruner %s: there is no argument %q\n%s", name, p.Args[0], usage)
	return exitUsage, true
}

func help() string {
	text := `mcp-pruner serves MCP over standard input and output: read, bash and grep, whose
output is pruned to the question an agent asks with the call.

usage:
  mcp-pruner                 serve over standard input and output (settings come from the environment)
`
	for _, v := range verbs() {
		text += fmt.Sprintf("  mcp-pruner %-15s %s\n", v.name, v.help)
	}
	return text + `
examples:
  claude mcp add pruner -e PRUNER_URL=embedded -- mcp-pruner
  codex mcp add pruner --env PRUNER_URL=embedded -- mcp-pruner
  go test ./... 2>&1 | mcp-pruner prune -q "which test failed and why"

Settings are listed by "mcp-pruner doctor" and described in docs/CONFIG.md.
`
}
