package main

import (
	"fmt"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// valid repairs a session whose transcript has lost parts, so that an API would accept its requests. Where ids repeat, each tool call gets
// an id of its own, and each result belongs to a call. Where no usage is known, the calls of one answer may stand as several
// answers: a model call with no new input since the one before it becomes part of that one's answer.
func valid(s sessions.Session) sessions.Session {
	r := repair{seen: map[string]bool{}, newest: map[string]string{}, given: true}
	for _, step := range s.Steps {
		switch step.Kind {
		case sessions.Call:
			if !r.given && !s.Measured() {
				continue
			}
			r.given = false
		case sessions.User, sessions.Attach, sessions.Compact:
			r.given = true
		case sessions.Use:
			step = r.use(step)
		case sessions.Result:
			r.given = true
			step = r.result(step)
		case sessions.Drop:
			step.ID = r.newest[step.ID]
		}
		r.steps = append(r.steps, step)
	}
	s.Steps = r.steps
	return s
}

// repair is a session so far.
type repair struct {
	steps  []sessions.Step
	open   []sessions.Step // calls without a result, as they are in the transcript
	ids    []string        // those that they got
	seen   map[string]bool
	newest map[string]string // of the results with an id of the transcript
	given  bool              // something was, since the latest model call
}

func (r *repair) use(step sessions.Step) sessions.Step {
	r.open = append(r.open, step)
	if r.seen[step.ID] || step.ID == "" {
		step.ID = fmt.Sprintf("toolu_01%022d", len(r.steps))
	}
	r.seen[step.ID] = true
	r.ids = append(r.ids, step.ID)
	return step
}

// result gives a result the id of the first open call with its id, or if it has none of the first one that asks for the same, or else of a
// call that the transcript lacks.
func (r *repair) result(step sessions.Step) sessions.Step {
	of := history.ParseCall(step.Tool, step.Args)
	i := slices.IndexFunc(r.open, func(use sessions.Step) bool {
		c := history.ParseCall(use.Tool, use.Args)
		return step.ID == use.ID || step.ID == "" && c.Kind == of.Kind && c.File == of.File && c.Command == of.Command && c.Pattern == of.Pattern
	})
	if i < 0 {
		i = len(r.open)
		r.steps = append(r.steps, r.use(sessions.Step{Kind: sessions.Use, ID: step.ID, Tool: step.Tool, Args: step.Args}))
	}
	r.newest[step.ID] = r.ids[i]
	step.ID = r.ids[i]
	r.open, r.ids = slices.Delete(r.open, i, i+1), slices.Delete(r.ids, i, i+1)
	return step
}
