package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"mcp-pruner/cmd/internal/command"
	"mcp-pruner/cmd/internal/texttools"
	"mcp-pruner/pruneclient/service"
	"mcp-pruner/tools"
	"mcp-pruner/tools/contextgc"
)

// TestSnapshot: the help of every verb and the definition of every tool are in
// testdata/help.txt and testdata/tools.txt, so that a change of one is seen in review.
func TestSnapshot(t *testing.T) {
	for file, now := range map[string]string{"help.txt": helps(), "tools.txt": definitions(t)} {
		path := "../../../testdata/" + file
		if *updateSurface {
			require.NoError(t, os.WriteFile(path, []byte(now), 0o644))
		}
		then, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(then), now, "testdata/%s is stale: go test ./cmd/internal/cli -update-surface, and read the diff", file)
	}
}

// helps is what --help prints, of every verb that is shown.
func helps() string {
	var out strings.Builder
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		var b bytes.Buffer
		c.SetOut(&b)
		_ = c.Help() // a buffer takes everything
		fmt.Fprintf(&out, "== %s\n%s\n", c.CommandPath(), strings.TrimSpace(b.String()))
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(Root(command.Process{Stdin: &bytes.Buffer{}, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}))
	return out.String()
}

// definitions are the tools of every toolset, as models read them.
func definitions(t *testing.T) string {
	t.Helper()
	all, err := tools.New(tools.Settings{Root: t.TempDir()})
	require.NoError(t, err)
	all = append(all, texttools.New(service.New(service.Settings{}))...)
	all = append(all, contextgc.Toolset{}.Tools()...)
	var out strings.Builder
	for _, tool := range all {
		var schema bytes.Buffer
		require.NoError(t, json.Indent(&schema, tool.InputSchema, "", " "))
		fmt.Fprintf(&out, "== %s\n%s\n%s\n", tool.Name, tool.Description, schema.String())
	}
	fmt.Fprintf(&out, "== instructions\n%s\n", tools.Instructions)
	return out.String()
}
