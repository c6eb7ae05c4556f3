package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Change implements contextgc.Segments.
func (l *Ledger) Change(ctx context.Context, project string, ids []string, action contextgc.Action) (contextgc.Changed, error) {
	var result contextgc.Changed
	err := l.write(ctx, func(ctx context.Context, q querier) error {
		result = contextgc.Changed{Segments: []string{}, Errors: []string{}}
		for i, id := range ids {
			if slices.Contains(ids[:i], id) {
				continue
			}
			if err := l.change(ctx, q, project, id, action, &result); err != nil {
				return err
			}
		}
		if len(result.Segments) == 0 || action != contextgc.Stash && action != contextgc.Delete {
			return nil
		}
		_, err := q.exec(ctx, `INSERT INTO mcp_pruner.projects AS p (subject, project, collections) VALUES ($1, $2, 1)
			ON CONFLICT (subject, project) DO UPDATE SET collections = p.collections + 1`, mine(ctx, q), project)
		return err
	})
	return result, l.failed(err, fmt.Sprintf("%s segments", action), fmt.Sprintf("%s segments of the database", action))
}

func (l *Ledger) change(ctx context.Context, q querier, project, id string, action contextgc.Action, result *contextgc.Changed) error {
	var seq int64
	var held contextgc.Held
	var err error
	held.Known, err = first(ctx, q, []any{&seq, &held.Tokens, &held.Pinned, &held.Tier},
		`SELECT seq, tokens, pinned, tier FROM mcp_pruner.segments WHERE subject = $1 AND project = $2 AND id = $3 FOR UPDATE`, mine(ctx, q), project, id)
	if err != nil || !result.Admit(id, action, held) {
		return err
	}
	switch action {
	case contextgc.Stash:
		_, err = q.exec(ctx, `UPDATE mcp_pruner.segments SET tier = 'stashed' WHERE seq = $1`, seq)
	case contextgc.Delete:
		var list []removed
		if list, err = dropSegments(ctx, q, `seq = $1`, seq); err == nil {
			err = dropTexts(ctx, q, list[0].owner, [][]byte{list[0].hash})
		}
	case contextgc.Pin, contextgc.Unpin:
		_, err = q.exec(ctx, `UPDATE mcp_pruner.segments SET pinned = $1 WHERE seq = $2`, action == contextgc.Pin, seq)
	case contextgc.Touch:
		_, err = q.exec(ctx, `UPDATE mcp_pruner.segments SET touched_at = $1, refs = refs + 1 WHERE seq = $2`, l.now(), seq)
	default:
		err = contextgc.ErrNoAction
	}
	return err
}
