package sessions

import (
	"context"
	"errors"
	"strings"
)

// Carried is a session that ran with hooks, billed from its transcript.
type Carried struct{ B *Bill }

// errStop stops reading a file after its first session.
var errStop = errors.New("read")

// OpenCarried reads a transcript and bills its session.
func OpenCarried(ctx context.Context, path string) (*Carried, error) {
	var c *Carried
	err := ReadFile(ctx, path, func(s Session) error {
		c = &Carried{Billed(s, nil)}
		return errStop
	})
	if c == nil {
		return nil, errors.Join(err, errors.New("no session"))
	}
	return c, nil
}

// Bill returns the price of the whole session, in fresh input tokens.
func (c *Carried) Bill() float64 { return c.B.Total }

// Sent returns how many tokens all prompts of the session had, whatever each cost: windows of a subscription count those.
func (c *Carried) Sent() (n int) {
	for _, call := range c.B.Calls {
		n += call.Prompt
	}
	return n
}

// times returns how many prompts have a result.
func (c *Carried) times(r ResultCost) (n int) {
	for c.B.has(r.Call, r.Until, r.Call+n) {
		n++
	}
	return n
}

// less returns how many tokens fewer were sent because of a cut, less what fetching parts of it again sent.
func (c *Carried) less(at ResultCost, cut int, fetches []fetch) int {
	n := cut * c.times(at)
	for _, f := range fetches {
		n -= f.Result.Tokens * c.times(f.Result)
		if f.Result.Call > 0 && f.Result.Call <= len(c.B.Calls) {
			n -= c.B.Calls[f.Result.Call-1].Prompt
		}
	}
	return n
}

// fetch is a later result that brought back parts of a cut one's original.
type fetch struct {
	Result ResultCost
	Price  float64 // of the further turn, in fresh input tokens
}

// find returns the index of a tool call's result, -1 if there is none, and the later results that brought back parts of its original:
// by a command that names its id, or by another read of the file.
func (c *Carried) find(call, id string) (at int, fetches []fetch) {
	at = -1
	for i, r := range c.B.Results {
		step := c.B.Session.Steps[r.Step]
		switch {
		case step.ID == call && call != "":
			at = i
		case at >= 0 && c.fetches(c.B.Results[at], r, id):
			fetches = append(fetches, fetch{r, c.price(r)})
		}
	}
	return at, fetches
}

// saving is the saving by the cut of one result, in fresh input tokens.
type saving struct {
	Gross   float64
	Rereads float64 // what fetching parts of it again cost
	Fetches []fetch
	Less    int  // tokens that were not sent, over all calls, less those that were sent to fetch parts again
	Known   bool // the result is in the transcript; otherwise it counts as one write to the cache
}

// Saving returns what a cut of so many tokens of a call's result saved. c may be nil: there is no transcript.
func (c *Carried) Saving(call, id string, cut int) saving {
	s := saving{}
	weight := DefaultPrices.CacheWrite
	if c != nil {
		cut = c.B.dense(cut)
		if at, fetches := c.find(call, id); at >= 0 {
			found := c.B.Results[at]
			weight, s.Fetches, s.Known, s.Less = found.Weight, fetches, true, c.less(found, cut, fetches)
		}
	}
	for _, f := range s.Fetches {
		s.Rereads += f.Price
	}
	s.Gross = float64(cut) * weight
	return s
}

// fetches reports whether a later result contains parts of a cut one's original.
func (c *Carried) fetches(cut, later ResultCost, id string) bool {
	if strings.Contains(later.Parsed.Command, "recover "+id) {
		return true
	}
	sameContext := later.Call < len(c.B.Calls) && cut.Call < len(c.B.Calls) && c.B.Calls[later.Call].Context == c.B.Calls[cut.Call].Context
	return sameContext && cut.Parsed.File != "" && cut.Kind == later.Kind && cut.Parsed.File == later.Parsed.File
}

// price returns the price of one further turn: the context read once more, a short answer, and the result
// from then on.
func (c *Carried) price(r ResultCost) float64 {
	if r.Call == 0 || r.Call > len(c.B.Calls) {
		return float64(r.Tokens) * r.Weight
	}
	before := c.B.Calls[r.Call-1]
	return float64(before.Prompt)*before.Price.CacheRead + TurnTokens*before.Price.Output + float64(r.Tokens)*r.Weight
}
