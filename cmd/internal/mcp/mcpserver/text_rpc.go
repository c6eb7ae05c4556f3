package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// maxAnswerBytes is the longest answer of recover_text over POST /rpc, which has no pages. A longer original can
// still be recovered as a whole.
const maxAnswerBytes = 32 << 20

// TextRPC returns the tools in the form of the line pruner's own contract. Every answer is JSON in one text block, and a
// failed recovery is a JSON-RPC error. recover_range is an alias.
func TextRPC(s *service.Service) []tools.Tool {
	room := newBudget(answerBudget)
	return []tools.Tool{
		serviceTool("prune_text", noLimits, func(args map[string]any) (tools.Call, []tools.Issue) {
			a := pruneArgs(args)
			return answering(func(ctx context.Context) (any, error) { return s.PruneText(ctx, a) }), nil
		}),
		serviceTool("recover_text", anyRange, func(args map[string]any) (tools.Call, []tools.Issue) {
			a, issues := recoverArgs(args)
			return answering(func(ctx context.Context) (any, error) { return recoverWhole(ctx, s, a, room) }), issues
		}),
		serviceTool("health", noLimits, func(map[string]any) (tools.Call, []tools.Issue) {
			return answering(func(context.Context) (any, error) { return s.Health(), nil }), nil
		}),
	}
}

// CodeTool returns the tool for POST /prune, the swe-pruner contract. The arguments have already been checked.
func CodeTool(s *service.Service) tools.Tool {
	return tools.Tool{
		Name: "prune_code", ReadOnly: true, InputSchema: json.RawMessage(`{"type":"object"}`),
		Check: func(args map[string]any) (tools.Call, []tools.Issue) {
			a, bad := service.ParseCode(args)
			if len(bad) > 0 {
				return nil, []tools.Issue{{Path: "", Code: "custom"}}
			}
			return answering(func(ctx context.Context) (any, error) { return s.PruneCode(ctx, a) }), nil
		},
	}
}

// answering is a call whose answer is JSON.
type answering func(ctx context.Context) (any, error)

func (answering) FocusQuestion() string { return "" }

func (a answering) Run(ctx context.Context) (tools.Output, error) {
	res, err := a(ctx)
	if err != nil {
		return nil, err
	}
	text, err := jsonspan.Marshal(res)
	if err != nil {
		return nil, &tools.Error{Code: "io_error", Message: "the answer cannot be encoded"}
	}
	answer := jsonOutput{textOutput{string(text)}}
	switch res := res.(type) {
	case service.PruneResult:
		return savingOutput{answer, savedBy(res)}, nil
	case service.CodeResult:
		return savingOutput{answer, savedCode(res)}, nil
	}
	return answer, nil
}

// jsonOutput is an answer in JSON.
type jsonOutput struct{ textOutput }

func (jsonOutput) Structured(any) any { return nil }

// savingOutput is the answer of a tool that prunes.
type savingOutput struct {
	jsonOutput
	saving tools.Saving
}

// Saved implements [tools.Saver].
func (o savingOutput) Saved() tools.Saving { return o.saving }

func savedCode(res service.CodeResult) tools.Saving {
	s := tools.Saving{Before: res.OriginTokenCnt, After: res.LeftTokenCnt}
	switch {
	case res.ErrorMsg != nil:
		s.Why = *res.ErrorMsg
	case res.LeftTokenCnt >= res.OriginTokenCnt:
		s.Why = "kept_whole"
	}
	return s
}

// recoverWhole returns all requested lines at once, when the budget has room for them.
func recoverWhole(ctx context.Context, s *service.Service, a service.RecoverArgs, room budget) (any, error) {
	found, err := s.Recover(ctx, a, maxAnswerBytes)
	if err != nil {
		return nil, recoverRPCError(ctx, err)
	}
	if err := room.hold(ctx, int64(found.Size())); err != nil {
		return nil, err
	}
	res, err := found.Whole(ctx)
	if err != nil {
		return nil, recoverRPCError(ctx, err)
	}
	return res, nil
}

// The codes of the line pruner's contract.
const (
	codeIDNotFound = -32004
	codeBadRange   = -32005
)

// recoverRPCError is an error of recover_text with the JSON-RPC error that answers it.
func recoverRPCError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	failed := recoverError(err)
	rpc := &tools.RPCError{Code: codeInternalError, Message: "Internal error"}
	data := map[string]any{"code": service.RecoveryUnavailable}
	var missing *recovery.NotFound
	var bad *recovery.BadRange
	var large *service.AnswerTooLarge
	switch {
	case errors.As(err, &missing):
		rpc = &tools.RPCError{Code: codeIDNotFound, Message: "prune_id_not_found"}
		data = map[string]any{"code": "prune_id_not_found", "prune_id": missing.ID}
	case errors.As(err, &bad):
		rpc = &tools.RPCError{Code: codeBadRange, Message: "invalid_range"}
		data = map[string]any{"code": "invalid_range", "range": bad.Range}
		if bad.MaxLine != nil {
			data["max_line"] = *bad.MaxLine
		}
	case errors.As(err, &large):
		rpc = &tools.RPCError{Code: codeBadRange, Message: "answer_too_large: ask for fewer or smaller ranges at once"}
		data = map[string]any{"code": "answer_too_large", "max_bytes": large.Most}
	case errors.Is(err, service.ErrSearchTooSlow):
		rpc = &tools.RPCError{Code: codeBadRange, Message: "search_too_slow: ask for fewer lines or a simpler pattern"}
		data = map[string]any{"code": "search_too_slow"}
	}
	raw, err := json.Marshal(data)
	if err != nil { // strings and numbers can always be marshalled
		return failed
	}
	rpc.Data = raw
	failed.Opaque = &tools.Opaque{RPC: rpc}
	return failed
}
