package runcmd_test

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"mcp-pruner/cmd/internal/runcmd"
	"mcp-pruner/runnerfsm/keeper/signaltest"
)

// TestMain lets the test binary be mcp-pruner: a signal needs a process of its own.
func TestMain(m *testing.M) {
	verbs := map[string]func(context.Context, []string) int{
		"run": func(ctx context.Context, args []string) int {
			return runcmd.Program{Version: "1.2.3"}.Run(ctx, args, os.Environ(), os.Stdin, os.Stdout, os.Stderr)
		},
		"keep": func(ctx context.Context, args []string) int {
			return runcmd.Keep(ctx, args, nil, nil, nil, nil)
		},
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // as the program does
	if len(os.Args) > 1 && verbs[os.Args[1]] != nil {
		os.Exit(verbs[os.Args[1]](context.Background(), os.Args[2:]))
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
