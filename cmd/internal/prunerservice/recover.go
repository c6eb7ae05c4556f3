package prunerservice

import (
	"context"
	"errors"

	"mcp-pruner/pruneclient/recovery"
	"mcp-pruner/pruneclient/service"
)

// lookups is how many originals are fetched at once: each may be as large as a
// request, however little of it is asked for.
const lookups = 4

// recover makes an answer once there is room for one of its size.
func (s *server) recover(ctx context.Context, a service.RecoverArgs) (any, error) {
	r, weight, err := s.reserve(ctx, a)
	if err != nil {
		return nil, recoverError(err)
	}
	made := false
	defer func() {
		if !made {
			s.answers.Release(weight)
		}
	}()
	res, err := r.Whole(ctx)
	if err != nil {
		return nil, recoverError(err)
	}
	made = true
	text := res.RawText
	res.RawText = ""
	return toolResult{answer: res, field: "raw_text", text: text, weight: weight}, nil
}

// reserve finds an original and takes its answer's weight from the budget. Who has
// to wait for that fetches the original afterwards, not to hold it meanwhile.
func (s *server) reserve(ctx context.Context, a service.RecoverArgs) (service.Recovery, int64, error) {
	r, err := s.fetch(ctx, a)
	if err != nil || r.Size() < largeBody {
		return r, 0, err
	}
	weight := min(int64(r.Size()), answerBudget)
	if s.answers.TryAcquire(weight) {
		return r, weight, nil
	}
	r = service.Recovery{}
	if err := s.answers.Acquire(ctx, weight); err != nil {
		return r, 0, err
	}
	if r, err = s.fetch(ctx, a); err != nil {
		s.answers.Release(weight)
	}
	return r, weight, err
}

func (s *server) fetch(ctx context.Context, a service.RecoverArgs) (service.Recovery, error) {
	select {
	case s.fetching <- struct{}{}:
		defer func() { <-s.fetching }()
		return s.service.Recover(ctx, a, maxAnswerBytes)
	case <-ctx.Done():
		return service.Recovery{}, ctx.Err()
	}
}

func recoverError(err error) error {
	var missing *recovery.NotFound
	var bad *recovery.BadRange
	var large *service.AnswerTooLarge
	switch {
	case errors.As(err, &missing):
		return &rpcError{codeIDNotFound, "prune_id_not_found", map[string]any{"code": "prune_id_not_found", "prune_id": missing.ID}}
	case errors.As(err, &bad):
		data := map[string]any{"code": "invalid_range", "range": bad.Range}
		if bad.MaxLine != nil {
			data["max_line"] = *bad.MaxLine
		}
		return &rpcError{codeBadRange, "invalid_range", data}
	case errors.As(err, &large):
		return &rpcError{codeBadRange, "answer_too_large: ask for fewer or smaller ranges at once",
			map[string]any{"code": "answer_too_large", "max_bytes": large.Most}}
	case errors.Is(err, service.ErrSearchTooSlow):
		return &rpcError{codeBadRange, "search_too_slow: ask for fewer lines or a simpler pattern", map[string]any{"code": "search_too_slow"}}
	}
	return &rpcError{codeInternalError, "Internal error", map[string]any{"code": service.RecoveryUnavailable}}
}
