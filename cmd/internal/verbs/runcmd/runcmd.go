// Package runcmd implements the verb run.
package runcmd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
)

// settings returns the runner's settings for a run in the current directory.
func settings(env []string) (inject.Settings, error) {
	dir, err := os.Getwd()
	if err != nil {
		return inject.Settings{}, fmt.Errorf("working directory: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return inject.Settings{}, fmt.Errorf("own executable: %w", err)
	}
	return inject.Settings{Env: env, Dir: dir, Root: dir, Beside: filepath.Dir(exe), Self: exe}, nil
}

func providerNames() string {
	var names []string
	for _, p := range provider.All() {
		names = append(names, p.Name())
	}
	return strings.Join(names, "|")
}

// RunClient runs a command of a client with the streams of this process.
func RunClient(ctx context.Context, line []string, p command.Process) error {
	program, err := system.Here(p.Env).ClientPath(line[0], line[1:])
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, line[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Env, p.Stdin, p.Stdout, p.Stderr
	return cmd.Run()
}
