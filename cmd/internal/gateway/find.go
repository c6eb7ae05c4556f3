package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/schema"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// findFrom is the number of servers' tools from which a grouped list has the tool find. A model overlooks fewer.
const findFrom = 30

// foundByDefault is the number of tools found for each step. The schema has it, and the maximum.
const foundByDefault = 5

const (
	findName        = "find"
	findDescription = "Finds the tools for a task: names, actions, parameters. Calls none."
	findSchema      = `{"type":"object","properties":{"task":{"type":"string"},"steps":{"type":"array","items":{"type":"string"},` +
		`"description":"What has to be done, one by one"},"limit":{"type":"integer","minimum":1,"maximum":10}}}`
	findAnnotations = `{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`
)

var findRules = sync.OnceValue(func() *schema.Schema { return schema.MustCompile(json.RawMessage(findSchema)) })

// findTool returns the tool that searches a list, or false if the list is short. It is for clients without a tool search of their own.
func findTool(list []upstream.Exposed) (t tools.Tool, offered bool) {
	server := map[*upstream.Definition]bool{} // tools, of which a mapping may make several actions
	for i := range list {
		for _, a := range list[i].Actions {
			server[a.Def] = true
		}
	}
	index := sync.OnceValue(func() *toolIndex { return newToolIndex(list) })
	return tools.Tool{
		Name: findName, Description: findDescription, InputSchema: json.RawMessage(findSchema), ReadOnly: true,
		Listed: map[string]json.RawMessage{"_meta": nil, "annotations": json.RawMessage(findAnnotations)},
		Check: func(args map[string]any) (tools.Call, []tools.Issue) {
			var issues []tools.Issue
			for _, f := range findRules().Check(map[string]any(args)) {
				issues = append(issues, tools.Issue{Path: f.Path(), Code: f.Code})
			}
			return &search{args, index}, issues
		},
	}, len(server) >= findFrom
}

// search is one call of find.
type search struct {
	args  map[string]any
	index func() *toolIndex
}

// FocusQuestion implements tools.Call. The answer is never pruned.
func (s *search) FocusQuestion() string { return "" }

// Run searches.
func (s *search) Run(context.Context) (tools.Output, error) {
	var steps []string
	for _, step := range schema.Value[[]any](s.args, "steps") {
		if text, _ := step.(string); strings.TrimSpace(text) != "" {
			steps = append(steps, text)
		}
	}
	limit := foundByDefault
	if given, there := s.args["limit"]; there {
		limit = schema.Int(given)
	}
	parts, found := s.index().Find(schema.Value[string](s.args, "task"), steps, limit)
	if len(parts) == 0 {
		return nil, &tools.Error{Code: "invalid_arguments", Message: `find: say what has to be done: {"task":"...","steps":["...","..."]}`}
	}
	return connect.Text(foundAnswer(parts, found)), nil
}
