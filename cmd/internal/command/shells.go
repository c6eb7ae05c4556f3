package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Self returns the path of this program. onPath reports whether a shell finds it as "mcp-pruner"; the path is then
// the one on PATH, which may be a symbolic link that stays valid after an upgrade.
func Self() (path string, onPath bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", false, err
	}
	found, err := exec.LookPath("mcp-pruner")
	if err != nil || !sameFile(found, self) {
		return self, false, nil
	}
	if found, err = filepath.Abs(found); err != nil {
		return self, false, nil
	}
	return found, true, nil
}

// InNpxCache reports whether a program lies in npx's cache, which npx may empty. system is a name as in runtime.GOOS.
func InNpxCache(path, system string) bool {
	return strings.Contains(path, "/_npx/") || system == "windows" && strings.Contains(path, `\_npx\`)
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Shell is a language of command lines.
type Shell int

// The languages in which clients run commands.
const (
	POSIX Shell = iota
	PowerShell
	CMD
)

// HookShell returns the shell by which a client runs its hooks. system is a name as in runtime.GOOS. On Windows,
// Claude Code uses Git Bash, Codex cmd.exe, and Gemini CLI PowerShell.
func HookShell(system, client string) Shell {
	if system == "windows" && client == "codex" {
		return CMD
	}
	return ToolShell(system, client)
}

// ToolShell returns the shell by which a client's agent runs commands.
func ToolShell(system, client string) Shell {
	if system == "windows" && (client == "codex" || client == "gemini") {
		return PowerShell
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
