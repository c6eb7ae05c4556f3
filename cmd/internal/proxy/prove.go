package proxy

import (
	"encoding/json"
	"net"
	"net/http"
	"regexp"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// prover proves that the proxy is its owner's to those who ask, and admits the owner's programs by their own proof. Neither
// sends anything by which somebody else could do so.
type prover struct {
	key   secret.Proof // "": nothing is proved
	nonce string       // of this process; what was proved to another one is worth nothing here
}

// proven is the answer to a challenge.
type proven struct {
	Proof string `json:"proof"`
	Nonce string `json:"nonce"` // which the caller's own proofs answer
}

// nonceForm is the form of a nonce, so that nobody chooses what is signed.
var nonceForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// admits reports whether a request about the proxy itself needs no secret: it asks for a proof, or it has one.
func (p prover) admits(r *http.Request) bool {
	if r.URL.Path != HealthPath || p.key == "" {
		return false
	}
	given := r.Header.Get(secret.ProofHeader)
	switch r.Method {
	case http.MethodGet:
		return p.challenged(r) || p.key.Is(given, secret.Asks, reachedAt(r), p.nonce)
	case http.MethodDelete:
		return p.ends(r)
	}
	return false
}

// ends reports whether a request proves that the owner's own program wants the proxy to end. A caller's key or secret does not: the
// proxy may be everybody's.
func (p prover) ends(r *http.Request) bool {
	return p.key != "" && p.key.Is(r.Header.Get(secret.ProofHeader), secret.Ends, reachedAt(r), p.nonce)
}

func (p prover) challenged(r *http.Request) bool {
	return p.key != "" && r.Method == http.MethodGet && nonceForm.MatchString(r.Header.Get(secret.ChallengeHeader))
}

// answer answers a challenge.
func (p prover) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	nonce := r.Header.Get(secret.ChallengeHeader)
	_ = json.NewEncoder(w).Encode(proven{p.key.Sign(secret.Answers, reachedAt(r), nonce), p.nonce}) // the client is gone
}

// reachedAt returns the address HOST:PORT on which a request came.
func reachedAt(r *http.Request) string {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return a.String()
	}
	return ""
}

// aboutItself answers the requests about the proxy itself, and reports whether this was one.
func (s *server) aboutItself(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case r.URL.Path != HealthPath:
		return false
	case s.prover.challenged(r):
		s.prover.answer(w, r)
	case r.Method == http.MethodGet:
		s.answerHealth(w, r)
	case r.Method == http.MethodDelete && s.stop != nil && s.prover.ends(r):
		w.WriteHeader(http.StatusAccepted)
		s.stop()
	case r.Method == http.MethodDelete:
		refuse(w, r, http.StatusMethodNotAllowed, "a proxy ends by a signal, or by its owner's \"mcp-pruner uninstall\"")
	default:
		return false
	}
	return true
}
