package runcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"mcp-pruner/runnerfsm"
)

const installUsage = `usage: mcp-pruner install claude|codex [the client's options]

Adds the server to the client's own configuration, with the client's own command
("claude mcp add-json", "codex mcp add"), and says what it did. The server then
serves the directory the client works in. Options go to that command: for claude,
--scope user adds it for every project.

JEEVES_PRUNER_URL=embedded in the environment makes it prune by itself; without
it output goes to a service at http://localhost:8000/prune.
`

// Install is the verb install.
func Install(ctx context.Context, args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if isHelp(args) || len(args) > 1 && isHelp(args[1:]) {
		fmt.Fprint(stdout, installUsage)
		return exitOK
	}
	installer, ok := installers()[first(args)]
	if !ok {
		return usageError(stderr, errors.New("install what: claude or codex?"), installUsage)
	}
	_, servers, code := injection(env, stderr)
	if code != exitOK {
		return code
	}
	notePruner(ctx, servers, stderr)
	command := installer.command(lasting(servers[runnerfsm.ServerName]), args[1:])
	fmt.Fprintf(stdout, "running: %s\n", shellLine(command))
	if err := runClient(ctx, command, env, stdin, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "mcp-pruner: %s did not add the server: %v\n", command[0], err)
		return exitFail
	}
	fmt.Fprint(stdout, installer.after)
	return exitOK
}

// installer is how one client adds a server.
type installer struct {
	command func(s runnerfsm.Server, options []string) []string
	after   string // what a user may want to do next
}

func installers() map[string]installer {
	return map[string]installer{
		"claude": {claudeInstall, `check:  claude mcp list
allow its tools without asking:  claude --allowedTools mcp__pruner
remove: claude mcp remove pruner
`},
		"codex": {codexInstall, `check:  codex mcp list
allow its tools without asking, in ~/.codex/config.toml under [mcp_servers.pruner]:
  default_tools_approval_mode = "approve"
remove: codex mcp remove pruner
`},
	}
}

func claudeInstall(s runnerfsm.Server, options []string) []string {
	command := append([]string{"claude", "mcp", "add-json"}, options...)
	return append(command, runnerfsm.ServerName, s.JSON())
}

func codexInstall(s runnerfsm.Server, options []string) []string {
	command := append([]string{"codex", "mcp", "add"}, options...)
	for _, entry := range s.EnvList() {
		command = append(command, "--env", entry)
	}
	command = append(command, runnerfsm.ServerName, "--", s.Command)
	return append(command, s.Args...)
}

// lasting is the entry for every session to come: without the root of this one,
// so that the server serves the directory it is started in.
func lasting(s runnerfsm.Server) runnerfsm.Server {
	env := make(map[string]string, len(s.Env))
	for name, value := range s.Env {
		if name != "MCP_PRUNER_CWD" {
			env[name] = value
		}
	}
	s.Env = env
	return s
}

func runClient(ctx context.Context, command, env []string, stdin io.Reader, stdout, stderr io.Writer) error {
	program := runnerfsm.LookPath(command[0], env)
	if program == "" {
		return fmt.Errorf("%s is not on PATH", command[0])
	}
	cmd := exec.CommandContext(ctx, program, command[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, stdin, stdout, stderr
	return cmd.Run()
}

func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if strings.Trim(w, shellPlain) != "" {
			quoted[i] = shellQuote(w)
		}
	}
	return strings.Join(quoted, " ")
}

// shellPlain are the characters that need no quotes in a shell.
const shellPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@+"

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
