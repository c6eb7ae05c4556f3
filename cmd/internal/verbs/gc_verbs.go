package verbs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

func (v *gcVerb) analyze() *cobra.Command {
	var file, task string
	var target, limit int
	var why, allowDelete bool
	c := &cobra.Command{
		Use: "analyze", Short: "List what can go, the least useful first", Args: command.NoArguments,
		Example: "  mcp-pruner gc analyze --target-tokens 20000 --why",
	}
	f := c.Flags()
	f.StringVar(&file, "current-file", "", "the file you work on; it is kept")
	f.StringVar(&task, "task-id", "", "the current task; its messages are kept")
	f.IntVar(&target, "target-tokens", 0, "plan to free this many tokens")
	f.BoolVar(&allowDelete, "allow-delete", false, "the plan may delete; without it, it only stashes")
	f.IntVar(&limit, "limit", 20, "list at most this many")
	f.BoolVar(&why, "why", false, "explain the scores and the plan")
	c.RunE = func(c *cobra.Command, _ []string) error {
		args, err := v.with(gcArguments{"limit": float64(limit), "why": why, "allow_delete": allowDelete})
		if err != nil {
			return err
		}
		args.add("task_id", task, task != "")
		args.add("target_tokens", float64(target), f.Changed("target-tokens"))
		args.add("context_descriptors", map[string]any{"current_file": map[string]any{"path": file}}, file != "")
		return v.call(c.Context(), "context_gc_analyze", args, shows(showAnalysis))
	}
	return c
}

func showAnalysis(w io.Writer, a contextgc.Analysis) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "segment\tscore\ttokens\ttype\treason")
	for _, c := range a.Candidates {
		fmt.Fprintf(t, "%s\t%.2f\t%d\t%s\t%s\n", c.ID, c.Score, c.Tokens, c.Type, c.Reason)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s, %s\n", terminal.Count(a.Total, "candidate"), terminal.Count(a.Freed, "token"))
	if a.Plan != nil {
		fmt.Fprintf(w, "plan: %s\n  stash: %v\n  delete: %v\n", a.Plan.Reason, a.Plan.Stash, a.Plan.Delete)
		if b := a.Plan.BreakEven; b != nil {
			fmt.Fprintf(w, "  frees %d tokens; costs %.0f fresh tokens once, saves %.0f with each call, pays after %d calls\n",
				a.Plan.Freed, b.Cost, b.SavedPerCall, b.Calls)
		}
	}
	for _, line := range append(append(a.Warnings, a.Message), a.Explanation...) {
		if line != "" {
			fmt.Fprintln(w, line)
		}
	}
	return nil
}

// listedIDs turns ids on the command line into an argument.
func listedIDs(ids []string) []any {
	list := make([]any, len(ids))
	for i, id := range ids {
		list[i] = id
	}
	return list
}

func (v *gcVerb) prune() *cobra.Command {
	var ids []string
	var action string
	var confirm bool
	c := &cobra.Command{
		Use: "prune", Short: "Stash or delete segments", Args: command.NoArguments,
		Example: "  mcp-pruner gc prune --segment-ids s12,s13 --action stash",
	}
	f := c.Flags()
	f.StringSliceVar(&ids, "segment-ids", nil, "segments, separated by commas")
	f.StringVar(&action, "action", "", "stash or delete")
	f.BoolVar(&confirm, "confirm", false, "needed to delete")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if len(ids) == 0 || action == "" {
			return command.Usagef("--segment-ids and --action are needed")
		}
		args, err := v.with(gcArguments{"segment_ids": listedIDs(ids), "action": action, "confirm": confirm})
		if err != nil {
			return err
		}
		return v.call(c.Context(), "context_gc_prune", args, shows(func(w io.Writer, r contextgc.Pruned) error {
			fmt.Fprintf(w, "%s %s with %s: %v\n", r.Action, terminal.Count(len(r.Segments), "segment"), terminal.Count(r.Freed, "token"), r.Segments)
			return showProblems(w, r.Errors)
		}))
	}
	return c
}

func showProblems(w io.Writer, list []string) error {
	for _, p := range list {
		if _, err := fmt.Fprintln(w, p); err != nil {
			return err
		}
	}
	return nil
}

func (v *gcVerb) pin(name, short string) *cobra.Command {
	var ids []string
	c := &cobra.Command{
		Use: name, Short: short, Args: command.NoArguments,
		Example: "  mcp-pruner gc " + name + " --segment-ids s12",
	}
	c.Flags().StringSliceVar(&ids, "segment-ids", nil, "segments, separated by commas")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if len(ids) == 0 {
			return command.Usagef("--segment-ids is needed")
		}
		args, err := v.with(gcArguments{"segment_ids": listedIDs(ids)})
		if err != nil {
			return err
		}
		return v.call(c.Context(), "context_gc_"+name, args, shows(func(w io.Writer, r contextgc.PinResult) error {
			fmt.Fprintf(w, "%sned: %v\n", name, append(r.Pinned, r.Unpinned...))
			return showProblems(w, r.Errors)
		}))
	}
	return c
}

