package clearing

import (
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// Some versions of Claude Code answer a second Read of the same lines of a file with words: that the result of the first one still
// holds. The client does not know that the model was not shown that result as it came, or no longer is.

// refers reports whether a result is such an answer. It is never cleared: what may stand in its place is the text of another result.
func (w *walk) refers(r *wire.Result) bool {
	return !r.Arguments && w.calls[r.Index].Unchanged(w.Text(r))
}

// whole returns the lines that stand in place of such an answer if the earlier result was replaced, with the id of that result's
// original, if the model knows one. text is "" for any other result.
func (w *walk) whole(r *wire.Result) (text, id string) {
	if r.Fixed || !w.refers(r) {
		return "", ""
	}
	var later []string // what stands in place of the same answers since
	for _, earlier := range slices.Backward(w.Results[:r.Index]) {
		if earlier.Arguments || !w.calls[r.Index].SameRead(w.calls[earlier.Index]) {
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
			return text, archive.IDIn(shown)
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
