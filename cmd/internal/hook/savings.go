package hook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Gain is what hooks and the proxy saved and lost.
type Gain struct {
	Sessions int                 `json:"sessions"`
	Unknown  int                 `json:"results_without_transcript"` // counted at the price of one call
	Total    GainPart            `json:"total"`
	Sent     int                 `json:"tokens_sent"` // by the sessions with cuts, in all prompts
	Less     int                 `json:"tokens_less"` // that they did not send because of hooks
	Tools    map[string]GainPart `json:"tools"`       // cuts only
	Days     map[string]GainPart `json:"days"`        // a session counts on the day of its last cut or clearing
}

// GainPart is one summand of a Gain: a session, a day or a tool. Prices are in fresh input tokens of the session's own model.
type GainPart struct {
	Results  int     `json:"results"` // cut
	Tokens   int     `json:"tokens_cut"`
	Gross    float64 `json:"gross"` // by cuts
	Rereads  float64 `json:"rereads"`
	Again    int     `json:"recovered"` // results of which a part was recovered
	Cleared  int     `json:"results_cleared"`
	Clearing float64 `json:"clearing"` // by clearing, what was read again charged
	Net      float64 `json:"net"`
	Bill     float64 `json:"bill"`    // of the sessions, where it is known
	Known    float64 `json:"of_bill"` // the part of the net that is in these sessions
	Pct      float64 `json:"net_pct"` // Known in percent of what they would have cost
	Dollars  float64 `json:"dollars"` // the part of the net that is in sessions paid by the token, of models with a known list price
}

func (a GainPart) plus(b GainPart) GainPart {
	sum := GainPart{
		Results: a.Results + b.Results, Tokens: a.Tokens + b.Tokens, Gross: a.Gross + b.Gross, Rereads: a.Rereads + b.Rereads,
		Again: a.Again + b.Again, Cleared: a.Cleared + b.Cleared, Clearing: a.Clearing + b.Clearing, Net: a.Net + b.Net,
		Bill: a.Bill + b.Bill, Known: a.Known + b.Known, Dollars: a.Dollars + b.Dollars,
	}
	if without := sum.Bill + sum.Known; sum.Bill > 0 && without > 0 {
		sum.Pct = 100 * sum.Known / without
	}
	return sum
}

// Proxied is what the proxy did in a session. The zero value is nothing.
type Proxied struct {
	Usage   contextgc.Usage
	Changed []contextgc.Cleared
}

// ProxiedIn returns the sessions of a ledger in which the proxy changed something, latest first.
func ProxiedIn(ctx context.Context, past assemble.History) (list []Proxied, err error) {
	usages, err := past.Usages(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the proxy has never run
	}
	for _, u := range usages {
		changed, _, failed := past.Session(ctx, u.Session)
		err = errors.Join(err, failed)
		if u.Cleared > 0 || len(changed) > 0 {
			list = append(list, Proxied{u, changed})
		}
	}
	return list, err
}

// GainOf adds up what was noted, from the transcripts that the notes name, and what the proxy did.
func GainOf(ctx context.Context, noted []Note, proxied []Proxied) (*Gain, error) {
	g := &Gain{Tools: map[string]GainPart{}, Days: map[string]GainPart{}}
	byTranscript, bySession := map[string][]Note{}, map[string]Proxied{}
	for _, e := range noted {
		if e.ID != "" && !e.Back {
			byTranscript[e.Transcript] = append(byTranscript[e.Transcript], e)
		}
	}
	for _, p := range proxied {
		bySession[p.Usage.Session] = p
	}
	if len(byTranscript)+len(bySession) == 0 {
		return nil, errors.New("nothing has been cut or cleared yet: clearing begins after some dozens of commands; \"mcp-pruner doctor\" says what is set up in which client, \"mcp-pruner init\" sets it up. What a gateway had cleared is counted by /healthz of the proxy alone")
	}
	for _, path := range slices.Sorted(maps.Keys(byTranscript)) {
		session, err := sessions.OpenCarried(ctx, path)
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		cuts := byTranscript[path]
		name := cuts[0].Session
		if session != nil {
			name = cmp.Or(session.B.Session.ID, name)
		}
		id := contextgc.SessionID(name)
		g.add(session, cuts, bySession[id])
		delete(bySession, id)
	}
	for _, id := range slices.Sorted(maps.Keys(bySession)) {
		g.add(nil, nil, bySession[id])
	}
	return g, nil
}

