// Package promptcache is what the stand-ins for models' APIs know of a prompt: what their cache has of it, what is written to it, for
// which usage, at which price, and what is refused. Live, the end-to-end tests and the tests here ask it.
package promptcache

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

// The bounds of Anthropic's cache (SPEC part O): so many marks in a request, and so many blocks from each mark back to an entry.
const (
	mostMarks = 4
	lookBack  = 20
)

// The others' cache finds any common beginning of so many tokens, in such steps.
const (
	leastCommon = 1024
	commonStep  = 128
	mostPrompts = 16 // that it is looked for in, the newest ones
)

// Cache is a provider's cache of prompts. Its zero value is empty.
type Cache struct {
	Density float64 // tokens of the model for one that Claude counts; 0: 1

	mu      sync.Mutex
	counted map[key]int    // tokens, by block
	entries map[key]*entry // Anthropic's, by the prefix that ends there
	prompts []sent         // the others'
	last    []block        // of the newest prompt
}

type key = [sha256.Size]byte

// entry is kept until it was not read for its lifetime.
type entry struct {
	life   time.Duration
	used   time.Time
	blocks int
}

func (e *entry) alive(at time.Time) bool { return at.Sub(e.used) <= e.life }

type sent struct {
	model  string
	blocks []block
	at     time.Time
}

// Check returns why the API refuses a request, nil if it does not: Anthropic's refuses marks in the wrong places, and thinking that is
// bound to something else than what stands before it.
func Check(path string, body []byte) error {
	p, err := parse(path, body)
	if err != nil || !p.marked {
		return err
	}
	if _, message := tooltest.CheckThinking(body); message != "" && tokens.BindsThinking(p.model, true) {
		return errors.New(message)
	}
	return p.check()
}

// Send returns the usage of a request, and keeps what the API would keep of it.
func (c *Cache) Send(path string, body []byte, at time.Time) (Usage, error) {
	p, err := parse(path, body)
	if err != nil {
		return Usage{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(p.blocks)
	c.last = p.blocks
	if !p.marked {
		return c.common(p, at), nil
	}
	return c.marks(p, at), nil
}

// count sets the tokens of blocks, as replay estimates them.
func (c *Cache) count(blocks []block) {
	if c.counted == nil {
		c.counted, c.entries = map[key]int{}, map[key]*entry{}
	}
	for i := range blocks {
		b := &blocks[i]
		n, known := c.counted[b.key]
		if !known {
			n = c.tokensOf(b.text)
			c.counted[b.key] = n
		}
		b.tokens = n
	}
}

func (c *Cache) tokensOf(text string) int {
	return int(cmp.Or(c.Density, 1) * float64(Count(text)))
}

// Count returns the tokens of a text, as Claude counts them.
func Count(text string) int { return int(tokens.ClaudePerToken * float64(tokens.EstimateAll(text))) }

// check returns why Anthropic's API refuses the marks of a prompt.
func (p prompt) check() error {
	marks, short := 0, false
	for _, b := range p.blocks {
		switch {
		case b.life == 0:
			continue
		case b.unmarkable:
			return errors.New("cache_control cannot be set for thinking or empty text blocks")
		case b.life == tokens.CacheHour && short:
			return errors.New("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
		}
		marks++
		short = short || b.life < tokens.CacheHour
	}
	if marks > mostMarks {
		return fmt.Errorf("a maximum of %d blocks with cache_control may be provided, found %d", mostMarks, marks)
	}
	return nil
}

// marks is Anthropic's rule: each mark looks back for an entry that an earlier request wrote, the longest is read, and what stands
// between it and the last mark is written, to each mark for its lifetime.
func (c *Cache) marks(p prompt, at time.Time) (u Usage) {
	prefixes, sizes := p.prefixes()
	read := 0 // blocks
	for i, b := range p.blocks {
		if b.life == 0 {
			continue
		}
		for end := i + 1; end > max(i-lookBack, read); end-- {
			if e := c.entries[prefixes[end]]; e != nil && e.alive(at) {
				e.used, read = at, end
				break
			}
		}
	}
	u.Read = sizes[read]
	m, _ := tokens.ModelOf(p.model)
	from := read
	for i, b := range p.blocks {
		if b.life == 0 || sizes[i+1] < m.Least {
			continue
		}
		if e := c.entries[prefixes[i+1]]; e != nil && e.alive(at) {
			e.used = at
			continue
		}
		c.entries[prefixes[i+1]] = &entry{b.life, at, i + 1}
		if b.life >= tokens.CacheHour {
			u.Hour += max(sizes[i+1]-sizes[from], 0)
		} else {
			u.Short += max(sizes[i+1]-sizes[from], 0)
		}
		from = max(from, i+1)
	}
	u.Input = sizes[len(p.blocks)] - sizes[from]
	return u
}

// prefixes returns the key and the tokens of each beginning of a prompt, by its number of blocks.
func (p prompt) prefixes() (keys []key, sizes []int) {
	h := sha256.Sum256([]byte(p.model))
	keys, sizes = append(keys, h), append(sizes, 0)
	for _, b := range p.blocks {
		h = sha256.Sum256(append(h[:], b.key[:]...))
		keys, sizes = append(keys, h), append(sizes, sizes[len(sizes)-1]+b.tokens)
	}
	return keys, sizes
}

// common is the others' rule: what a prompt has in common with one that was sent not long ago is read.
func (c *Cache) common(p prompt, at time.Time) Usage {
	most, all := 0, 0
	for _, b := range p.blocks {
		all += b.tokens
	}
	for _, s := range c.prompts {
		if s.model == p.model && at.Sub(s.at) <= tokens.CacheLife {
			most = max(most, c.inCommon(s.blocks, p.blocks))
		}
	}
	if most < leastCommon {
		most = 0
	}
	most -= most % commonStep
	c.prompts = append(c.prompts, sent{p.model, p.blocks, at})
	c.prompts = c.prompts[max(len(c.prompts)-mostPrompts, 0):]
	return Usage{Read: most, Short: all - most}
}

// inCommon returns the tokens with which two prompts begin.
func (c *Cache) inCommon(a, b []block) (n int) {
	for i := range min(len(a), len(b)) {
		if a[i].key == b[i].key {
			n += a[i].tokens
			continue
		}
		same := 0
		for same < min(len(a[i].text), len(b[i].text)) && a[i].text[same] == b[i].text[same] {
			same++
		}
		return n + c.tokensOf(a[i].text[:same])
	}
	return n
}

// Find returns where a part of the newest prompt's tokens ends: behind so many blocks, and a part of the next one.
func (c *Cache) Find(part float64) (blocks int, rest float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := 0.0
	for _, b := range c.last {
		left += part * float64(b.tokens)
	}
	for _, b := range c.last {
		n := float64(b.tokens)
		if left < n {
			return blocks, left / n
		}
		left -= n
		blocks++
	}
	return blocks, 0
}

// Lose forgets what stands behind so many blocks of the newest prompt and a part of the next one, as providers do for reasons of their own.
func (c *Cache) Lose(blocks int, rest float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for prefix, e := range c.entries {
		if e.blocks > blocks {
			delete(c.entries, prefix)
		}
	}
	c.prompts = c.prompts[max(len(c.prompts)-1, 0):]
	for i, s := range c.prompts {
		n := min(blocks, len(s.blocks))
		kept := append([]block{}, s.blocks[:n]...)
		if n < len(s.blocks) {
			text := s.blocks[n].text
			kept = append(kept, block{text: text[:int(rest*float64(len(text)))]})
		}
		c.prompts[i].blocks = kept
	}
}
