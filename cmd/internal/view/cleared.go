package view

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/bill"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/sqlite"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// wayBack returns the command that prints an original, for the user.
func wayBack(id string) string { return existing.DefaultBack + " " + id }

// clearedEvents returns the clearings, each with the call from which on it has paid.
func (o opened) clearedEvents() (list []Event) {
	prices := planner.DefaultPrices()
	at := map[[sha256.Size]byte]bill.Result{}
	for _, r := range o.bill.Results {
		at[sha256.Sum256([]byte(o.bill.Session.Steps[r.Step].Out))] = r
	}
	for _, group := range together(o.cleared) {
		call := o.callAfter(group[0].At)
		freed, behind := 0, 0
		for _, c := range group {
			freed += c.Tokens - tokens.Claude(c.Stub)
			if r, ok := at[c.Hash]; ok {
				behind = max(behind, o.behind(r, call))
			}
		}
		b := prices.BreakEven(freed, max(behind-freed, 0))
		for _, c := range group {
			stub := tokens.Claude(c.Stub)
			e := Event{Kind: WasCleared, Call: call, Tool: c.Tool, About: c.Path, ID: archive.IDIn(c.Stub), Tokens: c.Tokens, Sent: stub, Since: max(len(o.bill.Calls)-call, 0)}
			if r, ok := at[c.Hash]; ok {
				e.Use, e.About = o.bill.Session.Steps[r.Step].ID, cmp.Or(c.Path, r.Parsed.Subject())
			}
			e.Gross = float64(c.Tokens-stub) * prices.Read * float64(e.Since)
			if e.ID != "" {
				e.Back = wayBack(e.ID)
			}
			e.Why = fmt.Sprintf("cleared with %d tokens in all; %d behind them were written to the cache again", freed, max(behind-freed, 0))
			e.Pays = b.Calls
			if c.Free {
				e.Why, e.Pays = fmt.Sprintf("cleared with %d tokens in all; the cache had expired, so that it cost nothing", freed), 0
			}
			list = append(list, e)
		}
	}
	return list
}

// together groups clearings by the decision.
func together(list []sqlite.Cleared) (groups [][]sqlite.Cleared) {
	for _, c := range list {
		if n := len(groups); n > 0 && groups[n-1][0].Since == c.Since {
			groups[n-1] = append(groups[n-1], c)
			continue
		}
		groups = append(groups, []sqlite.Cleared{c})
	}
	return groups
}

// callAfter returns the first call that ended after a point in time; its prompt is the first that the change is in.
func (o opened) callAfter(t time.Time) int {
	s := o.bill.Session
	for i, c := range o.bill.Calls {
		if at := s.Steps[c.Step].At; at > 0 && !s.Begun.Add(at).Before(t) {
			return i
		}
	}
	return max(len(o.bill.Calls)-1, 0)
}

// behind returns the tokens of a call's prompt from a result on.
func (o opened) behind(r bill.Result, call int) int {
	before := 0
	if r.Call > 0 && r.Call <= len(o.bill.Calls) {
		before = o.bill.Calls[r.Call-1].Prompt
	}
	if call >= len(o.bill.Calls) {
		return 0
	}
	return max(o.bill.Calls[call].Prompt-before, 0)
}
