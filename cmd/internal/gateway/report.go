package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// Row is the report on one server in one mode.
type Row struct {
	Server     string  `json:"server"`
	Mode       string  `json:"mode"`
	Tools      int     `json:"tools"`
	Exposed    int     `json:"exposed"`
	WireBefore int     `json:"wire_bytes_before"`
	Wire       int     `json:"wire_bytes"`
	Before     int     `json:"tokens_before"` // visible to the model: name, description, input schema
	After      int     `json:"tokens"`
	SavedPct   float64 `json:"saved_pct"`

	Why     string `json:"why,omitempty"` // why trim removes less than it aims at
	Problem string `json:"problem,omitempty"`
}

// Report compares the tools that the servers list with those offered, per server and in total. tokens
// counts the tokens of a text.
func (g *Gateway) Report(tokens func(string) int) []Row {
	var rows []Row
	for _, mode := range []upstream.Mode{upstream.Grouped, upstream.Trimmed} {
		if g.options.Mode != Auto && g.options.Mode != string(mode) {
			continue
		}
		rows = append(rows, g.reportMode(mode, tokens)...)
	}
	for _, s := range g.servers {
		if _, known, err := s.Offer(); !known {
			rows = append(rows, Row{Server: s.Name(), Problem: fmt.Sprint(cmp.Or(err, errNotThere))})
		}
	}
	return rows
}

var errNotThere = fmt.Errorf("did not answer in time")

func (g *Gateway) reportMode(mode upstream.Mode, tokens func(string) int) []Row {
	list := g.list(mode)
	all := Row{Server: "all", Mode: string(mode)}
	var rows []Row
	for _, s := range g.known() {
		row := Row{Server: s.Name, Mode: string(mode), Tools: len(s.Tools), Before: upstream.RawTokens(s.Tools, tokens)}
		for i := range s.Tools {
			row.WireBefore += len(wire(s.Tools[i]))
		}
		own := slices.DeleteFunc(slices.Clone(list), func(e upstream.Exposed) bool { return e.Server() != s.Name })
		row.Exposed, row.After = len(own), upstream.ListTokens(own, tokens)
		for i := range own {
			row.Wire += len(own[i].Wire())
		}
		row = row.done()
		if mode == upstream.Trimmed {
			row.Why = row.tooLittle(g.options.Target, own)
		}
		rows = append(rows, row)
		all.Tools, all.Exposed = all.Tools+row.Tools, all.Exposed+row.Exposed
		all.WireBefore, all.Wire = all.WireBefore+row.WireBefore, all.Wire+row.Wire
		all.Before, all.After = all.Before+row.Before, all.After+row.After
	}
	if t, offered := findTool(list); offered && mode == upstream.Grouped {
		own := []upstream.Exposed{{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}}
		row := Row{Server: "(find)", Mode: string(mode), Exposed: 1, Wire: len(own[0].Wire()), After: upstream.ListTokens(own, tokens)}
		rows = append(rows, row)
		all.Exposed, all.Wire, all.After = all.Exposed+row.Exposed, all.Wire+row.Wire, all.After+row.After
	}
	return append(rows, all.done())
}

func (r Row) done() Row {
	if r.Before > 0 {
		r.SavedPct = float64(int(1000*(1-float64(r.After)/float64(r.Before))+0.5)) / 10
	}
	return r
}

// tooLittle says why trim removed less of a server's list than it aims at, or "".
func (r Row) tooLittle(target float64, own []upstream.Exposed) string {
	if aim := 100 * min(target, upstream.TrimTarget); r.SavedPct < aim {
		return fmt.Sprintf("%s: trim removes %.0f %% and not %.0f %%: names, types, the tools' descriptions, and texts of parameters that cannot be guessed from their names (%d) stay",
			r.Server, r.SavedPct, aim, upstream.Kept(own))
	}
	return ""
}

