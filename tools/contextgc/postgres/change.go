package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// Change implements contextgc.Segments.
func (s *Store) Change(ctx context.Context, project string, ids []string, action contextgc.Action) (contextgc.Changed, error) {
	var result contextgc.Changed
	err := s.db.Write(ctx, func(ctx context.Context, q postgres.Querier) error {
		result = contextgc.Changed{Segments: []string{}, Errors: []string{}}
		for i, id := range ids {
			if slices.Contains(ids[:i], id) {
				continue
			}
			if err := s.change(ctx, q, project, id, action, &result); err != nil {
				return err
			}
		}
		if len(result.Segments) == 0 || action != contextgc.Stash && action != contextgc.Delete {
			return nil
		}
		_, err := q.Exec(ctx, `INSERT INTO mcp_pruner.projects AS p (subject, project, collections) VALUES ($1, $2, 1)
			ON CONFLICT (subject, project) DO UPDATE SET collections = p.collections + 1`, subject.Of(ctx), project)
		return err
	})
	if err != nil {
		return contextgc.Changed{}, fmt.Errorf("%s segments of the database: %w", action, err)
	}
	return result, nil
}

func (s *Store) change(ctx context.Context, q postgres.Querier, project, id string, action contextgc.Action, result *contextgc.Changed) error {
	var seq int64
	var held contextgc.Held
	var hash []byte
	err := q.QueryRow(ctx, `SELECT seq, tokens, pinned, tier, hash FROM mcp_pruner.segments WHERE subject = $1 AND project = $2 AND id = $3 FOR UPDATE`,
		subject.Of(ctx), project, postgres.Text(id)).Scan(&seq, &held.Tokens, &held.Pinned, &held.Tier, &hash)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	held.Known = err == nil
	if !result.Admit(id, action, held) {
		return nil
	}
	switch action {
	case contextgc.Stash:
		_, err = q.Exec(ctx, `UPDATE mcp_pruner.segments SET tier = 'stashed' WHERE seq = $1`, seq)
	case contextgc.Delete:
		if _, err = q.Exec(ctx, `DELETE FROM mcp_pruner.segments WHERE seq = $1`, seq); err == nil {
			_, err = q.Exec(ctx, postgres.DropTexts, subject.Of(ctx), [][]byte{hash})
		}
	case contextgc.Pin, contextgc.Unpin:
		_, err = q.Exec(ctx, `UPDATE mcp_pruner.segments SET pinned = $1 WHERE seq = $2`, action == contextgc.Pin, seq)
	case contextgc.Touch:
		_, err = q.Exec(ctx, `UPDATE mcp_pruner.segments SET touched_at = $1, refs = refs + 1 WHERE seq = $2`, s.now(), seq)
	default:
		err = contextgc.ErrNoAction
	}
	return err
}
