package verbs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

func gainCommand(p command.Process) *cobra.Command {
	var asJSON, watch bool
	var from gainLedger
	c := &cobra.Command{
		Use:   "gain",
		Short: "Say what was saved and lost so far, by day",
		Long: `Adds up what hooks cut and what the proxy cleared, from their ledgers and the client's own
transcripts: what carrying these tokens would have cost, what getting some of them back did
cost, and what remains. Prices are relative to a fresh input token of the session's own model,
as in replay; money is by its list price, where that is known. The table has the latest seven
days; a session counts on the day of its last cut or clearing. --json has all days.

With --store or --subject it adds up what the proxy saved alone, from that ledger. What the
gateway saved is in the trace: trace stats --subject NAME.`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if watch {
				dir, err := files.StateDir(p.Lookup)
				if err != nil {
					return err
				}
				return followNotes(c.Context(), dir, p.Stdout)
			}
			g, err := from.gain(c.Context(), p)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(p.Stdout, g, true)
			}
			return showGain(g, p.Stdout)
		},
	}
	c.Flags().BoolVar(&watch, "watch", false, "print a line for each result that is cut from now on, until interrupted")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON value")
	c.Flags().StringVar(&from.store, "store", "", "the proxy's ledger: its file, or the database without its password (default: MCP_PRUNER_GC_STORE or MCP_PRUNER_STORE, else in the user's state directory)")
	c.Flags().StringVar(&from.subject, "subject", "", "whose sessions the database has (default: the owner of the machine)")
	for _, other := range []string{"json", "store", "subject"} {
		c.MarkFlagsMutuallyExclusive("watch", other)
	}
	return c
}

// gainLedger names a ledger of the proxy, and the subject whose sessions are added up. The zero value is the user's own, and what
// hooks cut is added.
type gainLedger struct{ store, subject string }

func (l gainLedger) gain(ctx context.Context, p command.Process) (*hook.Gain, error) {
	past, err := assemble.OpenHistory(l.store, l.subject, p.Lookup)
	if err != nil && l != (gainLedger{}) {
		return nil, command.Usagef("%w", err)
	} // else it is said below
	defer func() { _ = past.Close() }() // it was only read
	proxied, failed := hook.ProxiedIn(ctx, past)
	if l != (gainLedger{}) {
		if failed != nil {
			return nil, failed
		}
		return hook.GainOf(ctx, nil, proxied)
	}
	if place, _, err := assemble.LedgerPlace("", p.Lookup); err == nil && place.Shared() {
		fmt.Fprintln(p.Stderr, "This is what the owner of the machine saved. Each key or token has a subject of its own: mcp-pruner gain --subject NAME")
	}
	dir, err := files.StateDir(p.Lookup)
	if err != nil {
		return nil, err
	}
	for _, again := range prefix.AskedAgain(ctx, p.Lookup) {
		fmt.Fprintln(p.Stderr, again)
	}
	if failed != nil {
		fmt.Fprintf(p.Stderr, "what the proxy cleared is not in this: %v\n", failed)
	}
	return hook.GainOf(ctx, hook.ReadNotes(dir), proxied)
}

func showGain(g *hook.Gain, w io.Writer) error {
	var b strings.Builder
	t := g.Total
	fmt.Fprintf(&b, "Net %s in %s.\n", t.Worth(), terminal.Count(g.Sessions, "session"))
	if t.Results > 0 {
		fmt.Fprintf(&b, "%s cut: %d tokens, worth %.0f over the calls that carried them; %d %s fetched again, which cost %.0f.\n",
			terminal.Count(t.Results, "result"), t.Tokens, t.Gross, t.Again, terminal.Plural(t.Again, "was", "were"), t.Rereads)
	}
	if t.Cleared > 0 {
		fmt.Fprintf(&b, "%s cleared by the proxy, worth %+.0f with all that was read again charged.\n", terminal.Count(t.Cleared, "result"), t.Clearing)
	}
	if all := g.Sent + g.Less; all > 0 {
		fmt.Fprintf(&b, "With a subscription, whose windows count tokens: by cuts %d fewer were sent in all calls, %+.1f %% of them.\n", g.Less, 100*float64(g.Less)/float64(all))
	}
	if t.Net < 0 {
		part := "hooks"
		if t.Clearing < t.Gross-t.Rereads {
			part = "proxy"
		}
		fmt.Fprintf(&b, "You lost: \"mcp-pruner init CLIENT --%s --uninstall\" takes the %s out.\n", part, part)
	}
	if g.Unknown > 0 {
		fmt.Fprintf(&b, "%s not in a transcript that can be read: counted once, as written to the cache.\n", terminal.Count(g.Unknown, "result"))
	}
	b.WriteByte('\n')
	showDays(&b, g.Days)
	if len(g.Tools) > 0 {
		b.WriteByte('\n')
		showTools(&b, g.Tools)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shownDays is the number of days, the latest ones, in the table.
const shownDays = 7

func showDays(b *strings.Builder, days map[string]hook.GainPart) {
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "day\tby cuts\tby clearing\tlost\tnet\tof the bill\tat list price\t")
	names := slices.Sorted(maps.Keys(days))
	for _, name := range names[max(len(names)-shownDays, 0):] {
		p := days[name]
		fmt.Fprintf(w, "%s\t%+.0f\t%+.0f\t%.0f\t%+.0f\t%+.1f %%\t%s\t\n", name, p.Gross, p.Clearing, p.Rereads, p.Net, p.Pct, cmp.Or(hook.Money(p.Dollars), "-"))
	}
	_ = w.Flush() // writes to memory
}

func showTools(b *strings.Builder, tools map[string]hook.GainPart) {
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "tool\tresults\ttokens cut\tgross\tre-reads\tnet")
	for _, name := range slices.SortedFunc(maps.Keys(tools), func(a, c string) int {
		return cmp.Or(cmp.Compare(tools[c].Net, tools[a].Net), cmp.Compare(a, c))
	}) {
		p := tools[name]
		fmt.Fprintf(w, "%s\t%d\t%d\t%.0f\t%.0f\t%+.0f\n", name, p.Results, p.Tokens, p.Gross, p.Rereads, p.Net)
	}
	_ = w.Flush() // writes to memory
}
