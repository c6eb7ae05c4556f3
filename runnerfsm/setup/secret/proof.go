package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Proof is the key by which the proxy and its owner's other programs prove to each other that they are the owner's. Unlike
// the secret it is sent to nobody: whoever listens in the proxy's place and catches the secret from a client cannot prove
// anything by it.
type Proof string

// The request headers of a proof.
const (
	ChallengeHeader = "X-Mcp-Pruner-Challenge" // a nonce, which the proxy answers
	ProofHeader     = "X-Mcp-Pruner-Proof"     // answers the nonce of the proxy's
)

// Role is who proves what. A proof of one role is none of another, so that none can be sent back.
type Role string

// The roles.
const (
	Answers Role = "the proxy answers"
	Asks    Role = "the owner asks how the proxy is"
	Ends    Role = "the owner ends the proxy"
)

// NewNonce returns a number that was never used before.
func NewNonce() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	return hex.EncodeToString(random)
}

// LoadProof returns the user's key. It makes one if there is none yet.
func LoadProof(lookup func(string) (string, bool)) (Proof, error) {
	s, err := load(lookup, proofName)
	return Proof(s), err
}

// Sign returns the proof of a role for who asked with the nonce, at the address HOST:PORT on which the proxy was reached. What
// is asked at one address proves nothing at another, so that no other listener can pass the question on.
func (p Proof) Sign(role Role, address, nonce string) string {
	mac := hmac.New(sha256.New, []byte(p))
	mac.Write([]byte(strings.Join([]string{"mcp-pruner proxy 1", string(role), address, nonce}, "\n")))
	return hex.EncodeToString(mac.Sum(nil))
}

// Is reports, in constant time, whether given is the proof. Without a key nothing is.
func (p Proof) Is(given string, role Role, address, nonce string) bool {
	return p != "" && hmac.Equal([]byte(given), []byte(p.Sign(role, address, nonce)))
}
