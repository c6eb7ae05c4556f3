package clearing

import (
	"context"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// prune prunes new results, using the session's history so far, and completes those that refer to replaced ones.
func (w *walk) prune(ctx context.Context) {
	last := len(w.Turns) - 1
	for _, r := range w.Turns[last].Results {
		if whole, id := w.whole(r); whole != "" {
			w.pruned = append(w.pruned, change{result: r, write: func(string) string { return whole }, id: id, why: "unchanged"})
			continue
		}
		if write := w.cut(ctx, r); write != nil {
			w.pruned = append(w.pruned, change{result: r, write: write, why: "fresh"})
		}
	}
}

// Some versions of Claude Code answer a second Read of the same lines of a file with words: that the result of the first one still
// holds. The client does not know that the model was not shown that result as it came, or no longer is.

// refers reports whether a result is such an answer. It is never cleared: what may stand in its place is the text of another result.
func (w *walk) refers(r *wire.Result) bool {
	return !r.Arguments && w.calls[r.Index].Kind == history.Read && w.measured(r).refers
}

// whole returns the lines that stand in place of such an answer if the earlier result was replaced, with the id of that result's
// original, if the model knows one. text is "" for any other result.
func (w *walk) whole(r *wire.Result) (text, id string) {
	if r.Fixed || !w.refers(r) {
		return "", ""
	}
	var later []string // what stands in place of the same answers since
	for _, earlier := range slices.Backward(w.Results[:r.Index]) {
		if earlier.Arguments || earlier.Thought || !w.calls[r.Index].SameRead(w.calls[earlier.Index]) {
			continue
		}
		shown, replaced := w.shownAs(earlier)
		text = w.Text(earlier)
		switch {
		case w.refers(earlier):
			later = append(later, shown)
		case !replaced || slices.Contains(later, text):
			return "", ""
		default:
			return text, recovery.IDIn(shown)
		}
	}
	return "", ""
}

// cutByHook reports whether a result may be a read that a hook cut: a note beside the results of its turn says so.
func (w *walk) cutByHook(r *wire.Result) bool {
	return w.calls[r.Index].Kind == history.Read && slices.ContainsFunc(w.Words(r.Turn), existing.IsNote)
}

// shownAs returns what replaces a result.
func (w *walk) shownAs(r *wire.Result) (text string, replaced bool) {
	if d := w.shown[r.Index]; d != nil {
		return d.text, true
	}
	for _, ch := range w.pruned { // of the same turn
		if ch.result == r {
			return ch.write(""), true
		}
	}
	return "", false
}

// cut returns a function that writes a new result without the parts that the agent is not looking for, or nil if the
// result stays whole. The way back is part of the header and is never searched for in the text, which may contain anything.
func (w *walk) cut(ctx context.Context, r *wire.Result) func(way string) string {
	if !w.Prunes || r.Fixed || w.bound(r) || r.Bytes < history.MinTokens { // a token has at least one byte
		return nil
	}
	if id, _ := w.cutBefore(ctx, w.Text(r)); existing.IsCut(w.Text(r)) && (existing.CutID(w.Text(r)) == "" || id != "") {
		return nil
	}
	call := w.calls[r.Index]
	if w.cutByHook(r) || w.Clears && call.LeftToClearing(r.Turn) {
		return nil
	}
	body := existing.ResultBody(call, w.Text(r))
	if _, printed := w.Printed.Find(body.Code()); printed {
		return nil
	}
	known, decision := existing.Result{Call: call, Args: r.Use.Args, Body: body}.Known(w.log(r.Turn, call), w.Others)
	if !decision.Prune {
		return nil
	}
	kept, err := existing.Prune(ctx, known)
	if err != nil || kept.Whole() {
		return nil
	}
	return func(way string) string { return existing.Text(known.Body, kept, way) }
}

// log returns the history before the results of a turn, for a call in it.
func (w *walk) log(turn int, call history.ToolCall) *history.Log {
	log := &history.Log{}
	log.SetReach(w.reach)
	edits := log.NeedsEdits(call)
	for i, t := range w.Turns[:turn] {
		if i > 0 {
			log.Turn()
		}
		for _, words := range w.Words(i) {
			log.User(words)
		}
		for _, r := range t.Results {
			log.Say(r.Use.Why)
			log.Use(w.used(r, edits))
			if i > turn-20 {
				log.Result(w.calls[r.Index], w.Text(r))
			}
			if w.shown[r.Index] != nil || existing.IsCut(w.Text(r)) || w.cutByHook(r) {
				log.Cut(w.calls[r.Index])
			}
		}
	}
	log.Turn()
	for _, r := range w.Turns[turn].Results {
		log.Say(r.Use.Why)
	}
	return log
}

// used returns the call of a result, with the texts that it wrote if they matter and the agent still sees them.
func (w *walk) used(r *wire.Result, edits bool) history.ToolCall {
	call, wrote := w.calls[r.Index], r.Use.Wrote
	if !edits || call.Kind != history.Edit && call.Kind != history.Write || wrote != nil && w.shown[wrote.Index] != nil {
		return call
	}
	return history.ParseCall(r.Use.Tool, w.Written(r.Use))
}
