package mcpserver

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// offered are tools that check arguments; they have no service to run them.
var offered = TextTools(nil)

// checkText checks arguments as the server does, and returns the issues in its order.
func checkText(t *testing.T, tool string, args map[string]any) (tools.Call, []string) {
	t.Helper()
	for _, o := range offered {
		if o.Name != tool {
			continue
		}
		call, found := o.Check(args)
		var issues []states.Issue
		for _, i := range found {
			issues = append(issues, states.NewIssue(i.Path, i.Code))
		}
		var sorted []string
		for _, i := range states.SortIssues(issues) {
			sorted = append(sorted, strings.TrimSpace(i.Path+" "+i.Code))
		}
		return call, sorted
	}
	require.Fail(t, "no tool "+tool)
	return nil, nil
}

// both decodes JSON the two ways transports do: numbers as spelled, and as float64.
func both(t *testing.T, raw string) []map[string]any {
	t.Helper()
	var spelled, floats map[string]any
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&spelled))
	if json.Unmarshal([]byte(raw), &floats) != nil {
		return []map[string]any{spelled} // a number no float64 can hold
	}
	return []map[string]any{spelled, floats}
}

const goodPrune = `{"text":"a","goal_hint":"","source_type":"logs","options":{"max_prune_ratio":0.5,"min_keep_lines":2,"timeout_ms":1500,"annotate_lines":true,"include_markers":false}}`

func TestParsePrune(t *testing.T) {
	for _, args := range both(t, goodPrune) {
		call, issues := checkText(t, "prune_text", args)
		require.Empty(t, issues)
		assert.Equal(t, service.PruneArgs{Text: "a", Kind: "logs", Options: service.PruneOptions{
			MaxPruneRatio: 0.5, MinKeepLines: 2, Timeout: 1500 * time.Millisecond, Numbers: true,
		}}, call.(pruneCall).args)
	}
}

func TestParsePruneIssues(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to string // replaced in goodPrune
		want     []string
	}{
		"integer ratio":          {`0.5`, `1`, nil},
		"integers with a point":  {`1500`, `1.5e3`, nil},
		"huge integers":          {`1500`, `1e300`, nil},
		"tiny ratio":             {`0.5`, `1e-400`, nil},
		"text missing":           {`"text":"a",`, ``, []string{"text invalid_type"}},
		"text null":              {`"text":"a"`, `"text":null`, []string{"text invalid_type"}},
		"unknown source":         {`"logs"`, `"grep"`, []string{"source_type invalid_enum_value"}},
		"source of another type": {`"logs"`, `7`, []string{"source_type invalid_type"}},
		"ratio above 1":          {`0.5`, `1.0000001`, []string{"options.max_prune_ratio too_big"}},
		"ratio below 0":          {`0.5`, `-0.1`, []string{"options.max_prune_ratio too_small"}},
		"ratio beyond float64":   {`0.5`, `1e999`, []string{"options.max_prune_ratio too_big"}},
		"ratio a string":         {`0.5`, `"0.5"`, []string{"options.max_prune_ratio invalid_type"}},
		"fraction of a line":     {`"min_keep_lines":2`, `"min_keep_lines":1.5`, []string{"options.min_keep_lines invalid_type"}},
		"negative minimum":       {`"min_keep_lines":2`, `"min_keep_lines":-1`, []string{"options.min_keep_lines too_small"}},
		"no time":                {`1500`, `0`, []string{"options.timeout_ms too_small"}},
		"number for a boolean":   {`true`, `1`, []string{"options.annotate_lines invalid_type"}},
		"unknown argument":       {`"text"`, `"more":1,"text"`, []string{"unrecognized_keys"}},
		"unknown option":         {`"timeout_ms"`, `"foo":1,"timeout_ms"`, []string{"options unrecognized_keys"}},
		"several, sorted": {`"text":"a","goal_hint":""`, `"text":1`,
			[]string{"goal_hint invalid_type", "text invalid_type"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, args := range both(t, strings.Replace(goodPrune, tc.from, tc.to, 1)) {
				_, got := checkText(t, "prune_text", args)
				assert.Equal(t, tc.want, got)
			}
		})
	}
	for _, raw := range []string{`{}`, `{"options":[]}`} {
		for _, args := range both(t, raw) {
			_, got := checkText(t, "prune_text", args)
			assert.Equal(t, []string{"goal_hint invalid_type", "options invalid_type", "source_type invalid_type", "text invalid_type"}, got)
		}
	}
}

