package contextgc

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// maxListed is the default number of candidates in a result.
const maxListed = 100

// analyzeArgs are the arguments of context_gc_analyze.
type analyzeArgs struct {
	Project     string
	Descriptors *Descriptors
	Target      *int // tokens to free; nil: no plan
	AllowDelete bool
	Limit       int // maximum number of candidates in the result; 0: 100
	Why         bool
}

// Analysis is the result of context_gc_analyze.
type Analysis struct {
	Candidates  []Candidate `json:"pruning_candidates"`
	Total       int         `json:"total_candidates"`
	Freed       int         `json:"estimated_tokens_freed"`
	Plan        *Plan       `json:"pruning_plan,omitempty"`
	Message     string      `json:"message,omitempty"`
	Warnings    []string    `json:"warnings,omitempty"`
	Explanation []string    `json:"explanation,omitempty"`
}

func analyzeSchema(t Toolset) json.RawMessage {
	return object([]string{"project_id"}, map[string]*property{
		"context_descriptors": descriptorsSchema(),
		"project_id":          t.project(),
		"task_id":             id("The current task: its messages are kept."),
		"target_tokens":       number("Plan to free this many tokens.", 0, math.MaxInt32),
		"allow_delete":        flag("The plan may delete; without it, it only stashes."),
		"limit":               number("List at most this many candidates (default 100).", 1, maxIDs),
		"why":                 flag("Explain the scores and the plan."),
	})
}

func (t Toolset) analyzeCall(a arguments) (tools.Call, []tools.Issue) {
	args := analyzeArgs{
		Project: a.text("project_id"), Descriptors: a.descriptors("context_descriptors"),
		AllowDelete: a.flag("allow_delete"), Why: a.flag("why"), Limit: a.number("limit"),
	}
	if task := a.text("task_id"); task != "" {
		if args.Descriptors == nil {
			args.Descriptors = &Descriptors{}
		}
		args.Descriptors.TaskID = task
	}
	if _, given := a["target_tokens"]; given {
		target := a.number("target_tokens")
		args.Target = &target
	}
	return call{tool: "context_gc_analyze", run: func(ctx context.Context) (output, error) {
		result, err := t.analyze(ctx, args)
		return output{fields: result}, err
	}}, nil
}

// analyze finds the segments of a project that may be pruned, and makes a plan for the
// target.
func (t Toolset) analyze(ctx context.Context, a analyzeArgs) (Analysis, error) {
	segments, err := t.Store.List(ctx, Filter{Project: a.Project, Tier: Working})
	if err != nil {
		return Analysis{}, err
	}
	if len(segments) > 0 && !slices.ContainsFunc(segments, func(s Segment) bool { return !s.Pinned }) {
		return Analysis{}, &tools.Error{Code: "all_pinned", Message: fmt.Sprintf(
			"all %d segments of project %s are pinned; unpin some with context_gc_unpin first", len(segments), a.Project)}
	}
	now := t.now()
	candidates := analyze(segments, rootsOf(segments, a.Descriptors, now), now)
	result := Analysis{Candidates: candidates, Total: len(candidates)}
	for _, c := range candidates {
		result.Freed += c.Tokens
	}
	if len(candidates) == 0 {
		result.Message = "no candidates"
	}
	if a.Target != nil {
		result.plan(segments, *a.Target, a.AllowDelete)
	}
	if a.Why {
		result.explain(segments, now)
	}
	result.list(a.Limit)
	return result, nil
}

func (r *Analysis) plan(segments []Segment, target int, allowDelete bool) {
	plan := makePlan(r.Candidates, target, allowDelete)
	if plan.Freed > 0 {
		breakEven := DefaultPrices().BreakEven(plan.Freed, plan.behind(segments))
		plan.BreakEven = &breakEven
	}
	r.Plan = &plan
	switch {
	case target > r.Freed:
		r.Warnings = append(r.Warnings, fmt.Sprintf("target_tokens %d exceeds the %d prunable tokens", target, r.Freed))
	case target > plan.Freed:
		r.Warnings = append(r.Warnings, fmt.Sprintf("target_tokens %d cannot be met: %d tokens score high enough to go", target, plan.Freed))
	}
}

