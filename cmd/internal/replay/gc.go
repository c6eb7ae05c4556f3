package replay

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// decider decides which results to clear.
type decider interface {
	Decide(planner.Window) planner.Decision
}

// clear returns the effects of the planner and of the best fixed rule on a session.
func (f *figures) clear() cleared {
	policy := planner.DefaultPolicy()
	policy.Prices = planner.Prices{Write: f.prices.CacheWrite, Read: f.prices.CacheRead, Output: f.prices.Output}
	bill, fixed := f.clearWith(policy, policy), f.clearWith(policy, planner.BestFixedRule())
	return cleared{input: bill.Before, change: bill.After - bill.Before, reread: bill.Reread, fixed: fixed.After - fixed.Before}
}

// clearWith replays a session and lets by clear results before every model call.
func (f *figures) clearWith(policy planner.Policy, by decider) planner.Bill {
	w := clearingWalk{figures: f, session: planner.NewSession(policy), by: by, begins: true, read: make(map[string]bool)}
	for _, step := range f.session.Steps {
		w.take(step)
	}
	return w.session.Bill()
}

// clearingWalk is the state of that replay.
type clearingWalk struct {
	*figures
	session *planner.Session
	by      decider

	call, result int  // indexes of the next ones
	tokens       int  // tokens of the texts in the prompt so far
	begins       bool // the next call is the first of a context
	read         map[string]bool
}

func (w *clearingWalk) take(step sessions.Step) {
	switch step.Kind {
	case sessions.User:
		w.text(tokens.Claude(step.Text))
	case sessions.Say, sessions.Use:
		w.text(outputTokens(step))
	case sessions.Compact:
		w.session.Compact()
		w.tokens, w.begins = 0, true
	case sessions.Call:
		w.called()
	case sessions.Result:
		w.resulted(&w.results[w.result])
		w.result++
	}
}

func (w *clearingWalk) text(n int) {
	w.tokens += n
	w.session.Text(n)
}

// called bills a model call. For the first call of a context, the difference between its usage and the
// known texts is the size of everything that the transcript does not contain, such as the system prompt.
func (w *clearingWalk) called() {
	this := w.calls[w.call]
	if w.begins {
		base := modelledSystem
		if w.measured {
			base = max(0, this.prompt-w.tokens)
		}
		w.text(base)
	}
	expired := false
	if !w.begins && w.measured && w.call > 0 {
		expired = this.usage.CacheRead < w.calls[w.call-1].prompt/2
	}
	w.session.Call(w.by.Decide(w.session.Window(expired)).Clear, expired)
	w.begins = false
	w.call++
}

func (w *clearingWalk) resulted(r *result) {
	for _, file := range w.edits(r.parsed) {
		w.session.Edited(file)
	}
	file, _, _ := r.parsed.FileRead()
	if file != "" {
		w.read[file] = true
	}
	w.tokens += r.tokens
	w.session.Result(r.tokens, file, false)
}

// edits returns the files that a call changed and that had been read before.
func (w *clearingWalk) edits(c history.Call) []string {
	if c.Kind == history.Edit {
		return []string{c.File}
	}
	var files []string
	if c.Kind == history.Bash && (strings.Contains(c.Command, "sed -i") || strings.Contains(c.Command, "write(")) {
		for file := range w.read {
			if strings.Contains(c.Command, file) {
				files = append(files, file)
			}
		}
	}
	return files
}
