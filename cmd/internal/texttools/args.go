package texttools

import (
	"maps"
	"regexp"
	"sync"
	"time"

	"mcp-pruner/pruneclient/lineprune"
	"mcp-pruner/pruneclient/recovery"
	"mcp-pruner/pruneclient/service"
	"mcp-pruner/tools"
	"mcp-pruner/tools/schema"
)

// anyRange lets every integer pass as a line number: ranges that make no sense in a text
// have an error of their own. The other tools have no member of that name, and the patch
// adds no rule to them.
const anyRange = `{"properties": {"ranges": {"items": {"properties": {"start_line": {"minimum": null}, "end_line": {"minimum": null}}}}}}`

// builder makes a call of arguments that have the right types, where they are there at
// all, and reports what a schema cannot tell.
type builder func(args map[string]any) (tools.Call, []tools.Issue)

// checker returns a check of a tool's arguments: all violations of the schema, and what the
// builder finds in the arguments that are left.
func checker(t service.Tool, build builder) func(map[string]any) (tools.Call, []tools.Issue) {
	rules := sync.OnceValue(func() *schema.Schema { return schema.MustCompile(t.InputSchema, anyRange) })
	return func(args map[string]any) (tools.Call, []tools.Issue) {
		usable := maps.Clone(args)
		var issues []tools.Issue
		for _, f := range rules().Check(args) {
			issues = append(issues, tools.Issue{Path: f.Path(), Code: f.Code})
			if len(f.At) > 0 {
				delete(usable, f.At[0])
			}
		}
		call, more := build(usable)
		if issues = append(issues, more...); len(issues) > 0 {
			return nil, issues
		}
		return call, nil
	}
}

// maxTimeout caps timeout_ms, which the schema leaves open, where a Duration would
// overflow.
const maxTimeout = 24 * time.Hour

// pruneArgs reads prune_text's arguments.
func pruneArgs(args map[string]any) service.PruneArgs {
	o, _ := args["options"].(map[string]any)
	return service.PruneArgs{
		Text: value[string](args, "text"),
		Goal: value[string](args, "goal_hint"),
		Kind: lineprune.Kind(value[string](args, "source_type")),
		Options: service.PruneOptions{
			MaxPruneRatio: schema.Float(o["max_prune_ratio"]),
			MinKeepLines:  schema.Int(o["min_keep_lines"]),
			Timeout:       time.Duration(min(schema.Int(o["timeout_ms"]), int(maxTimeout/time.Millisecond))) * time.Millisecond,
			Numbers:       value[bool](o, "annotate_lines"),
			Markers:       value[bool](o, "include_markers"),
		},
	}
}

// recoverArgs reads recover_text's arguments.
func recoverArgs(args map[string]any) (service.RecoverArgs, []tools.Issue) {
	a := service.RecoverArgs{PruneID: value[string](args, "prune_id"), Numbers: value[bool](args, "include_line_numbers")}
	ranges := value[[]any](args, "ranges")
	a.Ranges = make([]recovery.Range, 0, len(ranges))
	for _, item := range ranges {
		r, _ := item.(map[string]any)
		a.Ranges = append(a.Ranges, recovery.Range{Start: schema.Int(r["start_line"]), End: schema.Int(r["end_line"])})
	}
	pattern, given := args["pattern"].(string)
	if !given {
		return a, nil
	}
	if !value[bool](args, "regex") {
		pattern = regexp.QuoteMeta(pattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return a, []tools.Issue{{Path: "pattern", Code: schema.Custom}}
	}
	a.Pattern = re
	return a, nil
}

// value is a member of that type, zero when it is absent or of another type.
func value[T any](object map[string]any, name string) T {
	v, _ := object[name].(T)
	return v
}
