package trace

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// Seal is the signature at the end of a batch of lines. It covers its own line, which
// contains the link to the line before, and so everything the process has written.
//
// The scheme is forward-secure: each seal names the public key of the next one, and the key
// that signed it is then erased. An attacker who takes over the process later cannot forge
// earlier lines.
type Seal struct {
	By   string // public key, base64
	Next string // public key of the next seal
	Sig  string

	ok bool // set by the decoder when the signature verifies
}

// Valid reports whether the signature matches the line and its public key. Only decoded
// records have it set.
func (s *Seal) Valid() bool { return s.ok }

var base = base64.RawStdEncoding

// signer makes seals and replaces its key after each one.
type signer struct {
	seed [ed25519.SeedSize]byte
	key  ed25519.PrivateKey
	next [ed25519.SeedSize]byte // seed of the next key, prepared by sign
}

func newSigner() *signer {
	s := new(signer)
	_, _ = rand.Read(s.seed[:]) // documented never to fail
	s.key = ed25519.NewKeyFromSeed(s.seed[:])
	return s
}

// public is the public key that will verify the next seal.
func (s *signer) public() string { return base.EncodeToString(s.key[ed25519.SeedSize:]) }

// appendSeal signs the line that starts at b[start] and appends the seal.
func (s *signer) appendSeal(b []byte, start int) []byte {
	s.next = sha256.Sum256(append([]byte("mcp-pruner trace key"), s.seed[:]...))
	next := ed25519.NewKeyFromSeed(s.next[:])
	b = append(b, `,"seal":{"by":"`...)
	b = base.AppendEncode(b, s.key[ed25519.SeedSize:])
	b = append(b, `","next":"`...)
	b = base.AppendEncode(b, next[ed25519.SeedSize:])
	b = append(b, '"')
	sig := ed25519.Sign(s.key, b[start:])
	b = append(b, `,"sig":"`...)
	b = base.AppendEncode(b, sig)
	return append(b, `"}`...)
}

// advance erases the key of the last seal and takes the next one.
func (s *signer) advance() {
	clear(s.key)
	s.seed = s.next
	clear(s.next[:])
	s.key = ed25519.NewKeyFromSeed(s.seed[:])
}

func (s *Seal) append(b []byte) []byte {
	if s == nil {
		return b
	}
	b = appendMember(b, `,"seal":{"by":`, s.By)
	b = appendMember(b, `,"next":`, s.Next)
	b = appendMember(b, `,"sig":`, s.Sig)
	return append(b, '}')
}

// verify checks the signature over text, which is the line up to the member "sig".
func (s *Seal) verify(text []byte) {
	key, err := base.DecodeString(s.By)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return
	}
	sig, err := base.DecodeString(s.Sig)
	s.ok = err == nil && ed25519.Verify(key, text, sig)
}
