package proxy

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"sync"
)

// key identifies a tool result, or a history up to some point: equal histories have equal keys.
type key [sha256.Size]byte

// keyring holds the keys of the results seen before. A client sends its whole history with every request,
// so almost all results have been seen, and recognising one is some ten times faster than hashing its text
// with SHA-256. The zero value is ready to use.
type keyring struct {
	once sync.Once
	seed maphash.Seed

	mu    sync.Mutex
	known map[fingerprint]key
}

// fingerprint identifies a result within this process. Nobody outside knows the seed of its hash.
type fingerprint struct {
	call  string // its id
	bytes int
	hash  uint64
}

// maxKnown bounds the keys held in memory.
const maxKnown = 100_000

// identify sets the key of each result of a conversation.
func (k *keyring) identify(c *conversation) {
	k.once.Do(func() { k.seed, k.known = maphash.MakeSeed(), make(map[fingerprint]key) })
	equal := make(map[key]uint64)
	for _, r := range c.results {
		print := fingerprint{call: r.id, bytes: r.bytes}
		for _, s := range r.texts {
			print.hash = print.hash*31 + maphash.Bytes(k.seed, s.of(c.body))
		}
		var known bool
		if r.key, known = k.find(print); !known {
			r.key = r.hash(c.body)
			k.add(print, r.key)
		}
		n := equal[r.key]
		equal[r.key]++
		if n > 0 {
			r.key = r.key.again(n)
		}
	}
}

// again returns the key of the result that follows n equal ones: local servers give every call the same id, and a command
// that runs twice may print the same.
func (k key) again(n uint64) key { return sha256.Sum256(binary.AppendUvarint(k[:], n)) }

func (k *keyring) find(print fingerprint) (key, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, ok := k.known[print]
	return found, ok
}

func (k *keyring) add(print fingerprint, of key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) >= maxKnown {
		clear(k.known)
	}
	k.known[print] = of
}

// hash derives a result's key from the call's id and the text, so that the same text read again later is a
// different result.
func (r *result) hash(body []byte) (k key) {
	hash := sha256.New()
	hash.Write([]byte(r.id))
	for _, s := range r.texts {
		hash.Write([]byte{0})
		hash.Write(s.of(body))
	}
	hash.Sum(k[:0])
	return k
}
