package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"maps"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Key identifies a tool result, or a history up to some point: equal histories have equal keys. Results whose call ids other
// sessions have, too, are kept apart by the first words of their sessions.
type Key [sha256.Size]byte

// Keyring holds the keys of the results seen before. A client sends its whole history with every request,
// so almost all results have been seen, and recognising one is some ten times faster than hashing its text
// with SHA-256. The zero value is ready to use.
type Keyring struct {
	once sync.Once
	seed maphash.Seed

	mu    sync.Mutex
	known map[fingerprint]Key
}

// fingerprint identifies a result within this process. Nobody outside knows the seed of its hash.
type fingerprint struct {
	call      string // its id
	arguments bool
	thought   bool
	bytes     int
	hash      uint64
}

// maxKnown bounds the keys held in memory.
const maxKnown = 100_000

// Identify sets the key of each result of a conversation.
func (k *Keyring) Identify(c *Conversation) {
	k.once.Do(func() { k.seed, k.known = maphash.MakeSeed(), make(map[fingerprint]Key) })
	beginning := c.beginning()
	whose := Key(sha256.Sum256(append(beginning[:], c.Owner...)))
	if c.whose == whose {
		return
	}
	for c.keyed.whose != (Key{}) && c.keyed.whose != whose { // the keys that came with it are of another session
		c.parse(c)
	}
	equal, until := make(map[Key]uint64), map[Key]uint64(nil)
	maps.Copy(equal, c.equal)
	for _, r := range c.Results[c.keyed.results:] {
		if r.Index == c.until {
			until = maps.Clone(equal)
		}
		print := fingerprint{call: r.ID, arguments: r.Arguments, thought: r.Thought, bytes: r.Bytes}
		for _, s := range r.texts {
			print.hash = print.hash*31 + maphash.Bytes(k.seed, s.Of(c.Body))
		}
		var known bool
		if r.Key, known = k.find(print); !known {
			r.Key = r.hash(c.Body)
			k.add(print, r.Key)
		}
		if !r.Thought && !contextgc.Distinctive(r.ID) { // another session may have such a result, too
			r.Key = sha256.Sum256(append(beginning[:], r.Key[:]...))
		}
		if c.Owner != "" { // nor may one owner's decisions replace another's results
			r.Key = sha256.Sum256(append([]byte(c.Owner+"\x00"), r.Key[:]...))
		}
		n := equal[r.Key]
		equal[r.Key]++
		if n > 0 {
			r.Key = r.Key.again(n)
		}
	}
	if c.whose = whose; c.ready != nil {
		if c.until == len(c.Results) {
			until = equal
		}
		c.ready(keyed{c.until, until, whose})
	}
}

// keyed says of which results of a history the keys are known.
type keyed struct {
	results int            // the first ones
	equal   map[Key]uint64 // how often a key came among them
	whose   Key            // whose session they are of
}

// beginning identifies a session by the folder in which it works and the person's first words. Before them a client may put
// words that change, such as the date, and around them reminders that it may omit later.
func (c *Conversation) beginning() Key {
	first, folder := c.Turns[0].words, ""
	if len(c.folders) > 0 {
		folder = c.folders[len(c.folders)-1]
	}
	for i := len(first) - 1; i >= 0; i-- {
		words, _, _ := strings.Cut(first[i].Text(c.Body), reminder)
		if words = strings.TrimSpace(words); words != "" {
			return sha256.Sum256([]byte(folder + "\x00" + words))
		}
	}
	return sha256.Sum256([]byte(folder))
}

// again returns the key of the result that follows n equal ones: local servers give every call the same id, and a command
// that runs twice may print the same.
func (k Key) again(n uint64) Key { return sha256.Sum256(binary.AppendUvarint(k[:], n)) }

func (k *Keyring) find(print fingerprint) (Key, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, ok := k.known[print]
	return found, ok
}

func (k *Keyring) add(print fingerprint, of Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) >= maxKnown {
		clear(k.known)
	}
	k.known[print] = of
}

// hash derives a result's key from the call's id and the text, so that the same text read again later is a
// different result.
func (r *Result) hash(body []byte) (k Key) {
	hash := sha256.New()
	hash.Write([]byte(r.ID))
	if r.Arguments {
		hash.Write([]byte("\x00arguments"))
	}
	if r.Thought {
		hash.Write([]byte("\x00thought"))
	}
	for _, s := range r.texts {
		hash.Write([]byte{0})
		hash.Write(s.Of(body))
	}
	hash.Sum(k[:0])
	return k
}
