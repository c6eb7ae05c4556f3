package replay

import (
	"context"
	"errors"
	"strings"

	"mcp-pruner/cmd/internal/sessions"
)

// Carried is a session that happened with hooks, billed from its transcript.
type Carried struct{ b *bill }

// errStop ends the reading of a file after its first session.
var errStop = errors.New("read")

// Open bills the session of a transcript.
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

// Tokens is how many tokens a result counts for: what hooks note is counted as replay
// counts it.
func Tokens(text string) int { return countTokens(text) }

// Bill is the price of the whole session.
func (c *Carried) Bill() float64 { return c.b.total }

// Result finds the result of a tool call: what one of its tokens cost in the session,
// and what fetching parts of the original again did. An original is fetched by a
// command that names its id, or by reading its file once more.
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

// fetches says whether a later result brings back parts of a cut one.
func (c *Carried) fetches(cut, later result, id string) bool {
	if later.parsed.Command != "" && strings.Contains(later.parsed.Command, "recover "+id) {
		return true
	}
	sameContext := later.call < len(c.b.calls) && cut.call < len(c.b.calls) && c.b.calls[later.call].context == c.b.calls[cut.call].context
	return sameContext && cut.parsed.File != "" && cut.kind == later.kind && cut.parsed.File == later.parsed.File
}

// price is a further turn: the context read once more, a short answer, and the
// result from then on.
func (c *Carried) price(r result) float64 {
	if r.call == 0 || r.call > len(c.b.calls) {
		return float64(r.tokens) * r.weight
	}
	before := c.b.calls[r.call-1]
	return float64(before.prompt)*c.b.prices.CacheRead + turnTokens*c.b.prices.Output + float64(r.tokens)*r.weight
}
