package verbs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// gcVerb has the values that the verbs below gc share.
type gcVerb struct {
	p       command.Process
	version string
	store   string
	project string
	json    bool
}

func gcCommand(p command.Process, version string) *cobra.Command {
	v := &gcVerb{p: p, version: version}
	c := &cobra.Command{
		Use:   "gc",
		Short: "Look into the ledger of what agents were given, and prune it",
		Long: `The ledger has every output that this program's server, hooks and proxy saw. These verbs do what the
tools of toolset gc do, and call them in the same way. Without a verb: what the proxy's sessions used and saved,
and how large the ledger is. docs/GC.md explains the ledger.`,
	}
	f := c.PersistentFlags()
	f.StringVar(&v.store, "store", "", "the ledger's file (default: MCP_PRUNER_GC_STORE, else in the user's state directory)")
	f.StringVar(&v.project, "project-id", "", "the project (default: this folder's)")
	f.BoolVar(&v.json, "json", false, "print one JSON value")
	c.AddCommand(v.analyze(), v.prune(), v.pin("pin", "Protect segments from pruning"), v.pin("unpin", "Allow segments to be pruned again"),
		v.get(), v.search(), v.clean(), v.settings())
	command.Bare(c, v.stats())
	return c
}

// gcArguments holds the arguments of a tool call, from the command line.
type gcArguments map[string]any

func (a gcArguments) add(name string, value any, given bool) {
	if given {
		a[name] = value
	}
}

// call runs a tool through the request machine and prints its result.
func (v *gcVerb) call(ctx context.Context, tool string, args gcArguments, show func(io.Writer, json.RawMessage) error) error {
	config, _, err := settings.Load(settings.Stdio, nil, v.p.Lookup)
	if err != nil {
		return command.Usagef("%w", err)
	}
	done, err := v.borrow()
	if err != nil {
		return err
	}
	defer done()
	write := fsm.JSONSink(v.p.Stderr, fsm.LevelInfo) // the heads of the trace are logged like a server's
	parts, err := assemble.Make(context.Background(), assemble.GC, assemble.Options{
		Settings: config, Env: v.p.Env, Version: v.version, Store: v.store,
		Emit: func(e fsm.Event) {
			e.RunID = config.RunID
			write(e)
		},
		Failed: func(err error) { fmt.Fprintf(v.p.Stderr, "mcp-pruner: %v\n", err) },
	})
	if err != nil {
		return err
	}
	defer parts.Close()
	call := parts.Pipeline.Run(ctx, states.Request{Params: map[string]any{"name": tool, "arguments": map[string]any(args)}, Client: "command-line"})
	return v.answer(ctx, call, show)
}

// shows returns a function that decodes a result and shows it.
func shows[T any](show func(io.Writer, T) error) func(io.Writer, json.RawMessage) error {
	return func(w io.Writer, raw json.RawMessage) error {
		var result T
		if err := json.Unmarshal(raw, &result); err != nil {
			return err
		}
		return show(w, result)
	}
}

// borrow names an empty ledger, which done removes, where there is none: looking into it creates none.
func (v *gcVerb) borrow() (done func(), err error) {
	place, file, err := assemble.LedgerPlace(v.store, v.p.Lookup)
	if place.File = file; err != nil || !place.Empty() {
		return func() {}, err
	}
	dir, err := os.MkdirTemp("", "mcp-pruner-gc-")
	v.store = filepath.Join(dir, "ledger.db")
	return func() { _ = os.RemoveAll(dir) }, err
}

func (v *gcVerb) answer(ctx context.Context, call *states.Execution, show func(io.Writer, json.RawMessage) error) error {
	a := call.Answer()
	structured, err := json.Marshal(a.Structured)
	switch {
	case err != nil:
		return err
	case a.Kind == states.NoAnswer:
		return ctx.Err()
	case a.Kind == states.InvalidParams:
		call.Answering(0)
		return command.Usagef("%s", describedIssues(a.Issues))
	case a.IsError:
		call.Answering(len(structured))
		call.Written(ctx)
		text := a.Text
		if i := strings.Index(text, "): "); strings.HasPrefix(text, "Error (") && i > 0 { // the code is for programs
			text = text[i+len("): "):]
		}
		return errors.New(strings.Replace(text, "context_search", "mcp-pruner gc search", 1))
	case a.Kind != states.Result:
		return errors.New("internal error")
	}
	call.Answering(len(structured))
	out := bufio.NewWriter(v.p.Stdout)
	if v.json {
		fmt.Fprintf(out, "%s\n", structured)
	} else {
		err = show(out, structured)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		call.WriteFailed(ctx, err)
		return err
	}
	call.Written(ctx)
	return nil
}

// describedIssues turns issues into messages about flags.
func describedIssues(issues []states.Issue) string {
	var parts []string
	for _, i := range issues {
		name := strings.TrimPrefix(i.Path, "arguments.")
		name, _, _ = strings.Cut(name, ".")
		parts = append(parts, "--"+strings.ReplaceAll(name, "_", "-")+": "+strings.ReplaceAll(i.Code, "_", " "))
	}
	return strings.Join(parts, "; ")
}

func (v *gcVerb) open() (assemble.Ledger, error) {
	return assemble.OpenLedger(context.Background(), v.store, v.p.Lookup, func(m string) { fmt.Fprintf(v.p.Stderr, "mcp-pruner: %s\n", m) })
}

// with returns a call's arguments, including the project.
func (v *gcVerb) with(args gcArguments) (gcArguments, error) {
	args["project_id"] = v.project
	if v.project == "" {
		root, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		args["project_id"] = contextgc.ProjectOf(root)
	}
	return args, nil
}
