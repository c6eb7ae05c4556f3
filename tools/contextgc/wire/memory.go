package wire

import (
	"bytes"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// Memory holds what was parsed of recent requests. A client sends its whole history with every request; one that begins with the same
// bytes goes on from there, and becomes the same conversation as without it. The zero value is ready to use.
type Memory struct {
	once sync.Once
	seed maphash.Seed

	mu     sync.Mutex
	recent []*beginning // the latest one last
	size   int
}

// The bounds of a Memory, in about the bytes that are held.
const (
	maxBeginning  = 16 << 20 // of one history
	maxBeginnings = 64 << 20 // of all
	maxHistories  = 256
)

// beginning is the beginning of a request, up to the end of one of its messages. It never changes.
type beginning struct {
	api *API
	Conversation
	last   span
	end    []byte  // the last bytes up to there
	pieces []piece // all bytes, by the requests that added them
}

// piece is a part of a body.
type piece struct {
	to   int
	hash uint64
}

// Parse parses the body of a request to an API. Of the values in it nothing is made unless room is nil or returns no error.
func (m *Memory) Parse(a *API, body []byte, room func(values int) error) (*Conversation, error) {
	m.once.Do(func() { m.seed = maphash.MakeSeed() })
	from := m.find(a, body)
	c, top, err := from.conversation(body)
	if err == nil && room != nil {
		err = room(c.Values(top))
	}
	if err != nil {
		return nil, err
	}
	var next *beginning
	c.passed = func(last span, messages int) { next = m.here(c, a, from, last, messages) }
	c.known.parse = func(c *Conversation) {
		m.replace(from, nil)
		fresh, err := m.Parse(a, body, nil)
		if err != nil {
			panic(err) // impossible: it was parsed before
		}
		fresh.Owner, fresh.Session, fresh.folders = c.Owner, c.Session, c.folders
		*c = *fresh
	}
	if err := a.parse(c, top); err != nil {
		return nil, err
	}
	if next != nil {
		c.ready = func(until keyed) {
			next.keyed = until
			m.replace(from, next)
		}
	}
	return c, nil
}

// find returns the longest beginning of a body; nil: none is known.
func (m *Memory) find(a *API, body []byte) (longest *beginning) {
	m.mu.Lock()
	recent := slices.Clone(m.recent)
	m.mu.Unlock()
	for _, b := range recent {
		if b.api.Name == a.Name && (longest == nil || b.last.To > longest.last.To) && m.begins(body, b) {
			longest = b
		}
	}
	return longest
}

// begins reports whether a body begins so. Nobody outside knows the seed of the hashes.
func (m *Memory) begins(body []byte, b *beginning) bool {
	if len(body) < b.last.To || !bytes.HasSuffix(body[:b.last.To], b.end) {
		return false
	}
	from := 0
	for _, p := range b.pieces {
		if maphash.Bytes(m.seed, body[from:p.to]) != p.hash {
			return false
		}
		from = p.to
	}
	return true
}

// conversation returns a conversation that goes on from a beginning, which may be nil, and the span of the body's value.
func (b *beginning) conversation(body []byte) (*Conversation, span, error) {
	if b == nil {
		return newConversation(body)
	}
	c := b.Conversation
	d, top, err := b.Document.Continue(body, b.last)
	c.Document, c.open = d, maps.Clone(c.open)
	for id, calls := range c.open {
		c.open[id] = slices.Clip(calls) // which other requests go on from, too
	}
	c.Turns = append(make([]Turn, 0, len(c.Turns)+changing), c.Turns...)
	return &c, top, err
}

// here returns the beginning of a request up to the end of a message, which is the latest that was parsed. Nothing that is appended to
// the conversation later appears in it.
func (m *Memory) here(c *Conversation, a *API, from *beginning, last span, messages int) *beginning {
	b := &beginning{api: a, Conversation: *c, last: last, end: bytes.Clone(c.Body[max(0, last.To-64):last.To])}
	b.known, b.Body = known{messages: messages}, nil
	b.open, b.Turns = maps.Clone(c.open), slices.Clone(c.Turns)
	b.Results, b.blocks, b.told, b.added = slices.Clip(c.Results), slices.Clip(c.blocks), slices.Clip(c.told), slices.Clip(c.added)
	t := b.Last()
	t.Uses, t.Results, t.Thoughts, t.words, t.parts = slices.Clip(t.Uses), slices.Clip(t.Results), slices.Clip(t.Thoughts), slices.Clip(t.words), slices.Clip(t.parts)
	before := 0
	if from != nil {
		before, b.pieces = from.last.To, slices.Clip(from.pieces)
	}
	b.pieces = append(b.pieces, piece{last.To, maphash.Bytes(m.seed, c.Body[before:last.To])})
	return b
}

// bytes returns about how much memory a beginning takes.
func (b *beginning) bytes() int {
	return 24*b.Values(b.last) + 1000*len(b.Results) + 500*len(b.Turns) + 200*len(b.blocks)
}

// replace puts a beginning in the place of the one that its request went on from. Either may be nil.
func (m *Memory) replace(from, b *beginning) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.recent, from); i >= 0 {
		m.recent, m.size = slices.Delete(m.recent, i, i+1), m.size-from.bytes()
	}
	if b == nil || b.bytes() > maxBeginning {
		return
	}
	m.recent = append(m.recent, b)
	for m.size += b.bytes(); m.size > maxBeginnings || len(m.recent) > maxHistories; m.recent = slices.Delete(m.recent, 0, 1) {
		m.size -= m.recent[0].bytes()
	}
}
