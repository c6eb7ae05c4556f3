// Package fsmcmd is `mcp-pruner fsm`: the state machines as they are compiled in.
package fsmcmd

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcp-pruner/fsm"
)

// Exit codes.
const (
	exitOK    = 0
	exitFail  = 1
	exitUsage = 2
)

const usage = `usage: mcp-pruner fsm [--machine NAME] [--format FORMAT]

Prints the state machines this program runs requests and runs by.

  --machine NAME   one of %s (default: all)
  --format FORMAT  table    columns for a terminal (default)
                   mermaid  a diagram that GitHub draws, of one machine
                   dot      a diagram for Graphviz, of one machine
                   json     the rows and the hash that traces name the table by
                   docs     the page docs/STATES.md

examples:
  mcp-pruner fsm --machine request
  mcp-pruner fsm --machine run --format dot | dot -Tsvg > run.svg
`

var formats = map[string]func(io.Writer, []fsm.Table){
	"table": tables, "mermaid": of1(mermaid), "dot": of1(dot), "json": jsons, "docs": docs,
}

// diagrams are of one machine: what draws them takes one to a file.
var diagrams = []string{"mermaid", "dot"}

func of1(diagram func(io.Writer, fsm.Table)) func(io.Writer, []fsm.Table) {
	return func(out io.Writer, chosen []fsm.Table) { diagram(out, chosen[0]) }
}

// Run is the verb; args come without it. It returns the exit status.
func Run(_ context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	chosen, write, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, usage, strings.Join(names(fsm.Tables()), ", "))
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "mcp-pruner fsm: %v\nTry 'mcp-pruner fsm --help'.\n", err)
		return exitUsage
	}
	var page bytes.Buffer
	write(&page, chosen)
	if _, err := stdout.Write(page.Bytes()); err != nil {
		fmt.Fprintf(stderr, "mcp-pruner fsm: %v\n", err)
		return exitFail
	}
	return exitOK
}

func parse(args []string) ([]fsm.Table, func(io.Writer, []fsm.Table), error) {
	fs := flag.NewFlagSet("fsm", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	machine, format := fs.String("machine", "", ""), fs.String("format", "table", "")
	if err := fs.Parse(args); err != nil {
		return nil, nil, err
	}
	if fs.NArg() > 0 {
		return nil, nil, fmt.Errorf("%q is too much", fs.Arg(0))
	}
	write := formats[*format]
	if write == nil {
		return nil, nil, fmt.Errorf("there is no format %q (table, mermaid, dot, json or docs)", *format)
	}
	all := fsm.Tables()
	switch {
	case *machine != "":
	case slices.Contains(diagrams, *format):
		return nil, nil, fmt.Errorf("a diagram is of one machine: choose it with --machine (%s)", strings.Join(names(all), ", "))
	default:
		return all, write, nil
	}
	i := slices.Index(names(all), *machine)
	if i < 0 {
		return nil, nil, fmt.Errorf("there is no machine %q (%s)", *machine, strings.Join(names(all), ", "))
	}
	return all[i : i+1], write, nil
}

func names(tables []fsm.Table) []string {
	var all []string
	for _, t := range tables {
		all = append(all, t.Name)
	}
	return all
}
