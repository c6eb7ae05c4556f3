package replay

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/bill"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// decider decides which results to clear.
type decider interface {
	Decide(planner.Window) planner.Decision
}

// clear returns the effects of the planner and of the best fixed rule on a session.
func (f *Figures) clear() cleared {
	policy := planner.DefaultPolicy()
	policy.Prices = planner.Prices{Write: f.Prices.CacheWrite, Read: f.Prices.CacheRead, Output: f.Prices.Output}
	ours, fixed := f.clearWith(policy, policy), f.clearWith(policy, planner.BestFixedRule())
	return cleared{input: ours.Before, change: ours.After - ours.Before, reread: ours.Reread, fixed: fixed.After - fixed.Before}
}

// clearWith replays a session and lets by clear results before every model call.
func (f *Figures) clearWith(policy planner.Policy, by decider) planner.Bill {
	w := clearingWalk{Figures: f, session: planner.NewSession(policy), by: by, begins: true, read: make(map[string]bool)}
	for _, step := range f.Session.Steps {
		w.take(step)
	}
	return w.session.Bill()
}

// clearingWalk is the state of that replay.
type clearingWalk struct {
	*Figures
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
		w.text(bill.OutputTokens(step))
	case sessions.Compact:
		w.session.Compact()
		w.tokens, w.begins = 0, true
	case sessions.Call:
		w.called()
	case sessions.Result:
		w.resulted(&w.Results[w.result])
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
	this := w.Calls[w.call]
	if w.begins {
		base := bill.ModelledSystem
		if w.Measured {
			base = max(0, this.Prompt-w.tokens)
		}
		w.text(base)
	}
	expired := false
	if !w.begins && w.Measured && w.call > 0 {
		expired = this.Usage.CacheRead < w.Calls[w.call-1].Prompt/2
	}
	w.session.Call(w.by.Decide(w.session.Window(expired)).Clear, expired)
	w.begins = false
	w.call++
}

func (w *clearingWalk) resulted(r *bill.Result) {
	for _, file := range w.edits(r.Parsed) {
		w.session.Edited(file)
	}
	file, _, _ := r.Parsed.FileRead()
	if file != "" {
		w.read[file] = true
	}
	w.tokens += r.Tokens
	w.session.Result(r.Tokens, file, false)
}

// edits returns the files that a call changed and that had been read before.
func (w *clearingWalk) edits(c history.ToolCall) []string {
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
