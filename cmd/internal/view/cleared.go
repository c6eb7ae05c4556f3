package view

import (
	"cmp"
	"crypto/sha256"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// wayBack returns the command that prints an original, for the user.
func wayBack(id string) string { return existing.DefaultBack + " " + id }

// proxyEvents returns what the proxy cleared, each with the number of calls after which it has paid, and what it pruned.
func (o opened) proxyEvents() (list []Event) {
	at := make(map[[sha256.Size]byte]sessions.ResultCost, len(o.bill.Results))
	for _, r := range o.bill.Results {
		at[sha256.Sum256([]byte(o.bill.Session.Steps[r.Step].Out))] = r
	}
	carried := &sessions.Carried{B: o.bill}
	for _, c := range o.cleared {
		call, stub := o.callAfter(c.At), tokens.Claude(c.Stub)
		e := Event{Kind: WasCleared, Call: call, Tool: c.Tool, About: c.Path, ID: recovery.IDIn(c.Stub), Tokens: c.Tokens, Sent: stub, Why: c.Why, Pays: c.Pays,
			Since: max(len(o.bill.Calls)-call, 0), proxied: c.Stub}
		if r, ok := at[c.Hash]; ok {
			e.Use, e.About = o.bill.Session.Steps[r.Step].ID, cmp.Or(c.Path, r.Parsed.Subject())
		}
		if e.ID != "" {
			e.Back = wayBack(e.ID)
		}
		if !existing.IsStub(c.Stub) { // it was pruned when it was new
			e.Kind, e.Why, e.Pays = WasCut, "", 0
			list = append(list, o.saved(carried, e)...)
			continue
		}
		e.Gross = float64(c.Tokens-stub) * o.bill.Prices.CacheRead * float64(e.Since)
		list = append(list, e)
	}
	return list
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
