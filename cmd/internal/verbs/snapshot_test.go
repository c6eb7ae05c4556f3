package verbs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
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
		unchanged(t, file, string(then), now)
	}
}

// unchanged fails with the lines that are not the same, which are few of many, and says how to update the file.
func unchanged(t *testing.T, file, then, now string) {
	t.Helper()
	if then == now {
		return
	}
	was, is := strings.Split(then, "\n"), strings.Split(now, "\n")
	var diff strings.Builder
	for _, side := range []struct {
		mark        string
		here, there []string
	}{{"-", was, is}, {"+", is, was}} {
		for _, line := range side.here {
			if !slices.Contains(side.there, line) {
				diff.WriteString(side.mark + " " + line + "\n")
			}
		}
	}
	if diff.Len() == 0 {
		diff.WriteString("only the order of lines changed\n")
	}
	t.Errorf("testdata/%s is stale:\n%sif that is meant: go test ./cmd/internal/verbs -update-surface, and read the diff", file, diff.String())
}

// helps returns the output of --help of every verb that is shown.
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
	all = append(all, mcpserver.TextTools(service.New(service.Settings{}))...)
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
