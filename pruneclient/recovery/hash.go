package recovery

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"sync"
)

// LiteLLM looks for 24 hexadecimal digits after "hash=" in what its model is sent, and offers the model a tool that takes them. They are
// the digits of an id and a checksum, so that other hashes in a conversation are none of ours.

var hashPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{24}$`) })

// Hash returns an id in the form of such a hash.
func Hash(id string) string {
	sum := sha256.Sum256([]byte(id))
	return id[len("prn_"):] + hex.EncodeToString(sum[:8])
}

// IDOf returns the id that a hash stands for; "": it is none of ours.
func IDOf(hash string) string {
	if !hashPattern().MatchString(hash) {
		return ""
	}
	if id := "prn_" + hash[:idDigits]; Hash(id) == hash {
		return id
	}
	return ""
}
