// Package runcmd is the command line of the runner: run, config, install, and
// keep, which run uses to start a client it can end with all it started.
package runcmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mcp-pruner/pruneclient"
	"mcp-pruner/runnerfsm"
)

// Exit codes of this program; otherwise the exit code is the client's.
const (
	exitOK    = 0
	exitFail  = 1
	exitUsage = 2
)

// settings are the runner's settings for a run in the current directory.
func settings(env []string) (runnerfsm.Settings, error) {
	dir, err := os.Getwd()
	if err != nil {
		return runnerfsm.Settings{}, fmt.Errorf("working directory: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return runnerfsm.Settings{}, fmt.Errorf("own executable: %w", err)
	}
	return runnerfsm.Settings{Env: env, Dir: dir, Root: dir, Beside: filepath.Dir(exe), Self: exe}, nil
}

// injection is what config and install are about: the settings, and the servers
// that would be injected. Where there are none it says why, and code is not 0.
func injection(env []string, stderr io.Writer) (set runnerfsm.Settings, servers runnerfsm.Servers, code int) {
	set, err := settings(env)
	if err != nil {
		fmt.Fprintf(stderr, "mcp-pruner: %v\n", err)
		return set, nil, exitFail
	}
	servers, err = set.Servers()
	if err != nil {
		fmt.Fprintf(stderr, "mcp-pruner: %v\n", err)
		return set, nil, exitUsage
	}
	return set, servers, exitOK
}

// notePruner says when nothing prunes where the server would send its output.
func notePruner(ctx context.Context, servers runnerfsm.Servers, stderr io.Writer) {
	url := servers[runnerfsm.ServerName].Env["PRUNER_URL"]
	if url == "" || url == "embedded" {
		return
	}
	if err := pruneclient.Reach(ctx, url); err != nil {
		fmt.Fprintf(stderr, "note: nothing is pruned while no service answers at PRUNER_URL (%v); with JEEVES_PRUNER_URL=embedded the server prunes by itself\n", err)
	}
}

// option is one "--name VALUE" or "--name=VALUE" of ours, or a bare "--name".
type option struct {
	name string
	set  func(value string) error
	flag *bool // of a bare one; set is nil then
}

// takeOptions takes our options out of args, up to "--", and returns the others
// as they were, and what follows "--".
func takeOptions(args []string, ours []option) (others, after []string, err error) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return others, args[i+1:], nil
		}
		name, value, hasValue := strings.Cut(args[i], "=")
		o, ok := find(ours, name)
		if !ok {
			others = append(others, args[i])
			continue
		}
		if o.flag != nil {
			if hasValue {
				return nil, nil, fmt.Errorf("%s takes no value", name)
			}
			*o.flag = true
			continue
		}
		if !hasValue {
			if i+1 == len(args) || args[i+1] == "--" {
				return nil, nil, fmt.Errorf("%s needs a value", name)
			}
			i++
			value = args[i]
		}
		if err := o.set(value); err != nil {
			return nil, nil, fmt.Errorf("%s=%s: %w", name, value, err)
		}
	}
	return others, nil, nil
}

func find(ours []option, name string) (option, bool) {
	for _, o := range ours {
		if o.name == name {
			return o, true
		}
	}
	return option{}, false
}

// isHelp says whether help is asked for: only as the first argument, since the
// client has options of its own.
func isHelp(args []string) bool {
	return len(args) > 0 && (args[0] == "-h" || args[0] == "--help")
}

func usageError(stderr io.Writer, err error, usage string) int {
	fmt.Fprintf(stderr, "mcp-pruner: %v\n\n%s", err, usage)
	return exitUsage
}

func providerNames() string {
	var names []string
	for _, p := range runnerfsm.Providers() {
		names = append(names, p.Name())
	}
	return strings.Join(names, "|")
}
