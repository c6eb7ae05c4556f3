package service

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// CodeArgs is a request of the swe-pruner contract.
type CodeArgs struct {
	Query     string
	Code      string
	Threshold *float64 // nil, like the service's default, leaves the decision to our gates
	KeepFirst bool     // always_keep_first_frags: the first line is kept
}

// CodeResult is the response, with the field names of the swe-pruner service.
type CodeResult struct {
	Score              float64 `json:"score"` // our confidence, 0..1
	PrunedCode         string  `json:"pruned_code"`
	TokenScores        []any   `json:"token_scores"` // always empty: lines are scored, not tokens
	KeptFrags          []int   `json:"kept_frags"`   // numbers of the kept lines
	OriginTokenCnt     int     `json:"origin_token_cnt"`
	LeftTokenCnt       int     `json:"left_token_cnt"`
	ModelInputTokenCnt int     `json:"model_input_token_cnt"`
	ErrorMsg           *string `json:"error_msg"`
}

const sweDefaultThreshold = 0.5

// PruneCode answers a swe-pruner request. As with PruneText, a failure returns the code
// unchanged, and error_msg says why. The only error is ctx's.
func (s *Service) PruneCode(ctx context.Context, a CodeArgs) (CodeResult, error) {
	s.counters.call()
	if utf8.RuneCountInString(a.Code) > s.settings.MaxInputChars {
		return wholeCode(a.Code, InputTooLarge), nil
	}
	if s.usable != nil && s.usable(ctx) != nil {
		return wholeCode(a.Code, RecoveryUnavailable), nil
	}
	var out CodeResult
	err := s.inSlot(ctx, func() (err error) {
		out, err = a.prune(ctx)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return CodeResult{}, ctx.Err()
	case err != nil:
		return wholeCode(a.Code, InternalError), nil
	}
	return out, nil
}

// prune maps the swe-pruner threshold, which is the minimum score of a kept line, to a
// token budget. 0.5 is the decision of our gates. From there, the budget shrinks or grows
// in steps until the threshold is reached. A step is skipped if it would keep more lines or
// tokens than a lower threshold, or fewer than a higher one.
func (a CodeArgs) prune(ctx context.Context) (CodeResult, error) {
	survey, err := lineprune.Look(ctx, a.Code, a.Query, lineprune.Auto, lineprune.Options{})
	if err != nil {
		return CodeResult{}, err
	}
	out := a.within(survey, 0)
	for _, step := range a.steps() {
		if ctx.Err() != nil {
			return CodeResult{}, ctx.Err()
		}
		next := a.within(survey, 1-step)
		less, more := next, out
		if step < sweDefaultThreshold {
			less, more = out, next
		}
		if less.LeftTokenCnt <= more.LeftTokenCnt && len(less.KeptFrags) <= len(more.KeptFrags) {
			out = next
		}
	}
	return out, nil
}

// steps returns the thresholds from the default to the requested one.
func (a CodeArgs) steps() []float64 {
	if a.Threshold == nil || *a.Threshold == sweDefaultThreshold {
		return nil
	}
	steps := []float64{0.6, 0.7, 0.8, 0.9, 0.95, 0.99}
	passed := func(step float64) bool { return step >= *a.Threshold }
	if *a.Threshold < sweDefaultThreshold {
		steps = []float64{0.4, 0.3, 0.2, 0.1, 0}
		passed = func(step float64) bool { return step <= *a.Threshold }
	}
	if i := slices.IndexFunc(steps, passed); i >= 0 {
		steps = steps[:i+1]
	}
	return steps
}

// within prunes to a fraction of the tokens; 0 leaves the decision to the gates.
func (a CodeArgs) within(survey lineprune.Survey, share float64) CodeResult {
	res := survey.With(lineprune.Options{Marker: filtered, Budget: share}).Choose()
	if a.KeepFirst {
		keepFirst(&res)
	}
	text := lineprune.Render(a.Code, res, lineprune.RenderOptions{Marker: filtered})
	before := tokens.Lines(a.Code)
	return CodeResult{
		Score: round(res.Confidence, 4), PrunedCode: text, TokenScores: []any{}, KeptFrags: append([]int{}, res.Kept...),
		OriginTokenCnt: before, LeftTokenCnt: tokens.Lines(text), ModelInputTokenCnt: before,
	}
}

// filtered returns the marker of the swe-pruner service.
func filtered(b lineprune.Block) string { return fmt.Sprintf("(filtered %d lines)", b.Lines()) }

func keepFirst(res *lineprune.Result) {
	if len(res.Blocks) == 0 || res.Blocks[0].Start != 1 {
		return
	}
	res.Kept = append([]int{1}, res.Kept...)
	if res.Blocks[0].Start++; res.Blocks[0].Lines() == 0 {
		res.Blocks = res.Blocks[1:]
	}
}

func wholeCode(code, why string) CodeResult {
	n, count := recovery.CountLines(code), tokens.Lines(code)
	kept := make([]int, n)
	for i := range kept {
		kept[i] = i + 1
	}
	return CodeResult{
		PrunedCode: code, TokenScores: []any{}, KeptFrags: kept,
		OriginTokenCnt: count, LeftTokenCnt: count, ErrorMsg: &why,
	}
}

// Detail is one entry of a 422's "detail", as FastAPI spells it.
type Detail struct {
	Type string   `json:"type"`
	Loc  []string `json:"loc"`
	Msg  string   `json:"msg"`
}

// ParseCode parses a swe-pruner request. Like that service, it ignores unknown fields.
func ParseCode(body map[string]any) (CodeArgs, []Detail) {
	var a CodeArgs
	var bad []Detail
	refuse := func(field, kind, msg string) {
		bad = append(bad, Detail{Type: kind, Loc: []string{"body", field}, Msg: msg})
	}
	text := func(field string) string {
		value, given := body[field]
		s, ok := value.(string)
		switch {
		case !given:
			refuse(field, "missing", "Field required")
		case !ok:
			refuse(field, "string_type", "Input should be a valid string")
		}
		return s
	}
	a.Query, a.Code = text("query"), text("code")
	if value, given := body["threshold"]; given {
		if f, ok := lenientFloat(value); ok {
			a.Threshold = &f
		} else {
			refuse("threshold", "float_parsing", "Input should be a valid number")
		}
	}
	if value, given := body["always_keep_first_frags"]; given {
		keep, ok := value.(bool)
		if a.KeepFirst = keep; !ok {
			refuse("always_keep_first_frags", "bool_parsing", "Input should be a valid boolean")
		}
	}
	return a, bad
}

// lenientFloat also accepts numbers in strings, as the swe-pruner service does.
func lenientFloat(v any) (float64, bool) {
	spelled, ok := v.(string)
	switch n := v.(type) {
	case float64:
		return n, !math.IsNaN(n)
	case json.Number:
		spelled, ok = n.String(), true
	}
	f, err := strconv.ParseFloat(spelled, 64)
	if _, isNumber := v.(json.Number); isNumber && math.IsInf(f, 0) {
		err = nil // a number out of range is beyond any threshold
	}
	return f, ok && err == nil && !math.IsNaN(f)
}
