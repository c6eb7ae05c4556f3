package tracecmd

// limits is what clients show a model of one result, in bytes: a result that is
// larger is cut or put aside by the client, so that what pruning took from beyond
// that would not have been read anyway. A client that is not named has none.
var limits = map[string]int{
	"claude-code":      500_000, // with anthropic/maxResultSizeChars, which the server sends
	"codex-mcp-client": 48_000,  // 40,000 in code mode, 12,000 for models it does not know
}

// saving is what one request saved, in tokens.
type saving struct {
	gross    int // what the pruner took away, the markers it put there counted against it
	shown    int // the part of it that the client would have shown
	question int // what asking cost the model
	reread   int // what was sent of something that had been pruned before
	without  int // what the client would have shown without any pruning

	again   bool // it is about something that had been pruned before
	limited bool // the client does not show all of it
}

func (s saving) net() int { return s.shown - s.question - s.reread }

// savings goes through the requests in their order. A request about something
// that was pruned in the same session before is asked because of that: its output
// is a cost, and what is pruned from it saves nothing, for without pruning it
// would not have been asked.
func savings(entries []*entry, limit int) []saving {
	pruned := make(prunedBefore)
	all := make([]saving, len(entries))
	for i, e := range entries {
		all[i] = e.saving(limit, pruned.has(e))
		pruned.note(e)
	}
	return all
}

func (e *entry) saving(limit int, again bool) saving {
	limit = e.limit(limit)
	s := saving{question: e.tokens.Question, again: again, limited: limit > 0 && max(e.bytes.Raw, e.bytes.Sent) > limit}
	if e.isCut() {
		s.gross = e.tokens.Raw - e.tokens.Sent
	}
	sent := shown(e.tokens.Sent, e.bytes.Sent, limit)
	if again {
		s.reread = sent
		return s
	}
	s.without = shown(e.tokens.Raw, e.bytes.Raw, limit)
	s.shown = s.without - sent
	return s
}

func (e *entry) isCut() bool { return e.applied && e.tokens.Raw != e.tokens.Sent }

// prunedBefore holds what was pruned and not returned whole since, and how many
// bytes the whole has.
type prunedBefore map[about]int

type about struct{ session, subject string }

func (e *entry) about() about { return about{e.session, e.subject} }

// has says whether a request is about something that was pruned before. Whatever
// is recovered was, even when the trace does not say by which call.
func (p prunedBefore) has(e *entry) bool {
	_, ok := p[e.about()]
	return ok || e.tool == "recover_text"
}

// note ends what was pruned with an answer that is the whole of it: not one that
// was pruned itself, that is a part, or that is smaller.
func (p prunedBefore) note(e *entry) {
	whole, before := p[e.about()]
	switch {
	case e.subject == "":
	case e.isCut():
		p[e.about()] = max(whole, e.bytes.Raw)
	case before && e.outcome == "responded" && !e.part && e.bytes.Sent >= whole:
		delete(p, e.about())
	}
}

// limit is the most the request's client shows; 0: no limit.
func (e *entry) limit(given int) int {
	if given > 0 {
		return given
	}
	return limits[e.client]
}

// shown is how many of a text's tokens a client shows.
func shown(tokens, bytes, limit int) int {
	if limit == 0 || bytes <= limit {
		return tokens
	}
	return int(int64(tokens) * int64(limit) / int64(bytes))
}
