package verbs

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
)

var updateSurface = flag.Bool("update-surface", false, "write testdata/surface.txt")

const surfaceFile = "../../../testdata/surface.txt"

// TestSurface: what scripts and configurations of others rely on does not change
// unseen. testdata/surface.txt lists verbs, flags, settings with their defaults and
// allowed values, tools and exit codes.
func TestSurface(t *testing.T) {
	now := strings.Join(surface(), "\n") + "\n"
	if *updateSurface {
		require.NoError(t, os.WriteFile(surfaceFile, []byte(now), 0o644))
	}
	text, err := os.ReadFile(surfaceFile)
	require.NoError(t, err)
	unchanged(t, "surface.txt", string(text), now)
}

// surface lists it, sorted.
func surface() []string {
	var lines []string
	root := Root(command.Process{Stdin: &bytes.Buffer{}, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}})
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		lines = append(lines, "verb "+c.CommandPath())
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { lines = append(lines, fmt.Sprintf("flag %s --%s", c.CommandPath(), f.Name)) })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	for _, program := range []settings.Program{settings.Stdio, settings.HTTP, settings.Pruner, settings.Runner} {
		for _, row := range settings.Rows(program) {
			lines = append(lines, fmt.Sprintf("setting %s default=%q want %s", row.Name, row.Default, row.Allowed))
		}
	}
	for _, tool := range (inject.Settings{}).Tools(true) {
		lines = append(lines, "tool "+tool)
	}
	lines = append(lines, fmt.Sprintf("exit ok=%d fail=%d usage=%d", command.OK, command.Fail, command.Usage))
	slices.Sort(lines)
	return slices.Compact(lines)
}

// TestUnknownFlags: every verb refuses a flag that it does not have with the exit code
// of usage errors.
func TestUnknownFlags(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Hidden || c.Name() == "run" { // run has the flags of its client
			return
		}
		p := command.Process{Stdin: &bytes.Buffer{}, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
		p.Args = append(strings.Fields(c.CommandPath())[1:], "--no-such-flag")
		assert.Equal(t, command.Usage, command.Execute(t.Context(), Root(p), p), c.CommandPath())
	}
	walk(Root(command.Process{Stdin: &bytes.Buffer{}, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}))
}
