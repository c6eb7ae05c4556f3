package replay

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/bill"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/replay/needs"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// decider decides which results to clear.
type decider interface {
	Decide(planner.Window) planner.Decision
}

// clear returns the outcome of the planner, after the prunings of a policy if there are any, and sets the figures of policy gc
// if there are none.
func (f *Figures) clear(after *Outcome) Outcome {
	policy := planner.DefaultPolicy()
	policy.Prices = planner.Prices{Write: f.Prices.CacheWrite, Read: f.Prices.CacheRead, Output: f.Prices.Output}
	ours := f.clearWith(policy, policy, after, false)
	wide := f.clearWith(policy, policy, after, true)
	if after == nil {
		fixed := f.clearWith(policy, planner.BestFixedRule(), nil, false)
		f.cleared = cleared{input: ours.Before, change: ours.After - ours.Before, reread: ours.Reread, fixed: fixed.After - fixed.Before}
	}
	return Outcome{
		Gross: ours.Before - ours.After + ours.Reread, Misses: ours.Reread, Wide: ours.Reread + wide.After - ours.After,
		Pruned: ours.Cleared, Turns: ours.Turns, clearing: ours,
	}
}

// both returns the outcome of the hook with the planner after it: what the hook cut is not cleared again, and a result that
// it cut is smaller when it is cleared.
func (f *Figures) both() Outcome {
	hook := f.judge(Hook)
	gc := f.clear(&hook)
	return Outcome{
		Gross: hook.Gross + gc.Gross, Markers: hook.Markers, Misses: hook.Misses + gc.Misses, Wide: hook.Wide + gc.Wide,
		Pruned: hook.Pruned + gc.Pruned, Missed: hook.Missed, Turns: hook.Turns + gc.Turns, parts: []Outcome{hook, gc},
	}
}

// clearWith replays a session and lets by clear results before every model call. after is what a hook had cut before, nil
// if nothing.
func (f *Figures) clearWith(policy planner.Policy, by decider, after *Outcome, wide bool) planner.Bill {
	w := clearingWalk{
		Figures: f, session: planner.NewSession(policy), by: by, begins: true, read: map[string]bool{},
		items: map[int]int{}, shows: map[string]int{}, sizes: map[int]int{}, kept: map[int]map[int]bool{}, needed: f.needsByStep(wide),
	}
	if after != nil {
		for _, r := range after.rows {
			w.sizes[r.a.result], w.kept[r.a.result] = r.a.kept+r.a.header, lineSet(r.a.cut)
		}
	}
	for i, step := range f.Session.Steps {
		w.take(i, step)
	}
	return w.session.Bill()
}

// resultNeed is a need of a line of a result.
type resultNeed struct {
	needs.Need
	result int
}

func (f *Figures) needsByStep(wide bool) map[int][]resultNeed {
	byStep := map[int][]resultNeed{}
	for result, list := range f.needs {
		for _, n := range list {
			if wide || n.Rule != needs.RuleWide {
				byStep[n.Step] = append(byStep[n.Step], resultNeed{n, result})
			}
		}
	}
	return byStep
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

	items  map[int]int          // the numbers that the session gave to results
	shows  map[string]int       // by file, the result that showed it last
	sizes  map[int]int          // of results that a hook cut
	kept   map[int]map[int]bool // their lines
	needed map[int][]resultNeed // by step
}

func (w *clearingWalk) take(i int, step sessions.Step) {
	switch step.Kind {
	case sessions.User, sessions.Attach:
		w.text(tokens.Claude(step.Text))
	case sessions.Say, sessions.Use:
		w.needs(i)
		w.text(bill.OutputTokens(step))
	case sessions.Compact:
		w.session.Compact()
		w.tokens, w.begins = 0, true
		clear(w.items)
		clear(w.shows)
	case sessions.Call:
		w.called()
	case sessions.Result:
		w.resulted(&w.Results[w.result])
		w.result++
	}
}

// needs has the results read again that a step needs and that are no longer in the prompt, unless another one shows the line.
// A line that a hook had cut is the hook's miss.
func (w *clearingWalk) needs(step int) {
	for _, n := range w.needed[step] {
		if w.lost(needs.Place{Result: n.result, Line: n.Line}) && allCut(n.Earlier, func(result, line int) bool { return w.gone(result, line) }) {
			w.session.Needed(w.items[n.result])
		}
	}
}

// lost reports whether the planner cleared a line that the prompt had shown.
func (w *clearingWalk) lost(p needs.Place) bool {
	kept, cut := w.kept[p.Result]
	item, shown := w.items[p.Result]
	return (!cut || kept[p.Line]) && shown && w.session.Cleared(item)
}

// gone reports whether the prompt does not show a line.
func (w *clearingWalk) gone(result, line int) bool {
	kept, cut := w.kept[result]
	item, shown := w.items[result]
	return cut && !kept[line] || !shown || w.session.Cleared(item)
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
		w.session.Work(file)
		if result, ok := w.shows[file]; ok {
			w.session.Needed(w.items[result])
		}
	}
	file, _, _ := r.Parsed.FileRead()
	if file != "" {
		w.read[file] = true
	}
	size, cut := w.sizes[w.result]
	if !cut {
		size = r.Tokens
	}
	w.tokens += size
	w.items[w.result] = w.session.Result(size, file, false)
	if file != "" {
		w.shows[file] = w.result
	}
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
