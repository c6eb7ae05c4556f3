package audit

import (
	"hash/maphash"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Saving is the number of tokens that one request saved, and what it paid for them.
type Saving struct {
	Gross    int // tokens removed by the pruner, minus the markers it added
	Shown    int // the part of Gross that the client would have shown
	Question int // tokens the model spent on the question
	Reread   int // tokens of results about something that was pruned before
	Without  int // tokens the client would have shown without any pruning

	Again   bool // the request is about something that was pruned before
	Limited bool // the client does not show the whole result
}

// Net returns the saving minus its costs.
func (s Saving) Net() int { return s.Shown - s.Question - s.Reread }

// balance computes the savings of requests, which must be given in order. A request about
// something that was pruned earlier in the session is assumed to be a consequence of the
// pruning: its output is a cost, and pruning that output saves nothing, because without
// pruning there would be no such request.
type balance struct {
	limit  int // bytes that clients show; 0: use the limit of each client
	pruned recently
}

func newBalance(limit int) *balance { return &balance{limit: limit, pruned: newRecently(maxPruned)} }

func (b *balance) of(e *Entry) Saving {
	about := aboutOf(e)
	whole, again := b.pruned.get(about)
	s := e.saving(b.limit, again || e.Tool == "recover_text") // even if the pruned call is missing
	switch {
	case e.Subject == "":
	case e.isCut():
		b.pruned.put(about, max(whole, e.Bytes.Raw))
	case again && e.Outcome == "responded" && !e.Part && e.Bytes.Sent >= whole: // now read whole
		b.pruned.put(about, 0)
	}
	return s
}

func (e *Entry) saving(limit int, again bool) Saving {
	limit = e.limit(limit)
	s := Saving{Question: e.asking(), Again: again, Limited: limit > 0 && max(e.Bytes.Raw, e.Bytes.Sent) > limit}
	if e.isCut() {
		s.Gross = e.Tokens.Raw - e.Tokens.Sent
	}
	sent := shown(e.Tokens.Sent, e.Bytes.Sent, limit)
	if again {
		s.Reread = sent
		return s
	}
	s.Without = shown(e.Tokens.Raw, e.Bytes.Raw, limit)
	s.Shown = s.Without - sent
	return s
}

// asking returns the tokens that the model spent on the question. Hooks and the proxy take it
// from words that are in the transcript anyway.
func (e *Entry) asking() int {
	if e.Transport == "hook" || e.Transport == "proxy" {
		return 0
	}
	return e.Tokens.Question
}

func (e *Entry) isCut() bool { return e.applied && e.Tokens.Raw != e.Tokens.Sent }

// limit returns the bytes that the request's client shows; 0: no limit.
func (e *Entry) limit(given int) int {
	if given > 0 {
		return given
	}
	return agent.Announced(e.Client).Results.Ceiling
}

// shown returns the number of a text's tokens that a client shows.
func shown(tokens, bytes, limit int) int {
	if limit == 0 || bytes <= limit {
		return tokens
	}
	return int(int64(tokens) * int64(limit) / int64(bytes))
}

// aboutSeed is of the hashes of one run of the program.
var aboutSeed = maphash.MakeSeed()

// aboutOf returns a hash of the session and the subject of a request.
func aboutOf(e *Entry) uint64 {
	var h maphash.Hash
	h.SetSeed(aboutSeed)
	_, _ = h.WriteString(e.Session)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(e.Subject)
	return h.Sum64()
}

// maxPruned is the number of pruned subjects that are remembered, so that memory use does
// not grow with the number of records.
const maxPruned = 1 << 19

// recently is a map that remembers the latest entries: at least the last most, at most
// twice as many. The value 0 means that there is no entry.
type recently struct {
	most       int
	young, old map[uint64]int
}

func newRecently(most int) recently { return recently{most, make(map[uint64]int), nil} }

func (r *recently) get(key uint64) (int, bool) {
	n, ok := r.young[key]
	if !ok {
		n = r.old[key]
	}
	return n, n != 0
}

func (r *recently) put(key uint64, n int) {
	if len(r.young) >= r.most {
		r.young, r.old = make(map[uint64]int), r.young
	}
	r.young[key] = n
}
