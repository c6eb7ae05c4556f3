package audit

import "hash/maphash"

// limits is what clients show a model of one result, in bytes: a result that is
// larger is cut or put aside by the client, so that what pruning took from beyond
// that would not have been read anyway. A client that is not named has none.
var limits = map[string]int{
	"claude-code":      500_000, // with anthropic/maxResultSizeChars, which the server sends
	"codex-mcp-client": 48_000,  // 40,000 in code mode, 12,000 for models it does not know
}

// Saving is what one request saved, in tokens.
type Saving struct {
	Gross    int // what the pruner took away, the markers it put there counted against it
	Shown    int // the part of it that the client would have shown
	Question int // what asking cost the model
	Reread   int // what was sent of something that had been pruned before
	Without  int // what the client would have shown without any pruning

	Again   bool // it is about something that had been pruned before
	Limited bool // the client does not show all of it
}

// Net is the balance.
func (s Saving) Net() int { return s.Shown - s.Question - s.Reread }

// balance makes the savings of requests in their order. A request about something that
// was pruned in the same session before is asked because of that: its output is a cost,
// and what is pruned from it saves nothing, because without pruning it would not have
// been asked.
type balance struct {
	limit  int // bytes that clients show; 0: what is known of each
	pruned recently
}

func newBalance(limit int) *balance { return &balance{limit: limit, pruned: newRecently(maxPruned)} }

func (b *balance) of(e *Entry) Saving {
	about := aboutOf(e)
	whole, again := b.pruned.get(about)
	s := e.saving(b.limit, again || e.Tool == "recover_text") // what is recovered was pruned, even when nothing here says by which call
	switch {
	case e.Subject == "":
	case e.isCut():
		b.pruned.put(about, max(whole, e.Bytes.Raw))
	case again && e.Outcome == "responded" && !e.Part && e.Bytes.Sent >= whole: // the whole of it ends the re-reading
		b.pruned.put(about, 0)
	}
	return s
}

func (e *Entry) saving(limit int, again bool) Saving {
	limit = e.limit(limit)
	s := Saving{Question: e.Tokens.Question, Again: again, Limited: limit > 0 && max(e.Bytes.Raw, e.Bytes.Sent) > limit}
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

func (e *Entry) isCut() bool { return e.applied && e.Tokens.Raw != e.Tokens.Sent }

// limit is the most the request's client shows; 0: no limit.
func (e *Entry) limit(given int) int {
	if given > 0 {
		return given
	}
	return limits[e.Client]
}

// shown is how many of a text's tokens a client shows.
func shown(tokens, bytes, limit int) int {
	if limit == 0 || bytes <= limit {
		return tokens
	}
	return int(int64(tokens) * int64(limit) / int64(bytes))
}

// aboutOf identifies the subject of a request within its session.
func aboutOf(e *Entry) uint64 {
	var h maphash.Hash
	h.SetSeed(lastingSeed)
	_, _ = h.WriteString(e.Session)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(e.Subject)
	return h.Sum64()
}

// maxPruned is how many subjects are remembered as pruned, so that any number of
// records takes the same memory.
const maxPruned = 1 << 19

// recently remembers the numbers that were put last: at least most of them, at most
// twice as many. 0 is none.
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
