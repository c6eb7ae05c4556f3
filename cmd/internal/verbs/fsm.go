package verbs

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/fsm"
)

var fsmFormats = map[string]func(io.Writer, []fsm.Table){
	"table": writeTables, "mermaid": ofOne(writeMermaid), "dot": ofOne(writeDot), "json": writeTablesJSON, "docs": writeStatesPage,
}

// fsmDiagrams are of one machine: what draws them takes one to a file.
var fsmDiagrams = []string{"mermaid", "dot"}

func ofOne(diagram func(io.Writer, fsm.Table)) func(io.Writer, []fsm.Table) {
	return func(out io.Writer, chosen []fsm.Table) { diagram(out, chosen[0]) }
}

func fsmCommand(p command.Process) *cobra.Command {
	machine, format := "", "table"
	c := &cobra.Command{
		Use:   "fsm",
		Short: "Print the state machines: table, diagram or JSON",
		Long: `Prints the state machines this program runs requests and runs by.

The formats are: table, columns for a terminal; mermaid, a diagram that GitHub draws,
of one machine; dot, a diagram for Graphviz, of one machine; json, the rows and the
hash that traces name the table by; docs, the page docs/STATES.md.`,
		Example: `  mcp-pruner fsm --machine request
  mcp-pruner fsm --machine run --format dot | dot -Tsvg > run.svg`,
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			chosen, err := chosenTables(machine, format)
			if err != nil {
				return err
			}
			var page bytes.Buffer
			fsmFormats[format](&page, chosen)
			_, err = p.Stdout.Write(page.Bytes())
			return err
		},
	}
	all := tableNames(fsm.Tables())
	c.Flags().Var(command.Choice(&machine, all...), "machine", "one of "+strings.Join(all, ", ")+" (default: all)")
	c.Flags().Var(command.Choice(&format, "table", "mermaid", "dot", "json", "docs"), "format", "of the output")
	return c
}

func chosenTables(machine, format string) ([]fsm.Table, error) {
	all := fsm.Tables()
	switch {
	case machine != "":
		i := slices.Index(tableNames(all), machine)
		return all[i : i+1], nil
	case slices.Contains(fsmDiagrams, format):
		return nil, command.Usagef("a diagram is of one machine: choose it with --machine (%s)", strings.Join(tableNames(all), ", "))
	}
	return all, nil
}

func tableNames(tables []fsm.Table) []string {
	var all []string
	for _, t := range tables {
		all = append(all, t.Name)
	}
	return all
}
