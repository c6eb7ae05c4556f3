package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper/signaltest"
)

var update = flag.Bool("update", false, "write what the commands print into the scripts")

func TestMain(m *testing.M) {
	testscript.Main(tests{signaltest.Tests{M: m}}, map[string]func(){"mcp-pruner": main})
}

// tests removes at the end what is built once for all of them.
type tests struct{ signaltest.Tests }

func (t tests) Run() int {
	defer func() { _ = os.RemoveAll(builtIn) }() // nothing if none needed it
	return t.Tests.Run()
}

var builtIn string // the folder of buildOnce

// buildOnce builds the program as a user gets it, in a folder where every user may run it.
var buildOnce = sync.OnceValues(func() (path string, err error) {
	if builtIn, err = os.MkdirTemp("", "mcp-pruner-built"); err != nil {
		return "", err
	}
	if err := os.Chmod(builtIn, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(builtIn, "mcp-pruner")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// built returns the path of the program without the race detector, which takes a second to start and would make 200 runs
// take minutes.
func built(t *testing.T) string {
	t.Helper()
	path, err := buildOnce()
	require.NoError(t, err)
	return path
}

// TestScripts runs the program as a user does; testdata/scripts has the commands.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/scripts",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PRUNER_URL", "")
			e.Setenv("MCP_PRUNER_LOG_LEVEL", "error")
			e.Setenv("HOME", e.WorkDir)
			return os.MkdirAll(e.WorkDir, 0o755)
		},
	})
}