// list shortens the list of candidates and reports how many it left out.
func (r *Analysis) list(limit int) {
	if limit == 0 {
		limit = maxListed
	}
	if len(r.Candidates) <= limit {
		return
	}
	r.Message = fmt.Sprintf("the first %d of %d candidates are listed", limit, len(r.Candidates))
	r.Candidates = r.Candidates[:limit]
	if r.Plan != nil {
		r.Plan.Candidates = r.Plan.Candidates[:limit]
	}
}

func pruneSchema(t Toolset) json.RawMessage {
	return object([]string{"project_id", "segment_ids", "action"}, map[string]*property{
		"project_id":  t.project(),
		"segment_ids": ids("Segments to prune."),
		"action":      choice("stash keeps the text to be read again; delete does not.", string(Stash), string(Delete)),
		"confirm":     flag("Must be true to delete."),
	})
}

func (t Toolset) pruneCall(a arguments) (tools.Call, []tools.Issue) {
	project, list, action, confirmed := a.text("project_id"), a.texts("segment_ids"), Action(a.text("action")), a.flag("confirm")
	return call{tool: "context_gc_prune", run: func(ctx context.Context) (output, error) {
		result, err := t.prune(ctx, project, list, action, confirmed)
		return output{fields: result}, err
	}}, nil
}

// Pruned is the result of context_gc_prune.
type Pruned struct {
	Segments []string `json:"pruned_segments"`
	Freed    int      `json:"tokens_freed"`
	Action   string   `json:"action"` // "stashed" or "deleted"
	Errors   []string `json:"errors"`
}

// prune stashes or deletes segments.
func (t Toolset) prune(ctx context.Context, project string, list []string, action Action, confirmed bool) (Pruned, error) {
	if action == Delete && !confirmed {
		return Pruned{}, &tools.Error{Code: "confirmation_required", Message: "deleting is for good: call again with confirm true, or stash"}
	}
	done, err := t.Store.Change(ctx, project, list, action)
	if err != nil {
		return Pruned{}, err
	}
	if len(done.Segments) == 0 && done.Pinned > 0 && done.Pinned == len(done.Errors) {
		return Pruned{}, &tools.Error{Code: "all_pinned", Message: done.Errors[0] + "; nothing was pruned. Unpin with context_gc_unpin first"}
	}
	return Pruned{Segments: done.Segments, Freed: done.Freed, Action: map[Action]string{Stash: "stashed", Delete: "deleted"}[action], Errors: done.Errors}, nil
}

// PinResult is the result of context_gc_pin and context_gc_unpin. One of the two fields is
// named after the action.
type PinResult struct {
	Pinned   []string `json:"pinned_segments,omitzero"`
	Unpinned []string `json:"unpinned_segments,omitzero"`
	Errors   []string `json:"errors"`
}

func pinSchema(t Toolset) json.RawMessage {
	return object([]string{"project_id", "segment_ids"}, map[string]*property{
		"project_id": t.project(), "segment_ids": ids("Segments, such as s12."),
	})
}

func (t Toolset) pinCall(pin bool) builder {
	name := "context_gc_unpin"
	if pin {
		name = "context_gc_pin"
	}
	return func(a arguments) (tools.Call, []tools.Issue) {
		project, list := a.text("project_id"), a.texts("segment_ids")
		return call{tool: name, run: func(ctx context.Context) (output, error) {
			result, err := t.pin(ctx, project, list, pin)
			return output{fields: result}, err
		}}, nil
	}
}

// pin protects segments from pruning, or removes their protection.
func (t Toolset) pin(ctx context.Context, project string, list []string, pin bool) (PinResult, error) {
	action := Unpin
	if pin {
		action = Pin
	}
	done, err := t.Store.Change(ctx, project, list, action)
	result := PinResult{Errors: done.Errors}
	if pin {
		result.Pinned = done.Segments
	} else {
		result.Unpinned = done.Segments
	}
	return result, err
}
