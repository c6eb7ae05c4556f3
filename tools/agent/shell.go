package agent

import (
	"slices"
	"strings"
)

// Shell is a language of command lines.
type Shell int

// The languages in which clients run commands.
const (
	POSIX Shell = iota
	PowerShell
	CMD
)

// Shells are the shells of a client on Windows.
type Shells struct {
	Hooks Shell // by which it runs its hooks
	Tools Shell // by which its model runs commands
}

// HookShell returns the shell by which the client runs its hooks. system is a name as in runtime.GOOS.
func (c *Client) HookShell(system string) Shell {
	if system == "windows" {
		return c.Shells.Hooks
	}
	return POSIX
}

// ToolShell returns the shell by which the client's model runs commands.
func (c *Client) ToolShell(system string) Shell {
	if system == "windows" {
		return c.Shells.Tools
	}
	return POSIX
}

// shellTools are the tools of clients and benchmarks that run a shell command where the agent works, in lower case.
var shellTools = []string{"bash", "bash_execute", "execute_bash", "shell", "local_shell", "shell_command", "run_shell_command", "exec_command", "execute_command",
	"run_command", "run_commands", "run_in_terminal", "run_terminal_cmd", "terminal", "powershell"}

// IsShellTool reports whether a client's tool of its own runs a shell command. Hooks, the proxy, replay and context ask it.
func IsShellTool(name string) bool { return slices.Contains(shellTools, strings.ToLower(name)) }

// plain are the characters that mean nothing to any of the shells.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:+"

// Start returns the beginning of a command that starts the program at a path. ok is false if the shell cannot do that:
// Codex gives cmd.exe the whole command with each quote escaped, so there can be none around a path.
func (s Shell) Start(system, path string) (command string, ok bool) {
	if system == "windows" && s != CMD {
		path = strings.ReplaceAll(path, `\`, "/") // Git Bash and PowerShell accept both; a backslash would need quotes in one
	}
	isPlain := strings.Trim(path, plain) == ""
	switch {
	case s == CMD:
		return path, strings.Trim(path, plain+`\`) == ""
	case isPlain:
		return path, true
	case s == PowerShell:
		return "& '" + strings.ReplaceAll(path, "'", "''") + "'", true
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'", true
}
