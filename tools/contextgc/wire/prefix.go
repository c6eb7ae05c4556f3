package wire

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// How long providers keep a request in their caches after its last use: Anthropic by default, or as long as the request asks for;
// OpenAI and Google at least for a while that they do not promise, and at most for an hour, or for a day if the request asks for it.
const (
	ShortLife = tokens.CacheLife
	LongLife  = tokens.CacheHour
	DayLife   = tokens.CacheDay
)

// Prefixes returns a hash of what is sent up to the end of each turn, where shown stands in the place of results, by index; ""
// where a result stands itself. The first hash is of what stands before the turns: model, system prompt and tools. Cache marks
// move from one request to the next and are left out.
func (c *Conversation) Prefixes(seed maphash.Seed, shown []string) []uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, s := range c.base {
		c.hashBase(&h, s)
	}
	list := append(make([]uint64, 0, len(c.Turns)+1), h.Sum64())
	next := 0
	for i, t := range c.Turns {
		for _, s := range t.parts {
			write(&h, s.Of(c.Body))
		}
		for ; next < len(c.Results) && c.Results[next].Turn <= i; next++ {
			if shown[next] != "" {
				write(&h, []byte(shown[next]))
				continue
			}
			for _, s := range c.Results[next].texts {
				write(&h, s.Of(c.Body))
			}
		}
		list = append(list, h.Sum64())
	}
	return list
}

// noCache is the start of a text of the system prompt that Claude Code changes with each request and that its API does not cache.
const noCache = `x-anthropic-billing-header`

// hashBase hashes a part of what stands before the turns.
func (c *Conversation) hashBase(h *maphash.Hash, v span) {
	if v.To == 0 || !v.IsArray(c.Body) {
		write(h, v.Of(c.Body))
		return
	}
	_ = c.Items(v, func(block span) error { // the request was parsed before
		if !bytes.Contains(block.Of(c.Body)[:min(128, block.To-block.From)], []byte(noCache)) {
			write(h, block.Of(c.Body))
		}
		return nil
	})
}

func write(h *maphash.Hash, part []byte) {
	_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(part)))) // a hash takes everything
	_, _ = h.Write(part)
}