func (v *gcVerb) get() *cobra.Command {
	var first, last int
	var pattern string
	c := &cobra.Command{
		Use: "get ID", Short: "Print the exact text of a segment, or some of its lines", Args: command.OneArgument("ID"),
		Example: "  mcp-pruner gc get s12 --start-line 120 --end-line 154",
	}
	f := c.Flags()
	f.IntVar(&first, "start-line", 0, "first line, from 1")
	f.IntVar(&last, "end-line", 0, "last line")
	f.StringVar(&pattern, "pattern", "", "only lines that match this regular expression, with their numbers")
	c.RunE = func(c *cobra.Command, ids []string) error {
		args := gcArguments{"segment_id": ids[0]}
		args.add("project_id", v.project, v.project != "")
		args.add("start_line", float64(first), f.Changed("start-line"))
		args.add("end_line", float64(last), f.Changed("end-line"))
		args.add("pattern", pattern, pattern != "")
		return v.call(c.Context(), "context_get", args, shows(func(w io.Writer, got contextgc.Got) error {
			ledger.Printed(v.p.Lookup).Note(ids[0], got.Text)
			_, err := io.WriteString(w, got.Text)
			return err
		}))
	}
	return c
}

func (v *gcVerb) search() *cobra.Command {
	var task, kind, tier, path string
	var tags []string
	var limit int
	c := &cobra.Command{
		Use: "search WORDS", Short: "Find segments in which all the words occur", Args: command.OneArgument("WORDS"),
		Example: `  mcp-pruner gc search "connection refused"`,
	}
	f := c.Flags()
	f.StringVar(&task, "task-id", "", "only of this task")
	f.StringVar(&kind, "type", "", "only of this type: message, code, log, note, decision or summary")
	f.StringVar(&tier, "tier", "", "only in this tier: working or stashed")
	f.StringVar(&path, "path", "", "only of this file")
	f.StringSliceVar(&tags, "tags", nil, "only with all of these tags")
	f.IntVar(&limit, "limit", 20, "at most this many")
	c.RunE = func(c *cobra.Command, words []string) error {
		args, err := v.with(gcArguments{"query": words[0], "limit": float64(limit)})
		if err != nil {
			return err
		}
		args.add("task_id", task, task != "")
		args.add("type", kind, kind != "")
		args.add("tier", tier, tier != "")
		args.add("path", path, path != "")
		args.add("tags", listedIDs(tags), len(tags) > 0)
		return v.call(c.Context(), "context_search", args, shows(showFound))
	}
	return c
}

func showFound(w io.Writer, r contextgc.Found) error {
	for _, s := range r.Segments {
		fmt.Fprintf(w, "%s %s %s %d tokens, line %d: %s\n", s.ID, s.Tier, s.Tool, s.Tokens, s.Line, s.Excerpt)
	}
	_, err := fmt.Fprintf(w, "%d of %d\n", len(r.Segments), r.Total)
	return err
}

func (v *gcVerb) stats() *cobra.Command {
	var content bool
	c := &cobra.Command{Use: "stats", Short: "Say what the proxy's sessions used and saved, and how large the ledger is", Args: command.NoArguments}
	c.Flags().BoolVar(&content, "ledger", false, "only what the ledger holds; with --json, this instead of the sessions")
	c.RunE = func(c *cobra.Command, _ []string) error {
		list, size, err := v.held(c.Context())
		switch {
		case err != nil:
			return err
		case v.json && content:
			return json.NewEncoder(v.p.Stdout).Encode(size)
		case v.json:
			return json.NewEncoder(v.p.Stdout).Encode(list)
		case !content:
			err = showUsage(v.p.Stdout, list)
		}
		return errors.Join(err, showSize(v.p.Stdout, size))
	}
	return c
}

// held returns what sessions used and how large the ledger is. Where there is none it creates none.
func (v *gcVerb) held(ctx context.Context) ([]contextgc.Usage, contextgc.Size, error) {
	place, file, err := assemble.LedgerPlace(v.store, v.p.Lookup)
	if place.File = file; err != nil || place.Empty() {
		return []contextgc.Usage{}, contextgc.Size{}, err
	}
	store, err := v.open()
	if err != nil {
		return nil, contextgc.Size{}, err
	}
	defer func() { _ = store.Close() }() // the store was only read
	list, err := store.Usages(ctx)
	size, failed := store.Size(ctx)
	return list, size, errors.Join(err, failed)
}

// showUsage prints what sessions used and saved.
func showUsage(w io.Writer, list []contextgc.Usage) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "session\tcalls\tfresh\tcache read\tcache write\toutput\tcleared\tinput bill\tsaved\t")
	for _, u := range list {
		bill := u.Bill()
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%+.1f %%\t\n",
			u.Session, u.Calls, u.Input, u.Read, u.Written, u.Output, u.Cleared, bill, 100*u.Saved())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, "The bill is in fresh input tokens, from the API's own usage. Saved is the share of the bill without\n"+
		"clearing; what writing the cache again cost is taken off.\n")
	return err
}
