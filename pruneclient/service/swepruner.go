package service

import (
	"context"
	"fmt"
	"strconv"
	"unicode/utf8"

	"mcp-pruner/pruneclient/lineprune"
	"mcp-pruner/pruneclient/recovery"
)

// CodeArgs is a request of the swe-pruner contract.
type CodeArgs struct {
	Query     string
	Code      string
	Threshold *float64 // nil, like the service's own default, means our gates decide
	KeepFirst bool     // always_keep_first_frags: the first line stays
}

// CodeResult is its response, in the field names of the service it stands in for.
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

// PruneCode answers a swe-pruner request. As with PruneText, what goes wrong
// leaves the code as it was; error_msg says why. The only error is ctx's.
func (s *Service) PruneCode(ctx context.Context, a CodeArgs) (CodeResult, error) {
	s.counters.call()
	if utf8.RuneCountInString(a.Code) > s.settings.MaxInputChars {
		return wholeCode(a.Code, InputTooLarge), nil
	}
	var out CodeResult
	err := s.inSlot(ctx, func() error {
		res, err := lineprune.Prune(ctx, a.Code, a.Query, lineprune.Auto, a.limits())
		if err == nil {
			out = a.finish(res)
		}
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

func (a CodeArgs) finish(res lineprune.Result) CodeResult {
	if a.KeepFirst {
		keepFirst(&res)
	}
	text := lineprune.Render(a.Code, res, lineprune.RenderOptions{Marker: filtered})
	before := tokens(a.Code)
	return CodeResult{
		Score: round(res.Confidence, 4), PrunedCode: text, TokenScores: []any{}, KeptFrags: res.Kept,
		OriginTokenCnt: before, LeftTokenCnt: tokens(text), ModelInputTokenCnt: before,
	}
}

// limits maps the service's threshold, a score a line must reach, to what we
// have: a share of the tokens, smaller the higher the threshold is.
func (a CodeArgs) limits() lineprune.Options {
	opts := lineprune.Options{Marker: filtered}
	if a.Threshold == nil || *a.Threshold == sweDefaultThreshold {
		return opts
	}
	opts.Budget = min(max(1-*a.Threshold, 0.01), 1)
	return opts
}

// filtered is the service's marker.
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
	n, count := recovery.CountLines(code), tokens(code)
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

// ParseCode reads a swe-pruner request. Like the service it ignores fields it does
// not know.
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

// lenientFloat takes numbers in strings, too, as the service does.
func lenientFloat(v any) (float64, bool) {
	if s, ok := v.(string); ok {
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil && f == f
	}
	return float(v)
}
