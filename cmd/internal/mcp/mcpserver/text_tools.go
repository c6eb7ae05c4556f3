package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// pageBytes is the approximate number of bytes that recover_text returns at once. Clients show that much without
// cutting out the middle.
const pageBytes = 200_000

// TextTools returns prune_text and recover_text over a service.
func TextTools(s *service.Service) []tools.Tool {
	return []tools.Tool{
		serviceTool("prune_text", noLimits, func(args map[string]any) (tools.Call, []tools.Issue) {
			return pruneCall{service: s, args: pruneArgs(args)}, nil
		}),
		recoverTool(s, anyRange, false),
	}
}

// RecoverTool returns recover_text for a server without prune_text. There the line in the place of a result names the id alone, which
// is enough for the whole text.
func RecoverTool(s *service.Service) tools.Tool { return recoverTool(s, idAlone, true) }

func recoverTool(s *service.Service, limits string, whole bool) tools.Tool {
	return serviceTool("recover_text", limits, func(args map[string]any) (tools.Call, []tools.Issue) {
		a, issues := recoverArgs(args)
		a.Whole = whole
		return recoverCall{service: s, args: a}, issues
	})
}

// serviceTool returns a tool of the service by its name, with what its arguments are held to besides its schema.
func serviceTool(name, limits string, build tools.Builder) tools.Tool {
	all := service.Tools()
	t := all[slices.IndexFunc(all, func(t service.Tool) bool { return t.Name == name })]
	return tools.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, ReadOnly: true, Check: tools.Checked(t.InputSchema, limits, build)}
}

// neverPruned gives both tools an empty focus question, because neither a pruned text nor a recovered one may be
// pruned again.
type neverPruned struct{}

func (neverPruned) FocusQuestion() string { return "" }

type pruneCall struct {
	neverPruned
	service *service.Service
	args    service.PruneArgs
}

func (c pruneCall) Run(ctx context.Context) (tools.Output, error) {
	res, err := c.service.PruneText(ctx, c.args)
	if err != nil {
		return nil, err
	}
	text, err := jsonspan.Marshal(res) // without escapes, because a model reads it
	if err != nil {
		return nil, &tools.Error{Code: "io_error", Message: "the answer cannot be encoded"}
	}
	return pruneOutput{textOutput{string(text)}, res}, nil
}

type recoverCall struct {
	neverPruned
	service *service.Service
	args    service.RecoverArgs
}

// Subject identifies a part of the text that was stored under the id, whichever call stored it.
func (c recoverCall) Subject() tools.Subject {
	return tools.Subject{PruneID: c.args.PruneID, Part: true}
}

func (c recoverCall) Run(ctx context.Context) (tools.Output, error) {
	found, err := c.service.Recover(ctx, c.args, 0)
	if err != nil {
		return nil, recoverError(err)
	}
	res, err := found.Page(ctx, pageBytes)
	if err != nil {
		return nil, recoverError(err)
	}
	return recoverOutput{textOutput{recoverNote(res.Metadata) + res.RawText}, res}, nil
}

func recoverError(err error) *tools.Error {
	var missing *recovery.NotFound
	var bad *recovery.BadRange
	var large *service.AnswerTooLarge
	switch {
	case errors.As(err, &large):
		return &tools.Error{Code: "answer_too_large", Message: "ask for fewer or smaller ranges at once"}
	case errors.As(err, &missing):
		return &tools.Error{Code: "prune_id_not_found", Message: "this prune_id is unknown or too old; run the original call again"}
	case errors.As(err, &bad) && bad.MaxLine != nil:
		return &tools.Error{Code: "invalid_range", Message: fmt.Sprintf("start_line %d is past the end: the text has %d lines", bad.Range.Start, *bad.MaxLine)}
	case errors.As(err, &bad):
		return &tools.Error{Code: "invalid_range", Message: fmt.Sprintf("lines %d-%d: want 1 <= start_line <= end_line", bad.Range.Start, bad.Range.End)}
	case errors.Is(err, service.ErrSearchTooSlow):
		return &tools.Error{Code: "search_too_slow", Message: "the pattern takes too long on this text; search fewer lines, or for something simpler"}
	}
	return &tools.Error{Code: "recovery_unavailable", Message: "the recovery store cannot be read"}
}

// recoverNote is the line above an incomplete answer that says how to get the rest.
func recoverNote(m service.RecoverMetadata) string {
	if len(m.NextRanges) == 0 {
		return ""
	}
	next, more := m.NextRanges[0], ""
	if len(m.NextRanges) > 1 {
		more = fmt.Sprintf(", then the other %d ranges", len(m.NextRanges)-1)
	}
	return fmt.Sprintf("[cut: ask next for start_line %d, end_line %d%s]\n", next.Start, next.End, more)
}

// textOutput is the common part of both outputs: a text that is not pruned.
type textOutput struct{ text string }

func (o textOutput) Code() string         { return o.text }
func (o textOutput) Text() string         { return o.text }
func (o textOutput) Source() tools.Source { return tools.Source{} }

// Prune is never called, because these tools have no focus question.
func (o textOutput) Prune(string) (tools.Output, error) {
	return nil, errors.New("the output of this tool is not pruned")
}

type pruneOutput struct {
	textOutput
	res service.PruneResult
}

func (o pruneOutput) Structured(pruning any) any {
	return struct {
		Tool string `json:"tool"`
		service.PruneResult
		Pruning any `json:"pruning"`
	}{"prune_text", o.res, pruning}
}

// Saved implements [tools.Saver].
func (o pruneOutput) Saved() tools.Saving { return savedBy(o.res) }

// savedBy returns the tokens before and after pruning, and the reason if nothing was removed.
func savedBy(res service.PruneResult) tools.Saving {
	s := tools.Saving{Before: res.Stats.TokensEstBefore, After: res.Stats.TokensEstAfter}
	switch {
	case res.Stats.PrunedLines > 0:
	case len(res.Warnings) > 0:
		s.Why = res.Warnings[0]
	default:
		s.Why = "kept_whole"
	}
	return s
}

type recoverOutput struct {
	textOutput
	res service.RecoverResult
}

func (o recoverOutput) Structured(pruning any) any {
	return struct {
		Tool string `json:"tool"`
		service.RecoverResult
		NextStartLine int `json:"next_start_line,omitempty"`
		Pruning       any `json:"pruning"`
	}{"recover_text", o.res, o.nextStartLine(), pruning}
}

// Notice says why the text is empty, for clients that show only the text.
func (o recoverOutput) Notice() string {
	m := o.res.Metadata
	switch {
	case m.MatchCount != nil && *m.MatchCount == 0:
		return "no matches"
	case m.MatchCount == nil && len(m.Ranges) == 0:
		return fmt.Sprintf("no lines were asked for; the text has %d", m.TotalLines)
	}
	return ""
}

// nextStartLine returns the first line of the rest, or 0 if there is none.
func (o recoverOutput) nextStartLine() int {
	if next := o.res.Metadata.NextRanges; len(next) > 0 {
		return next[0].Start
	}
	return 0
}
