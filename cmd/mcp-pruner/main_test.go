package main

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper/signaltest"
)

var update = flag.Bool("update", false, "write what the commands print into the scripts")

func TestMain(m *testing.M) {
	testscript.Main(signaltest.Tests{M: m}, map[string]func(){"mcp-pruner": main})
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
