package sessions

import (
	"fmt"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// A session's own usage tells how many tokens its texts have, if so many of its calls add enough of them.
const (
	calibrations = 5
	calibratedBy = 300 // tokens that a call adds, at least
	leastDense   = .5
	mostDense    = 2
)

// calibrate sets how many tokens the session's texts have: by its usage, or by its model where that says too little.
func (b *Bill) calibrate() {
	if b.Measured {
		if ratios := b.growth(); len(ratios) >= calibrations {
			slices.Sort(ratios)
			b.density = min(max(ratios[len(ratios)/2], leastDense), mostDense)
		}
	}
	for i := range b.Calls {
		c := &b.Calls[i]
		c.added, c.written = b.dense(c.added), b.dense(c.written)
		if b.Measured && c.thinks {
			c.Hidden = max(c.Usage.Output-c.written, 0)
		}
	}
	for i := range b.Results {
		b.Results[i].Tokens = b.dense(b.Results[i].Tokens)
	}
}

// growth returns by how many tokens the prompt grew for one that Claude counts, of each call that added enough.
func (b *Bill) growth() (ratios []float64) {
	for i := 1; i < len(b.Calls); i++ {
		c, before := b.Calls[i], b.Calls[i-1]
		if c.added < calibratedBy || c.Context != before.Context {
			continue
		}
		grown, texts := c.Prompt-before.Prompt, c.added+before.written
		if before.thinks && before.Usage.Output >= before.written/2 {
			grown, texts = grown-before.Usage.Output, c.added
		}
		if grown > 0 {
			ratios = append(ratios, float64(grown)/float64(texts))
		}
	}
	return ratios
}

// fallen is the part of its size by which a prompt must be smaller than the one before it for the client to have left something
// out without a word in the transcript.
const fallen = .03

// leave finds the results that later prompts no longer have though the transcript neither records a compaction nor says that they were
// taken out, because a prompt and the one after it are smaller than the one before: then the oldest are gone. It also counts what is
// known of the prompts.
func (b *Bill) leave() {
	said := b.said()
	first, known := 0, 0 // the oldest result that stands, and the tokens of all texts
	for i := range b.Calls {
		c := &b.Calls[i]
		if i == 0 || c.Context != b.Calls[i-1].Context {
			known = 0
			for first < len(b.Results) && b.Results[first].Call < i {
				first++
			}
		} else {
			c.Gone = b.Calls[i-1].Gone
			known += b.Calls[i-1].written + b.Calls[i-1].Hidden
		}
		known += c.added
		gone := said[i]
		lost := max(b.lost(i)-gone, 0)
		for ; lost > 0 && first < len(b.Results) && b.Results[first].Call < i; first++ {
			if r := &b.Results[first]; r.Until == 0 {
				r.Until = i
				lost -= r.Tokens
				gone += r.Tokens
			}
		}
		c.Gone, known = c.Gone+gone, max(known-gone, 0)
		b.known += float64(known)
	}
}

// said returns the tokens of the results that the client took out of the prompt before a call, by the call, as the transcript says.
func (b *Bill) said() map[int]int {
	of := map[int]int{}
	for _, r := range b.Results {
		if r.Until > r.Call {
			of[r.Until] += r.Tokens
		}
	}
	return of
}

// lost returns how many tokens a prompt lacks that it should have by the one before it.
func (b *Bill) lost(i int) int {
	if i == 0 || !b.Measured || b.Calls[i].Context != b.Calls[i-1].Context {
		return 0
	}
	before := b.Calls[i-1]
	least := int(float64(before.Prompt) * (1 - fallen))
	back := i+1 < len(b.Calls) && b.Calls[i+1].Context == before.Context && b.Calls[i+1].Prompt > least
	if b.Calls[i].Prompt > least || back {
		return 0
	}
	return before.Prompt + before.written + before.Hidden + b.Calls[i].added - b.Calls[i].Prompt
}

// tooMuch is how many times what the usage counts the texts may have before nothing can be said of a session.
const tooMuch = 1.3

// Refused returns why nothing can be said of a session; "" if something can.
func (b *Bill) Refused() string {
	sent := 0.0
	for _, c := range b.Calls {
		sent += float64(c.Prompt)
	}
	if !b.Measured || b.known <= tooMuch*sent {
		return ""
	}
	return fmt.Sprintf("the texts of its transcript are %.0f %% of the prompts that the API counted: the client leaves out what the transcript does not say", 100*b.known/max(sent, 1))
}

// systemShare is the part of what stands before a conversation that ends at the mark of the system prompt, where the usage does not
// show it: the median of the sessions of Claude Code of early 2026 whose usage does. The rest are a first message's reminders.
const systemShare = .6

// SystemOf returns how many of the tokens that stand before a conversation are tools and system prompt, which a cache with marks finds
// again after any change behind them: the least that a call found.
func (b *Bill) SystemOf(base int) int {
	if !b.Measured {
		return base
	}
	least := base
	for _, c := range b.Calls {
		if read := c.Usage.CacheRead; read > 0 {
			least = min(least, read)
		}
	}
	if least == base {
		return int(systemShare * float64(base))
	}
	return least
}

// Foreseen reports whether what stands between an agent and its model could see before a call that the cache had lost a part of the
// prompt: the client took something out, or it had lost more than half, since the client has changed its beginning, or made a pause. A
// cache without marks loses prompts for reasons of its own, and then only the pause says so.
func (b *Bill) Foreseen(call int) bool {
	this := b.Calls[call]
	switch {
	case call == 0:
		return false
	case this.Gone > b.Calls[call-1].Gone:
		return true
	case 2*this.Usage.CacheRead >= b.Calls[call-1].Prompt:
		return false
	}
	return this.Price.LookBack() > 0 || !b.Measured || b.at(call)-b.at(call-1) > tokens.CacheHour
}
