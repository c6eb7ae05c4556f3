package existing

import (
	"cmp"
	"context"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Decided is a result whose replacement was decided before.
type Decided struct {
	Call    history.ToolCall
	Args    map[string]any
	Text    string // all of the result
	ID      string // of the original, which is stored already
	Segment string // of the ledger; it keeps two results about one file apart
	Shown   string // the replacement
	Why     string
}

// Replace runs the machine once for results whose replacements were decided before, all or none. size is of the messages that carry
// them then, in bytes. ok is false if they stay unchanged.
func (m Machine) Replace(ctx context.Context, list []Decided, size int) (ok bool) {
	d, tool := together(list)
	m.Keep = func(context.Context, string) (string, error) { return d.ID, nil }
	source := tools.Source{Command: d.Call.Command}
	source.File, source.FirstLine, _ = d.Call.FileRead()
	call := m.run(ctx, shownInstead(d.Shown), d.Args, given{
		question: d.Why, output: output{d.Text, source},
		// As PruneID the segment would say that the model asked for it again.
		subject: tools.Subject{Path: source.File, Command: d.Call.Command, Pattern: d.Call.Pattern, Options: d.Segment},
	}, tool)
	if call.Answer().Kind != states.Result { // the request was abandoned
		call.Answering(0)
		return false
	}
	call.Answering(size)
	call.Written(ctx)
	return call.Pruning().Applied
}

// together returns results as one, and its tool: that of all of them, or several.
func together(list []Decided) (d Decided, tool string) {
	if len(list) == 1 {
		return list[0], cmp.Or(list[0].Call.Tool, "tool")
	}
	var texts, shown, segments []string
	tool = list[0].Call.Tool
	for _, one := range list {
		texts, shown, segments = append(texts, one.Text), append(shown, one.Shown), append(segments, one.Segment)
		if one.Call.Tool != tool {
			tool = several
		}
	}
	d = Decided{ID: list[0].ID, Why: list[0].Why, Text: strings.Join(texts, "\n"), Shown: strings.Join(shown, "\n"), Segment: strings.Join(segments, " ")}
	return d, cmp.Or(tool, several)
}

// several is the tool of a record about results of different tools.
const several = "several tools"

// shownInstead is a pruner whose result was decided before.
type shownInstead string

// Prune implements pruneclient.Pruner.
func (s shownInstead) Prune(context.Context, pruneclient.Request) (pruneclient.Result, error) {
	return pruneclient.Result{Text: string(s)}, nil
}

// Endpoint implements pruneclient.Pruner.
func (shownInstead) Endpoint() string { return "proxy" }

// Leads reports whether an agent can go the way back that a text names which stands in the place of a result. Other texts name none.
func Leads(text string, reach history.Reach) bool {
	if !IsStub(text) && !IsCut(text) {
		return true
	}
	line, _, _ := strings.Cut(text, "\n")
	quoted := strings.Split(line, "`")
	switch {
	case len(quoted) < 3:
		return reach.Files
	case ofTool(quoted[len(quoted)-2]):
		return reach.Tool != "" && strings.HasPrefix(quoted[len(quoted)-2], reach.Tool)
	}
	return reach.Commands
}
