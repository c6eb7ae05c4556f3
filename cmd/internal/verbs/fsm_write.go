package verbs

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// writeTables writes columns for a terminal.
func writeTables(out io.Writer, all []fsm.Table) {
	for i, t := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s (hash %s), starts in %s, ends in %s\n\n", t.Name, t.Hash(), t.Initial, joinedStates(t.Terminal, ", "))
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ROW\tFROM\tTRIGGER\tTO\tEVENTS\tMETADATA")
		for _, r := range t.Rows {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Spec, r.From, r.Trigger, r.To, r.Events, r.Sets)
		}
		_ = w.Flush() // to memory
	}
}

// writeTablesJSON writes one table as an object, several as a list.
func writeTablesJSON(out io.Writer, all []fsm.Table) {
	if len(all) == 1 {
		_, _ = out.Write(trace.EncodeTable(all[0]))
		return
	}
	fmt.Fprint(out, "[\n")
	for i, t := range all {
		if i > 0 {
			fmt.Fprint(out, ",\n")
		}
		_, _ = out.Write(bytes.TrimSpace(trace.EncodeTable(t)))
	}
	fmt.Fprint(out, "\n]\n")
}

// writeMermaid writes a state diagram. A colon ends a state's id in Mermaid, so the
// ids are names without the machine's prefix, and the states' own names are
// their labels.
func writeMermaid(out io.Writer, t fsm.Table) {
	fmt.Fprintln(out, "stateDiagram-v2")
	for _, s := range statesOf(t) {
		fmt.Fprintf(out, "    state \"%s\" as %s\n", stateLabel(s), stateID(s))
	}
	fmt.Fprintf(out, "    [*] --> %s\n", stateID(t.Initial))
	for _, r := range t.Rows {
		fmt.Fprintf(out, "    %s --> %s : %s (%s)\n", stateID(r.From), stateID(r.To), r.Trigger, r.Spec)
	}
	for _, s := range t.Terminal {
		fmt.Fprintf(out, "    %s --> [*]\n", stateID(s))
	}
}

// writeDot writes a graph.
func writeDot(out io.Writer, t fsm.Table) {
	fmt.Fprintf(out, "digraph %q {\n\trankdir=TB;\n\tnode [shape=box, style=rounded, fontname=\"sans-serif\"];\n\tedge [fontname=\"sans-serif\", fontsize=10];\n", t.Name)
	for _, s := range statesOf(t) {
		more := ""
		if slices.Contains(t.Terminal, s) {
			more = ", peripheries=2"
		}
		fmt.Fprintf(out, "\t%q [label=%q%s];\n", s, stateLabel(s), more)
	}
	for _, r := range t.Rows {
		fmt.Fprintf(out, "\t%q -> %q [label=\"%s\\n%s\"];\n", r.From, r.To, r.Trigger, r.Spec)
	}
	fmt.Fprintln(out, "}")
}

// writeStatesPage writes docs/STATES.md.
func writeStatesPage(out io.Writer, all []fsm.Table) {
	fmt.Fprint(out, `# The state machines

Made by `+"`mcp-pruner fsm --format docs`"+` (`+"`make docs`"+`) from the tables in `+"`fsm/`"+`; not to be edited. The column "row" cites the design:
T its Transitions, E its Error Handling, A and B the contract's additions. A field alone in the column "metadata" is measured by the work of
the state; all others are fixed. A trace (`+"`docs/AUDIT.md`"+`) names the table its records were made by with the table's hash.
`)
	for _, t := range all {
		fmt.Fprintf(out, "\n## %s\n\nHash `%s`. Starts in `%s`, ends in %s.\n\n```mermaid\n", t.Name, t.Hash(), t.Initial, "`"+joinedStates(t.Terminal, "`, `")+"`")
		writeMermaid(out, t)
		fmt.Fprint(out, "```\n\n| row | from | trigger | to | events | metadata |\n|---|---|---|---|---|---|\n")
		for _, r := range t.Rows {
			fmt.Fprintf(out, "| %s | `%s` | `%s` | `%s` | %s | %s |\n", r.Spec, r.From, r.Trigger, r.To, asCode(r.Events), asCode(r.Sets))
		}
	}
}

func asCode(words string) string {
	if words == "" {
		return ""
	}
	return "`" + strings.Join(strings.Fields(words), "` `") + "`"
}

// statesOf lists the states of a table in the order of their first mention, the
// one that stands for all others among them.
func statesOf(t fsm.Table) []fsm.State {
	var all []fsm.State
	seen := map[fsm.State]bool{}
	for _, r := range t.Rows {
		for _, s := range []fsm.State{r.From, r.To} {
			if !seen[s] {
				seen[s] = true
				all = append(all, s)
			}
		}
	}
	return all
}

func stateLabel(s fsm.State) string {
	if isAnyState(s) {
		return "every state that is not an end"
	}
	return string(s)
}

func stateID(s fsm.State) string {
	if isAnyState(s) {
		return "any_state"
	}
	_, name, _ := strings.Cut(string(s), ":")
	return name
}

func isAnyState(s fsm.State) bool { return strings.HasSuffix(string(s), ":*") }

func joinedStates(states []fsm.State, by string) string {
	var all []string
	for _, s := range states {
		all = append(all, string(s))
	}
	return strings.Join(all, by)
}
