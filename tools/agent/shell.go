package agent

import "strings"

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