func wire(d upstream.Definition) []byte {
	raw, err := json.Marshal(d)
	if err != nil {
		return nil
	}
	return raw
}

// WriteReport prints the rows as a table.
func WriteReport(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "server\tmode\ttools\texposed\ttokens before\tafter\tsaved\tbytes before\tafter\t")
	for _, r := range rows {
		if r.Problem != "" {
			fmt.Fprintf(t, "%s%s\n", r.Server, strings.Repeat("\t-", 8)+"\t")
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%.1f %%\t%d\t%d\t\n",
			r.Server, r.Mode, r.Tools, r.Exposed, r.Before, r.After, r.SavedPct, r.WireBefore, r.Wire)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		switch {
		case r.Problem != "":
			fmt.Fprintf(w, "%s is left out: %s\n", r.Server, r.Problem)
		case r.Why != "":
			fmt.Fprintln(w, r.Why)
		}
	}
	_, err := fmt.Fprintln(w, "Tokens are what a model sees: names, descriptions and input schemas (o200k, estimated).")
	return err
}

// WriteList prints the tools offered in a mode, with reasons.
func (g *Gateway) WriteList(w io.Writer, mode upstream.Mode) error {
	for _, e := range g.list(mode) {
		if _, err := fmt.Fprintf(w, "%s  (%s; %s)\n    %s\n", e.Name, e.Server(), e.Why, strings.ReplaceAll(e.Description, "\n", " ")); err != nil {
			return err
		}
		for _, a := range e.Actions {
			if a.Name == "" {
				continue
			}
			fmt.Fprintf(w, "    %s -> %s\n", a.Name, a.Def.Name)
		}
	}
	if t, offered := findTool(g.list(mode)); offered && mode == upstream.Grouped {
		fmt.Fprintf(w, "%s  (this program; searches the list, which has %d tools or more)\n    %s\n", t.Name, findFrom, t.Description)
	}
	for _, trouble := range g.Troubles() {
		fmt.Fprintln(w, trouble)
	}
	for _, s := range g.servers {
		offer, known, _ := s.Offer()
		if hidden := g.options.Maps[s.Name()].Hide; known && len(hidden) > 0 {
			fmt.Fprintf(w, "%s: hidden: %s\n", s.Name(), strings.Join(hidden, ", "))
		}
		if n := len(offer.Resources) + len(offer.Templates); n+len(offer.Prompts) > 0 {
			fmt.Fprintf(w, "%s: besides %d resources and templates, %d prompts\n", s.Name(), n, len(offer.Prompts))
		}
	}
	return nil
}

// Ready returns how many of the servers are connected.
func (g *Gateway) Ready() (ready, all int) {
	for _, s := range g.servers {
		if _, known, err := s.Offer(); known && err == nil {
			ready++
		}
	}
	return ready, len(g.servers)
}

// Troubles describes the fault of each server that has one.
func (g *Gateway) Troubles() (lines []string) {
	for _, s := range g.servers {
		offer, known, err := s.Offer()
		switch {
		case !known:
			lines = append(lines, fmt.Sprintf("%s: no tools: %v", s.Name(), cmp.Or(err, errNotThere)))
		case err != nil:
			lines = append(lines, fmt.Sprintf("%s: not connected (%v); the list is from last time", s.Name(), err))
		case len(offer.Tools)+len(offer.Resources)+len(offer.Templates)+len(offer.Prompts) == 0:
			lines = append(lines, s.Name()+": has no tools, and nothing else")
		}
		for i, problem := range offer.Problems {
			if i == maxProblems {
				lines = append(lines, fmt.Sprintf("%s: and %d problems more", s.Name(), len(offer.Problems)-i))
				break
			}
			lines = append(lines, s.Name()+": "+strings.TrimPrefix(problem, s.Name()+": "))
		}
	}
	return lines
}

// maxProblems is the number of a server's problems that are shown.
const maxProblems = 3
