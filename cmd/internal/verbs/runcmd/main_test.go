package runcmd_test

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/runcmd"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper/signaltest"
)

func verbs(p command.Process) map[string]*cobra.Command {
	return map[string]*cobra.Command{
		"run": runcmd.RunCommand(p, "1.2.3"),
	}
}

// TestMain lets the test binary act as mcp-pruner, because a test of signals needs a process of its own.
func TestMain(m *testing.M) {
	p := command.Process{Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	if len(os.Args) > 1 && os.Args[1] == keeper.Verb {
		os.Exit(keeper.Main(os.Args[2:]))
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // as the program does
	if len(os.Args) > 1 && verbs(p)[os.Args[1]] != nil {
		p.Args = os.Args[2:]
		os.Exit(command.Verb(context.Background(), verbs(p)[os.Args[1]], p))
	}
	os.Exit(signaltest.Tests{M: m}.Run())
}

// place is a directory with fake programs on PATH.
type place struct {
	dir string
	env []string
}

func newPlace(t *testing.T, programs map[string]string) place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := place{dir, []string{"PATH=" + dir + ":/usr/bin:/bin", "WORK=" + dir, "GORACE=atexit_sleep_ms=0", "JEEVES_PRUNER_ENABLED=true"}}
	for name, script := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755))
	}
	return p
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }
