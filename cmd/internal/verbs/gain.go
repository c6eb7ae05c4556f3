package verbs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// gainCommand returns the verb gain.
func gainCommand(p command.Process) *cobra.Command {
	var asJSON, watch bool
	var team gainLedger
	c := &cobra.Command{
		Use:   "gain",
		Short: "Say what the hooks have saved and lost so far",
		Long: `Adds up what the hooks cut, from their ledger and the client's own transcripts: what
carrying the cut tokens would have cost, what getting some of them back did cost, and
what remains. Prices are relative to a fresh input token, as in replay.

With --store or --subject it adds up what the proxy saved, from its ledger. What the gateway saved
is in the trace: trace stats --subject NAME.`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if team != (gainLedger{}) {
				return team.show(c.Context(), p, asJSON)
			}
			dir, err := files.StateDir(p.Lookup)
			if err != nil {
				return err
			}
			if watch {
				return followNotes(c.Context(), dir, p.Stdout)
			}
			for _, again := range prefix.AskedAgain(c.Context(), p.Lookup) {
				fmt.Fprintln(p.Stderr, again)
			}
			g, err := hook.GainOf(c.Context(), hook.ReadNotes(dir))
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(p.Stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(g)
			}
			return showGain(g, p.Stdout)
		},
	}
	c.Flags().BoolVar(&watch, "watch", false, "print a line for each result that is cut from now on, until interrupted")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON value")
	c.Flags().StringVar(&team.store, "store", "", "the proxy's ledger: its file, or the database without its password (default: MCP_PRUNER_GC_STORE or MCP_PRUNER_STORE, else in the user's state directory)")
	c.Flags().StringVar(&team.subject, "subject", "", "whose sessions the database has (default: the owner of the machine)")
	for _, other := range []string{"json", "store", "subject"} {
		c.MarkFlagsMutuallyExclusive("watch", other)
	}
	return c
}

func showGain(g *hook.Gain, w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s cut in %s: %d tokens, worth %.0f fresh input tokens over the calls that carried them;\n",
		terminal.Count(g.Total.Results, "result"), terminal.Count(g.Sessions, "session"), g.Total.Tokens, g.Total.Gross)
	fmt.Fprintf(&b, "%d %s fetched again, which cost %.0f. Net %+.0f.\n", g.Total.Again, terminal.Plural(g.Total.Again, "was", "were"), g.Total.Rereads, g.Total.Net)
	if g.Bill+g.Known.Net > 0 && g.Known.Results > 0 {
		fmt.Fprintf(&b, "%s in transcripts: net %+.0f, %+.1f %% of what their sessions would have cost without hooks.\n",
			terminal.Count(g.Known.Results, "result"), g.Known.Net, g.Net)
	}
	if all := g.Sent + g.Less; all > 0 && g.Known.Results > 0 {
		fmt.Fprintf(&b, "With a subscription, whose windows count tokens: %d fewer were sent in all calls, %+.1f %% of them.\n", g.Less, 100*float64(g.Less)/float64(all))
	}
	if g.Total.Net < 0 {
		b.WriteString("You lost: \"mcp-pruner init CLIENT --uninstall\" takes the hooks out.\n")
	}
	if g.Unknown > 0 {
		fmt.Fprintf(&b, "%s not in a transcript that can be read: counted once, as written to the cache.\n", terminal.Count(g.Unknown, "result"))
	}
	b.WriteByte('\n')
	gainTable(&b, "tool", g.Tools)
	b.WriteByte('\n')
	gainTable(&b, "day", g.Days)
	_, err := io.WriteString(w, b.String())
	return err
}

func gainTable(b *strings.Builder, what string, parts map[string]hook.GainPart) {
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "%s\tresults\ttokens cut\tgross\tre-reads\tnet\n", what)
	names := slices.SortedFunc(maps.Keys(parts), func(a, c string) int {
		if what == "day" {
			return cmp.Compare(a, c)
		}
		return cmp.Or(cmp.Compare(parts[c].Net, parts[a].Net), cmp.Compare(a, c))
	})
	for _, name := range names {
		p := parts[name]
		fmt.Fprintf(w, "%s\t%d\t%d\t%.0f\t%.0f\t%+.0f\n", name, p.Results, p.Tokens, p.Gross, p.Rereads, p.Net)
	}
	_ = w.Flush() // writes to memory
}