// add adds a session. carried is nil if there is no transcript.
func (g *Gain) add(carried *sessions.Carried, noted []Note, by Proxied) {
	last := by.Usage.Updated
	all, known := cutsIn(carried, noted, by), false
	for _, e := range all {
		p, less, ok := cutOf(carried, e)
		g.Tools[e.Tool] = g.Tools[e.Tool].plus(p)
		g.Less += less
		known = known || ok
		if !ok {
			g.Unknown++
		}
		if e.Time.After(last) {
			last = e.Time
		}
	}
	if known {
		g.Sent += carried.Sent()
	}
	p := SessionGain(carried, noted, by)
	g.Sessions, g.Total = g.Sessions+1, g.Total.plus(p)
	day := last.Local().Format(time.DateOnly)
	g.Days[day] = g.Days[day].plus(p)
}

// SessionGain is the account of one session, which the message at the end of a turn, the status line, gain and view show. carried is
// nil if there is no transcript.
func SessionGain(carried *sessions.Carried, noted []Note, by Proxied) (p GainPart) {
	u := by.Usage
	bill := u.Bill() + float64(u.Output)*contextgc.PricesFor(u.Model, false, tokens.CacheLife).Output
	clearing := u.Before - u.After
	cuts := cutsIn(carried, noted, by)
	pruned := len(cuts) - len(noted) // by the proxy, which counts them as cleared
	p = GainPart{Cleared: max(u.Cleared-pruned, 0), Clearing: clearing, Net: clearing, Known: clearing}
	counts := u.Cleared > 0
	for _, e := range cuts {
		cut, _, known := cutOf(carried, e)
		p = p.plus(cut)
		counts = counts || known
	}
	model := u.Model
	if carried != nil {
		bill, model = max(bill, carried.Bill()), cmp.Or(carried.B.Session.Model(), model)
	}
	if carried == nil || !carried.B.Session.Plan {
		p.Dollars = p.Net * tokens.Dollars(model) / 1e6
	}
	if counts {
		p = p.plus(GainPart{Bill: bill})
	}
	return p
}

// cutOf returns what the cut of one result saved, and how many tokens fewer were sent in all calls. known is false if the result
// is in no transcript.
func cutOf(carried *sessions.Carried, e Note) (p GainPart, less int, known bool) {
	cut := e.Tokens - e.Sent
	saved := carried.Saving(e.Call, e.ID, cut)
	p = GainPart{Results: 1, Tokens: cut, Gross: saved.Gross, Rereads: saved.Rereads, Net: saved.Gross - saved.Rereads}
	if len(saved.Fetches) > 0 {
		p.Again = 1
	}
	if saved.Known {
		p.Known = p.Net
	}
	return p, saved.Less, saved.Known
}

// cutsIn returns the cuts of hooks, and those of the proxy, which prunes a result when it is new and whose client keeps the whole.
func cutsIn(carried *sessions.Carried, noted []Note, by Proxied) []Note {
	all := slices.Clone(noted)
	calls := map[[sha256.Size]byte]string{} // by the result's text, filled once it is asked for
	for _, c := range by.Changed {
		if existing.IsStub(c.Stub) {
			continue
		}
		if len(calls) == 0 && carried != nil {
			for _, r := range carried.B.Results {
				step := carried.B.Session.Steps[r.Step]
				calls[sha256.Sum256([]byte(step.Out))] = step.ID
			}
		}
		all = append(all, Note{Time: c.At, Tool: c.Tool, ID: recovery.IDIn(c.Stub), Tokens: c.Tokens, Sent: tokens.Claude(c.Stub), Call: calls[c.Hash]})
	}
	return all
}
