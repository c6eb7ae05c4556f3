// Package gaincmd implements the verb gain.
package gaincmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook/notes"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix/asked"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/bill"
	"github.com/mcp-pruner/mcp-pruner/tools/statedir"
)

// Command returns the verb gain.
func Command(p command.Process) *cobra.Command {
	var asJSON, watch bool
	c := &cobra.Command{
		Use:   "gain",
		Short: "Say what the hooks have saved and lost so far",
		Long: `Adds up what the hooks cut, from their ledger and the client's own transcripts: what
carrying the cut tokens would have cost, what getting some of them back did cost, and
what remains. Prices are relative to a fresh input token, as in replay.`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := statedir.Find(p.Lookup)
			if err != nil {
				return err
			}
			if watch {
				return follow(c.Context(), dir, p.Stdout)
			}
			for _, again := range asked.For(c.Context(), p.Lookup) {
				fmt.Fprintln(p.Stderr, again)
			}
			g, err := gainOf(c.Context(), notes.Read(dir))
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(p.Stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(g)
			}
			return g.show(p.Stdout)
		},
	}
	c.Flags().BoolVar(&watch, "watch", false, "print a line for each result that is cut from now on, until interrupted")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON value")
	c.MarkFlagsMutuallyExclusive("watch", "json")
	return c
}

// Gain is the total saving and loss of hooks.
type Gain struct {
	Sessions int             `json:"sessions"`
	Unknown  int             `json:"results_without_transcript"` // counted at the price of one call
	Total    Part            `json:"total"`
	Known    Part            `json:"in_transcripts"` // the results that were found in transcripts
	Bill     float64         `json:"bill"`           // total price of the sessions that have these results
	Net      float64         `json:"net_pct"`        // the net of Known in percent of what the bill would be without hooks
	Tools    map[string]Part `json:"tools"`
	Days     map[string]Part `json:"days"`
}

// Part is one summand of a Gain. Prices are in fresh input tokens.
type Part struct {
	Results int     `json:"results"`
	Tokens  int     `json:"tokens_cut"`
	Gross   float64 `json:"gross"`
	Rereads float64 `json:"rereads"`
	Net     float64 `json:"net"`
	Again   int     `json:"recovered"` // results of which a part was recovered
}

func (a Part) plus(b Part) Part {
	return Part{a.Results + b.Results, a.Tokens + b.Tokens, a.Gross + b.Gross, a.Rereads + b.Rereads, a.Net + b.Net, a.Again + b.Again}
}

func gainOf(ctx context.Context, noted []notes.Note) (*Gain, error) {
	g := &Gain{Tools: map[string]Part{}, Days: map[string]Part{}}
	byTranscript := map[string][]notes.Note{}
	for _, e := range noted {
		if e.ID != "" && !e.Back {
			byTranscript[e.Transcript] = append(byTranscript[e.Transcript], e)
		}
	}
	if len(byTranscript) == 0 {
		return nil, errors.New("no hook has cut anything yet; \"mcp-pruner init CLIENT\" sets hooks up")
	}
	for _, path := range slices.Sorted(maps.Keys(byTranscript)) {
		session, err := bill.Open(ctx, path)
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		g.Sessions++
		before := g.Known.Results
		for _, e := range byTranscript[path] {
			g.add(e, session)
		}
		if g.Known.Results > before {
			g.Bill += session.Bill()
		}
	}
	if without := g.Bill + g.Known.Net; without > 0 {
		g.Net = 100 * g.Known.Net / without
	}
	return g, nil
}

// add adds a result. session is nil if there is no transcript.
func (g *Gain) add(e notes.Note, session *bill.Carried) {
	cut := e.Tokens - e.Sent
	saved := session.Saving(e.Call, e.ID, cut)
	if !saved.Known {
		g.Unknown++
	}
	p := Part{Results: 1, Tokens: cut, Gross: saved.Gross, Rereads: saved.Rereads, Net: saved.Gross - saved.Rereads}
	if saved.Rereads > 0 {
		p.Again = 1
	}
	g.Total = g.Total.plus(p)
	if saved.Known {
		g.Known = g.Known.plus(p)
	}
	g.Tools[e.Tool] = g.Tools[e.Tool].plus(p)
	day := e.Time.Format(time.DateOnly)
	g.Days[day] = g.Days[day].plus(p)
}

func (g *Gain) show(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s cut in %s: %d tokens, worth %.0f fresh input tokens over the calls that carried them;\n",
		notes.Counted(g.Total.Results, "result"), notes.Counted(g.Sessions, "session"), g.Total.Tokens, g.Total.Gross)
	fmt.Fprintf(&b, "%d %s fetched again, which cost %.0f. Net %+.0f.\n", g.Total.Again, plural(g.Total.Again, "was", "were"), g.Total.Rereads, g.Total.Net)
	if g.Bill+g.Known.Net > 0 && g.Known.Results > 0 {
		fmt.Fprintf(&b, "%s in transcripts: net %+.0f, %+.1f %% of what their sessions would have cost without hooks.\n",
			notes.Counted(g.Known.Results, "result"), g.Known.Net, g.Net)
	}
	if g.Total.Net < 0 {
		b.WriteString("You lost: \"mcp-pruner init CLIENT --uninstall\" takes the hooks out.\n")
	}
	if g.Unknown > 0 {
		fmt.Fprintf(&b, "%s not in a transcript that can be read: counted once, as written to the cache.\n", notes.Counted(g.Unknown, "result"))
	}
	b.WriteByte('\n')
	table(&b, "tool", g.Tools)
	b.WriteByte('\n')
	table(&b, "day", g.Days)
	_, err := io.WriteString(w, b.String())
	return err
}

func table(b *strings.Builder, what string, parts map[string]Part) {
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
