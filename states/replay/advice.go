package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// Advice says what each part of this program would have saved in the sessions of one client.
type Advice struct {
	Client   string // the source of the sessions
	Sessions int
	From, To time.Time // days on which the first and the last of them began; zero if no transcript says it
	Warning  string    // why no net can be said; Offers is empty then
	Offers   []Offer   // best first
	Together Pruning
}

// Offer is what one part of this program would have saved. Figures are percent of the whole bill.
type Offer struct {
	Policy Policy // GC, Context or Hook
	Pruning
	Lost int  // sessions that cost more with it
	Pays bool // it pays with every miss counted twice, and loses in few sessions; hooks: also beside a clearing that pays
}

// EnoughSessions is the number of a client's sessions from which is said what pays.
const EnoughSessions = 10

// A part pays if its net with misses counted twice is at least paysFrom percent of the bill, in EnoughSessions sessions of which
// at most paysLosing percent lose.
const (
	paysFrom   = 0.5
	paysLosing = 10
)

// Example is a result that hooks would have cut.
type Example struct {
	Client, Tool string
	About        string // file, pattern or command
	Lines, Kept  int
	Tokens, Sent int
	Needed       int     // lines that were cut and used later
	Net          float64 // in fresh input tokens, misses paid
	command      bool    // About is one
}

// Advise computes the advice for the clients of the sessions in s.Files, and the cuts by hooks from the best to the worst. It also returns
// what could not be read. s.Policies is not used.
func Advise(ctx context.Context, s Settings) (list []Advice, cuts []Example, skipped []string, err error) {
	s.Policies = []Policy{Hook, GC, Context, Both, All}
	var adding sync.Mutex
	s.Judged = func(f *Figures) {
		if f.refused() != "" {
			return
		}
		adding.Lock()
		defer adding.Unlock()
		cuts = append(cuts, f.examples()...)
	}
	r := reading{Settings: s, seen: map[string]bool{}}
	if skipped, err = r.all(ctx); err != nil {
		return nil, nil, nil, err
	}
	chooseContexts(r.order, cmp.Or(s.Rule, sessions.StandardRule()))
	by := map[string][]*Figures{}
	for _, f := range r.order {
		by[f.Session.Source] = append(by[f.Session.Source], f)
	}
	for client, figures := range by {
		if a := adviceOf(client, figures, s); a.Sessions > 0 {
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return nil, nil, nil, noSessions(s, skipped)
	}
	slices.SortFunc(list, func(a, b Advice) int { return cmp.Or(b.Sessions-a.Sessions, cmp.Compare(a.Client, b.Client)) })
	slices.SortFunc(cuts, func(a, b Example) int {
		return cmp.Or(cmp.Compare(b.Net, a.Net), cmp.Compare(a.About, b.About), cmp.Compare(a.Tokens, b.Tokens))
	})
	return list, cuts, skipped, nil
}

// adviceOf sums the sessions of one client.
func adviceOf(client string, figures []*Figures, s Settings) Advice {
	c := newCollector(s.Policies)
	(&reading{Settings: s, order: figures}).collect(c)
	report := c.finish()
	a := Advice{Client: client, Sessions: report.Sessions}
	for _, f := range figures {
		if day := f.Session.Begun; !day.IsZero() {
			if a.From.IsZero() || day.Before(a.From) {
				a.From = day
			}
			if day.After(a.To) {
				a.To = day
			}
		}
	}
	label, printed := report.Label()
	if !printed {
		a.Warning = label
		return a
	}
	clearing := report.offer(GC)
	hooks := report.offer(Hook)
	both, _ := report.Of(Both)
	hooks.Pays = hooks.Pays && (!clearing.Pays || both.Misses2 >= clearing.Misses2+paysFrom)
	a.Offers = []Offer{clearing, report.offer(Context), hooks}
	slices.SortStableFunc(a.Offers, func(x, y Offer) int { return cmp.Compare(y.Net, x.Net) })
	a.Together, _ = report.Of(All)
	return a
}

func (r Report) offer(p Policy) Offer {
	o := Offer{Policy: p}
	o.Pruning, _ = r.Of(p)
	for _, net := range r.Details[p].PerSession {
		if net < losing {
			o.Lost++
		}
	}
	o.Pays = o.Misses2 >= paysFrom && r.Sessions >= EnoughSessions && o.Losing <= paysLosing
	return o
}

// examples returns the results that hooks would have cut.
func (f *Figures) examples() []Example {
	var list []Example
	for _, row := range f.outcomes[Hook].rows {
		e := Example{
			Client: f.Session.Source, Tool: f.toolOf(row.r), About: cmp.Or(row.r.Parsed.File, row.r.Parsed.Pattern, row.r.Parsed.Command),
			Lines: row.a.cut.Total, Kept: len(row.a.cut.Kept), Tokens: row.r.Tokens, Sent: row.a.kept + row.a.header,
			Net: row.saved - row.added - row.miss, command: row.r.Parsed.File == "",
		}
		kept := lineSet(row.a.cut)
		for _, line := range f.neededLines(row.a.result) {
			if !kept[line] {
				e.Needed++
			}
		}
		list = append(list, e)
	}
	return list
}

// neededLines returns the lines of a result that the agent used later, from 0.
func (t *trial) neededLines(result int) []int {
	var lines []int
	for _, n := range t.needs[result] {
		if n.Rule != RuleWide && !slices.Contains(lines, n.Line) {
			lines = append(lines, n.Line)
		}
	}
	return lines
}

// aboutWidth limits what is shown of a file, of which the end says most, and of a command.
const aboutWidth = 60

// String names the example on one line. Control characters in it are not taken out.
func (e Example) String() string {
	about := e.About
	if all := []rune(about); len(all) > aboutWidth {
		about = "..." + string(all[len(all)-aboutWidth:])
		if e.command {
			about = string(all[:aboutWidth]) + "..."
		}
	}
	return fmt.Sprintf("%s %s: %d lines to %d, %d tokens to %d; cut lines used later: %d", e.Tool, about, e.Lines, e.Kept, e.Tokens, e.Sent, e.Needed)
}
