package replay

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// prefixFacts collects them. A sub-agent's prefix is another one, which is not known.
func (f *Figures) prefixFacts() prefixFacts {
	s := f.Session
	facts := prefixFacts{Facts: sessions.FactsOf(s)}
	if !subAgent(s) {
		facts.parts = f.listed()
		for _, p := range facts.parts {
			facts.listed += p.price
		}
		facts.parts = append(facts.parts, f.defined()...)
	}
	call := -1
	for _, step := range s.Steps {
		if step.Kind == sessions.Call {
			call++
		}
		for _, p := range sessions.CalledBy(step) {
			facts.called = append(facts.called, calledPart{p, max(call, 0)})
		}
	}
	return facts
}

func subAgent(s sessions.Session) bool {
	return agent.Named(s.Source).Name != "" && strings.Contains(s.ID, "/")
}

// listed returns the parts that the transcript lists, each with the price of all its listings.
func (f *Figures) listed() []standing {
	var parts []standing
	at := map[[2]string]int{}
	call := 0
	for _, step := range f.Session.Steps {
		if step.Kind == sessions.Call {
			call++
		}
		for _, p := range sessions.ListedIn(step) {
			key := [2]string{string(p.Kind), p.Name}
			i, ok := at[key]
			if !ok {
				i, at[key] = len(parts), len(parts)
				parts = append(parts, standing{Part: p})
			}
			parts[i].price += float64(p.Tokens) * f.WeightFrom(call)
		}
	}
	return parts
}

// defined returns the client's own tools of known size. A token of theirs costs as much as the average one of the prefix.
func (f *Figures) defined() []standing {
	if f.prefixTokens == 0 {
		return nil
	}
	perToken := f.contents[sessions.Prefix].Sum() / float64(f.prefixTokens)
	var parts []standing
	for _, p := range sessions.DefinedParts(f.Session) {
		parts = append(parts, standing{Part: p, price: float64(p.Tokens) * perToken})
	}
	return parts
}

// chooseContexts evaluates the policy context: before each session of a project, what the sessions before it did not use is
// switched off.
func chooseContexts(list []*Figures, rule sessions.PrefixRule) {
	projects := map[string][]*Figures{}
	var order []string
	for _, f := range list {
		key := f.Session.Source + "\n" + f.Session.Project
		if projects[key] == nil {
			order = append(order, key)
		}
		projects[key] = append(projects[key], f)
	}
	for _, key := range order {
		one := projects[key]
		slices.SortStableFunc(one, func(a, b *Figures) int {
			if a.Session.Begun.IsZero() != b.Session.Begun.IsZero() { // undated sessions are taken for the latest
				return cmp.Compare(b.Session.Begun.Unix(), a.Session.Begun.Unix())
			}
			return a.Session.Begun.Compare(b.Session.Begun)
		})
		use := sessions.NewPartUse()
		for _, f := range one {
			f.context(rule, use)
			use.AddFacts(f.facts.Facts)
		}
	}
}

// context computes the outcome of the policy context. use counts the sessions before. A session that calls what is switched off
// pays a turn, and everything is written to the cache once more, because the definitions stand in front; that part then saves
// nothing in this session.
func (f *Figures) context(rule sessions.PrefixRule, use *sessions.PartUse) {
	parts := make([]sessions.Part, len(f.facts.parts))
	for i, p := range f.facts.parts {
		parts[i] = p.Part
	}
	f.facts.earlier = use.Sessions()
	var o Outcome
	last := 0 // the last call that calls what is switched off
	for i, v := range rule.Judge(parts, use) {
		p := &f.facts.parts[i]
		if !v.CanGo {
			continue
		}
		if call, ok := f.calls(v.Part); ok {
			o.Missed++
			o.hurt, last = true, max(last, call)
			continue
		}
		p.gone = true
		o.Pruned++
		o.Gross += p.price
		o.gone += p.Tokens
	}
	if o.hurt {
		o.Turns, o.again = 1, f.Calls[last].Prompt
		o.Misses = float64(o.again)*(f.Calls[last].Price.CacheRead+f.WritePrice(last)) + sessions.TurnTokens*f.Calls[last].Price.Output
		o.Wide = o.Misses
	}
	f.outcomes[Context] = o
}

// PrefixSaving is the effect of the policy context on one session. Prices are in fresh input tokens.
type PrefixSaving struct {
	Earlier int // sessions of the project before this one, by which was chosen
	Off     int // tokens that the prefix lacks
	Net     float64
	Bill    float64
	Known   float64 // price of the parts whose size is known
	Movable float64 // price of those of them that a rule may let go
	Unused  float64 // price of those of these that the session did not call
	Prefix  float64 // price of all that stands before the user's first word
	Hurt    bool    // the session called what was switched off
}

// PrefixSaving returns what the policy context did.
func (f *Figures) PrefixSaving() PrefixSaving {
	o := f.outcomes[Context]
	s := PrefixSaving{Earlier: f.facts.earlier, Off: o.gone, Net: o.Net(1), Bill: f.Total, Hurt: o.hurt, Prefix: f.facts.listed + f.contents[sessions.Prefix].Sum()}
	for _, p := range f.facts.parts {
		s.Known += p.price
		if sessions.FixedReason(p.Part) != "" {
			continue
		}
		s.Movable += p.price
		if _, called := f.calls(p.Part); !called {
			s.Unused += p.price
		}
	}
	return s
}

// calls returns the last model call that calls a part; a server's instructions belong to its tools.
func (f *Figures) calls(p sessions.Part) (call int, ok bool) {
	for _, c := range f.facts.called {
		if sessions.SamePart(c.Part, p) || p.Kind == sessions.OtherPart && c.Server == p.Server {
			call, ok = c.call, true
		}
	}
	return call, ok
}

// together combines hook+gc with context. It is less than the sum of their misses: the context that a turn reads once more
// is smaller.
func (f *Figures) together() Outcome {
	both, context := f.outcomes[Both], f.outcomes[Context]
	smaller := float64(both.Turns*context.gone) * f.Prices.CacheRead
	return Outcome{
		Gross: both.Gross + context.Gross, Markers: both.Markers, Misses: both.Misses + context.Misses - smaller,
		Wide: both.Wide + context.Wide - smaller, Pruned: both.Pruned + context.Pruned, Missed: both.Missed + context.Missed,
		Turns: both.Turns + context.Turns, parts: []Outcome{both, context}, hurt: context.hurt, gone: context.gone,
	}
}