func TestParseRecover(t *testing.T) {
	for name, tc := range map[string]struct {
		raw  string
		want []string
		ends []recovery.Range
	}{
		"plain":           {`{"prune_id":"p","ranges":[{"start_line":1,"end_line":2}],"include_line_numbers":false}`, nil, []recovery.Range{{Start: 1, End: 2}}},
		"no ranges":       {`{"prune_id":"p","ranges":[],"include_line_numbers":false}`, nil, []recovery.Range{}},
		"senseless range": {`{"prune_id":"p","ranges":[{"start_line":0,"end_line":-5}],"include_line_numbers":false}`, nil, []recovery.Range{{Start: 0, End: -5}}},
		"huge range":      {`{"prune_id":"p","ranges":[{"start_line":1,"end_line":99999999999999999999}],"include_line_numbers":false}`, nil, []recovery.Range{{Start: 1, End: math.MaxInt}}},
		"range a number":  {`{"prune_id":"p","ranges":[3],"include_line_numbers":false}`, []string{"ranges.0 invalid_type"}, nil},
		"line a fraction": {`{"prune_id":"p","ranges":[{"start_line":1.5,"end_line":2}],"include_line_numbers":false}`, []string{"ranges.0.start_line invalid_type"}, nil},
		"line missing":    {`{"prune_id":"p","ranges":[{"start_line":1}],"include_line_numbers":false}`, []string{"ranges.0.end_line invalid_type"}, nil},
		"range with more": {`{"prune_id":"p","ranges":[{"start_line":1,"end_line":2,"x":3}],"include_line_numbers":false}`, []string{"ranges.0 unrecognized_keys"}, nil},
		"nothing":         {`{}`, []string{"include_line_numbers invalid_type", "prune_id invalid_type", "ranges invalid_type"}, nil},
		"bad expression":  {`{"prune_id":"p","ranges":[],"include_line_numbers":false,"pattern":"(","regex":true}`, []string{"pattern custom"}, nil},
		"bracket literal": {`{"prune_id":"p","ranges":[],"include_line_numbers":false,"pattern":"("}`, nil, []recovery.Range{}},
		"empty pattern":   {`{"prune_id":"p","ranges":[],"include_line_numbers":false,"pattern":""}`, []string{"pattern too_small"}, nil},
		"long pattern":    {`{"prune_id":"p","ranges":[],"include_line_numbers":false,"pattern":"` + strings.Repeat("é", 1001) + `"}`, []string{"pattern too_big"}, nil},
		"pattern null":    {`{"prune_id":"p","ranges":[],"include_line_numbers":false,"pattern":null}`, []string{"pattern invalid_type"}, nil},
		"regex a string":  {`{"prune_id":"p","ranges":[],"include_line_numbers":false,"regex":"yes"}`, []string{"regex invalid_type"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, args := range both(t, tc.raw) {
				call, got := checkText(t, "recover_text", args)
				assert.Equal(t, tc.want, got)
				if tc.want == nil {
					assert.Equal(t, tc.ends, call.(recoverCall).args.Ranges)
				}
			}
		})
	}
}

func FuzzArguments(f *testing.F) {
	f.Add(goodPrune)
	f.Add(`{"prune_id":"p","ranges":[{"start_line":1e30,"end_line":-1}],"include_line_numbers":false,"pattern":"a"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var args map[string]any
		dec := json.NewDecoder(strings.NewReader(raw))
		dec.UseNumber()
		if dec.Decode(&args) != nil {
			return
		}
		if call, issues := checkText(t, "prune_text", args); issues == nil {
			o := call.(pruneCall).args.Options
			require.True(t, o.MaxPruneRatio >= 0 && o.MaxPruneRatio <= 1)
			require.Positive(t, o.Timeout)
			require.GreaterOrEqual(t, o.MinKeepLines, 0)
		}
		checkText(t, "recover_text", args)
	})
}
