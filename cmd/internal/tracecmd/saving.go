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
// would not have been asked. That ends when the whole of it was returned.
func savings(entries []*entry, limit int) []saving {
	type about struct{ session, subject string }
	pruned := make(map[about]bool)
	all := make([]saving, len(entries))
	for i, e := range entries {
		s, subject := &all[i], about{e.session, e.subject}
		s.question = e.tokens.Question
		cut := e.applied && e.tokens.Raw != e.tokens.Sent
		if cut {
			s.gross = e.tokens.Raw - e.tokens.Sent
		}
		sent := shown(e.tokens.Sent, e.bytes.Sent, e.limit(limit))
		s.limited = e.limit(limit) > 0 && max(e.bytes.Raw, e.bytes.Sent) > e.limit(limit)
		if e.subject != "" && pruned[subject] {
			s.reread, s.again = sent, true
			if !cut && e.outcome == "responded" {
				delete(pruned, subject)
			}
			continue
		}
		s.without = shown(e.tokens.Raw, e.bytes.Raw, e.limit(limit))
		s.shown = s.without - sent
		if cut {
			pruned[subject] = true
		}
	}
	return all
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
