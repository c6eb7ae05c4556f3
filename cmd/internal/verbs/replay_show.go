package verbs

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

func writeReplay(w io.Writer, r replay.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d of them with the API's own usage, the others modelled. Bill: %.0f fresh input tokens.\n", terminal.Count(r.Sessions, "session"), r.Measured, r.Bill)
	fmt.Fprintf(&b, "Prices: %s. All figures are percent of the whole bill.\n", r.Prices)
	if r.Guessed > 0 {
		fmt.Fprintf(&b, "Of %d of %d model calls the transcripts have a placeholder for the output; it is modelled from the texts.\n", r.Guessed, r.Calls)
	}
	b.WriteByte('\n')
	writeReplayContents(&b, r)
	writeReplayShares(&b, r)
	fmt.Fprintf(&b, "\nA perfect pruner of results of 1,000 tokens and more (read, bash, grep) that keeps 10, 20, 30 %%: %.1f, %.1f, %.1f\n\n",
		r.Limit.Keep10, r.Limit.Keep20, r.Limit.Keep30)
	writeReplayPolicies(&b, r)
	for _, p := range []replay.Policy{replay.Hook, replay.MCP, replay.Proxy} {
		if d, ok := r.Details[p]; ok {
			writeReplayDetail(&b, p, d)
		}
	}
	if gc, ok := r.Policies[replay.GC].(replay.Clearing); ok {
		fmt.Fprintf(&b, "\ngc, of modelled input: %+.1f %%, re-reads in it %.1f; the worst session %+.1f. The best fixed rule: %+.1f %%, the worst session %+.1f\n",
			gc.Input, gc.Reread, gc.Worst, gc.Fixed, gc.FixedWorst)
	}
	if d, ok := r.Details[replay.Context]; ok {
		fmt.Fprintf(&b, "\ncontext: before each session, what no earlier session of its project used is switched off (from the tenth on, of known size): %d parts;\n"+
			"%.1f %% of the sessions call something that was switched off\n", d.Pruned, d.Hurt)
	}
	if r.HourOnPrefix != 0 {
		fmt.Fprintf(&b, "\nAdvice: a cache lifetime of an hour on the fixed prefix alone would have changed the bill by %+.1f %%", -r.HourOnPrefix)
		if r.HourUnknown > 0 {
			fmt.Fprintf(&b, ", if the %d pauses whose length is not known were shorter", r.HourUnknown)
		}
		b.WriteString(". mcp-pruner does not set it.\n")
	}
	for _, s := range r.Refused {
		fmt.Fprintf(&b, "refused: %s\n", s)
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "skipped: %s\n", s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeModels prints what is known of models: what a prompt costs, and what of it may be changed.
func writeModels(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "model\tfrom\tinput\twrite\tfor an hour\tread\toutput\tchars per token\tthinking\tlonger prompts\tdate\tsource")
	for _, m := range tokens.Models() {
		thinking, bands := "not counted", ""
		switch {
		case m.Binds != nil && *m.Binds:
			thinking = "counted, bound"
		case m.Thinks:
			thinking = "counted"
		}
		for _, b := range m.Bands {
			bands += fmt.Sprintf("above %d: input x %g, output x %g", b.Above, b.Input, b.Output)
		}
		fmt.Fprintf(w, "%s\t%s\t%g\t%g\t%g\t%g\t%g\t%g\t%s\t%s\t%s\t%s\n", m.Word, m.From, m.Input, m.CacheWrite, m.CacheHour, m.CacheRead, m.Output, m.Chars, thinking, bands, m.Date, m.Source)
	}
	return w.Flush()
}

// mostContents is the number of contents that the text shows.
const mostContents = 16

func writeReplayContents(b *strings.Builder, r replay.Report) {
	sums := map[string]float64{}
	for content, by := range r.Composition {
		sums[content] = by.Sum()
	}
	b.WriteString("What the bill is made of, by content and price:\n")
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "fresh\twritten\twritten again\tread\toutput\tall\t")
	for i, content := range replay.ByValue(sums) {
		if by := r.Composition[content]; i < mostContents {
			fmt.Fprintf(w, "%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t  %s\n", by.Fresh, by.Write, by.Again, by.Read, by.Output, by.Sum(), content)
		}
	}
	_ = w.Flush() // writes to memory
	b.WriteByte('\n')
}

func writeReplayShares(b *strings.Builder, r replay.Report) {
	b.WriteString("Share of the bill that tool results are:\n")
	for i, name := range replay.ByValue(r.Share) {
		if i >= 10 || r.Share[name] < 0.05 {
			break
		}
		fmt.Fprintf(b, "  %-36s %5.1f\n", name, r.Share[name])
	}
	b.WriteString("by size of the result in tokens:\n")
	for _, c := range replay.SizeClasses {
		fmt.Fprintf(b, "  %-36s %5.1f\n", c.Name, r.Sizes[c.Name])
	}
}

func writeReplayPolicies(b *strings.Builder, r replay.Report) {
	label, printed := r.Label()
	if label != "" {
		fmt.Fprintf(b, "%s\n", label)
	}
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "policy\tgross\tmarkers\tquestions\tdefinitions\tmisses\tnet\twide\ttwice\tthree times\tmedian\tp10\tp90\tlosing\t")
	for _, p := range replay.Policies() {
		s, ok := r.Of(p)
		if !ok {
			continue
		}
		d := r.Details[p]
		if !printed {
			fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t-\t-\t-\t-\t-\t-\t-\t-\t-\t\n", p, s.Gross, d.Markers, d.Questions, d.Definitions)
			continue
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%+.1f\t%+.1f\t%+.1f\t%+.1f\t%+.1f\t%+.1f\t%+.1f\t%.0f %%\t\n",
			p, s.Gross, d.Markers, d.Questions, d.Definitions, d.Misses, s.Net, s.Wide, s.Misses2, s.Misses3, s.Median, s.P10, s.P90, s.Losing)
	}
	_ = w.Flush() // writes to memory
}

func writeReplayDetail(b *strings.Builder, p replay.Policy, d replay.Detail) {
	fmt.Fprintf(b, "\n%s: %d results pruned, %d with a line that was needed later, by %d model calls\n", p, d.Pruned, d.Missed, d.Turns)
	values := map[string]float64{}
	for name, g := range d.Tools {
		values[name] = g.Gross
	}
	for _, name := range replay.ByValue(values) {
		writeReplayGroup(b, name, d.Tools[name])
	}
	for _, c := range replay.SizeClasses {
		if g, ok := d.Sizes[c.Name]; ok {
			writeReplayGroup(b, c.Name, g)
		}
	}
}

func writeReplayGroup(b *strings.Builder, name string, g replay.Group) {
	fmt.Fprintf(b, "  %-36s pruned %5d  missed %4d  gross %5.2f  net %+5.2f\n", name, g.Pruned, g.Missed, g.Gross, g.Net)
}
