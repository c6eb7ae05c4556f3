package replay

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
)

// Known is the knowledge in a session at the time of a call.
type Known struct {
	Question string
	Said     string              // the agent's sentence before the call
	Prompt   string              // the user's latest message
	Context  []pruneclient.Event // for a pruner that sees the whole session
	Served   []pruneclient.Event // for this program's server, which sees only its own calls and their questions
	Own      [][2]int            // hunks of a diff that are the agent's own edits
	Decision history.Decision    // as if something led back to every text
	Lost     bool                // by the calls so far nothing would lead back to what is left out
	Body     existing.Body
	Asked    bool // this program's server had cut the result of the same call before

	// Cut and ServedCut record that a hook, or this program's server, cuts the result.
	Cut, ServedCut func()
}

// Walk calls each for every result, with the knowledge at the time of the call.
func Walk(b *sessions.Bill, others history.OtherTools, each func(index int, step sessions.Step, k Known) error) error {
	var log, served history.Log
	open := map[string][]Known{} // several where a transcript repeats an id
	outputs := outs(b)
	next := 0
	ask := func(call history.ToolCall, out string) Known {
		lost := !log.Reach(call).Leads(call)
		anywhere := log
		anywhere.SetReach(history.Reach{Commands: true})
		known, decision := existing.Result{Call: call, Body: existing.ResultBody(call, out)}.Known(&anywhere, others)
		return Known{Question: known.Question, Said: known.Said, Prompt: known.Prompt, Context: known.Context, Own: known.Own, Decision: decision, Lost: lost, Body: known.Body}
	}
	for _, step := range b.Session.Steps {
		switch step.Kind {
		case sessions.Use:
			if list := outputs[step.ID]; len(list) > 0 {
				open[step.ID], outputs[step.ID] = append(open[step.ID], ask(history.ParseCall(step.Tool, step.Args), list[0])), list[1:]
			}
		case sessions.Result:
			r := &b.Results[next]
			var a Known
			if list := open[step.ID]; len(list) > 0 {
				a, open[step.ID] = list[0], list[1:]
			} else { // from the flattened transcript of a sub-agent
				a = ask(r.Parsed, step.Out)
			}
			a.Served, a.Asked = served.Context(), served.Again(r.Parsed)
			mineCut := false
			a.Cut, a.ServedCut = func() { log.Cut(r.Parsed) }, func() { mineCut = true }
			if existing.IsCut(step.Out) { // by a hook that was there
				a.Cut()
			}
			if err := each(next, step, a); err != nil {
				return err
			}
			if ours(r.Kind) {
				served.Served(r.Parsed, a.Question, step.Out)
			}
			if mineCut {
				served.Cut(r.Parsed)
			}
			next++
		}
		step.AddTo(&log)
	}
	return nil
}

// outs returns the outputs of the calls with an id, in order.
func outs(b *sessions.Bill) map[string][]string {
	outs := map[string][]string{}
	for _, step := range b.Session.Steps {
		if step.Kind == sessions.Result {
			outs[step.ID] = append(outs[step.ID], step.Out)
		}
	}
	return outs
}

// reaches returns what leads back in a session as the proxy knows it: which tools the requests offered is told by those that ran.
func (t *trial) reaches() history.Reach {
	if t.reach == nil {
		var log history.Log
		for _, step := range t.Session.Steps {
			if step.Kind == sessions.Result && !step.Err {
				log.Ran(step.Tool, step.Args)
			}
		}
		reach := log.Reach(history.ToolCall{})
		t.reach = &reach
	}
	return *t.reach
}

// ours reports whether this program's server has a tool of that kind.
func ours(kind history.Kind) bool {
	return kind == history.Read || kind == history.Grep || kind == history.Bash
}

func prunable(kind history.Kind) bool {
	return kind == history.Read || kind == history.Grep || kind == history.Bash || kind == history.Other
}
