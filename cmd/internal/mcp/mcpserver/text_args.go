package mcpserver

import (
	"regexp"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/schema"
)

// Merge patches of the listed schemas. recover_text accepts every integer as a line number here, because ranges
// outside the text have an error of their own.
const (
	noLimits = `{}`
	anyRange = `{` + anyLine + `}`
	anyLine  = `"properties": {"ranges": {"items": {"properties": {"start_line": {"minimum": null}, "end_line": {"minimum": null}}}}}`
	idAlone  = `{"required": ["prune_id"], ` + anyLine + `}`
)

// maxTimeout is the highest timeout_ms. The schema has no limit, but a higher value would overflow a time.Duration.
const maxTimeout = 24 * time.Hour

// pruneArgs parses prune_text's arguments.
func pruneArgs(args map[string]any) service.PruneArgs {
	o, _ := args["options"].(map[string]any)
	return service.PruneArgs{
		Text: schema.Value[string](args, "text"),
		Goal: schema.Value[string](args, "goal_hint"),
		Kind: lineprune.Kind(schema.Value[string](args, "source_type")),
		Options: service.PruneOptions{
			MaxPruneRatio: schema.Float(o["max_prune_ratio"]),
			MinKeepLines:  schema.Int(o["min_keep_lines"]),
			Timeout:       time.Duration(min(schema.Int(o["timeout_ms"]), int(maxTimeout/time.Millisecond))) * time.Millisecond,
			Numbers:       schema.Value[bool](o, "annotate_lines"),
			Markers:       schema.Value[bool](o, "include_markers"),
		},
	}
}

// recoverArgs parses recover_text's arguments.
func recoverArgs(args map[string]any) (service.RecoverArgs, []tools.Issue) {
	a := service.RecoverArgs{PruneID: schema.Value[string](args, "prune_id"), Numbers: schema.Value[bool](args, "include_line_numbers")}
	ranges := schema.Value[[]any](args, "ranges")
	a.Ranges = make([]recovery.Range, 0, len(ranges))
	for _, item := range ranges {
		r, _ := item.(map[string]any)
		a.Ranges = append(a.Ranges, recovery.Range{Start: schema.Int(r["start_line"]), End: schema.Int(r["end_line"])})
	}
	pattern, given := args["pattern"].(string)
	if !given {
		return a, nil
	}
	if !schema.Value[bool](args, "regex") {
		pattern = regexp.QuoteMeta(pattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return a, []tools.Issue{{Path: "pattern", Code: schema.Custom}}
	}
	a.Pattern = re
	return a, nil
}
