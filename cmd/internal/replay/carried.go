package replay

import (
	"context"
	"errors"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// Carried is a session that ran with hooks, billed from its transcript.
type Carried struct{ b *bill }

// errStop stops reading a file after its first session.
var errStop = errors.New("read")

// Open reads a transcript and bills its session.
func Open(ctx context.Context, path string) (*Carried, error) {
	var c *Carried
	err := sessions.ReadFile(ctx, path, func(s sessions.Session) error {
		c = &Carried{newBill(s, DefaultPrices)}
		return errStop
	})
	if c == nil {
		return nil, errors.Join(err, errors.New("no session"))
	}
	return c, nil
}

// Bill returns the price of the whole session, in fresh input tokens.
func (c *Carried) Bill() float64 { return c.b.total }

// Result finds the result of a tool call. weight is the price of one of its tokens over the session,
// rereads the price of fetching parts of the original again: by a command that names its id, or by another
// read of the file.
func (c *Carried) Result(call, id string) (weight, rereads float64, ok bool) {
	at := -1
	for i, r := range c.b.results {
		step := c.b.session.Steps[r.step]
		switch {
		case step.ID == call && call != "":
			at = i
		case at >= 0 && c.fetches(c.b.results[at], r, id):
			rereads += c.price(r)
		}
	}
	if at < 0 {
		return 0, rereads, false
	}
	return c.b.results[at].weight, rereads, true
}

// fetches reports whether a later result contains parts of a cut one's original.
func (c *Carried) fetches(cut, later result, id string) bool {
	if strings.Contains(later.parsed.Command, "recover "+id) {
		return true
	}
	sameContext := later.call < len(c.b.calls) && cut.call < len(c.b.calls) && c.b.calls[later.call].context == c.b.calls[cut.call].context
	return sameContext && cut.parsed.File != "" && cut.kind == later.kind && cut.parsed.File == later.parsed.File
}

// price returns the price of one further turn: the context read once more, a short answer, and the result
// from then on.
func (c *Carried) price(r result) float64 {
	if r.call == 0 || r.call > len(c.b.calls) {
		return float64(r.tokens) * r.weight
	}
	before := c.b.calls[r.call-1]
	return float64(before.prompt)*c.b.prices.CacheRead + turnTokens*c.b.prices.Output + float64(r.tokens)*r.weight
}
