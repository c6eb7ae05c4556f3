package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Change implements contextgc.Segments.
func (s *Store) Change(ctx context.Context, project string, ids []string, action contextgc.Action) (contextgc.Changed, error) {
	var result contextgc.Changed
	err := s.write(ctx, func(tx *sql.Tx) error {
		result = contextgc.Changed{Segments: []string{}, Errors: []string{}}
		for i, id := range ids {
			if slices.Contains(ids[:i], id) {
				continue
			}
			if err := s.change(tx, project, id, action, &result); err != nil {
				return err
			}
		}
		if len(result.Segments) == 0 || action != contextgc.Stash && action != contextgc.Delete {
			return nil
		}
		_, err := tx.Exec(`INSERT INTO projects (project, collections) VALUES (?, 1)
			ON CONFLICT (project) DO UPDATE SET collections = collections + 1`, project)
		return err
	})
	if err != nil {
		return contextgc.Changed{}, fmt.Errorf("%s segments: %w", action, err)
	}
	return result, nil
}

// change changes one segment.
func (s *Store) change(tx *sql.Tx, project, id string, action contextgc.Action, result *contextgc.Changed) error {
	var seq int64
	var held contextgc.Held
	var hash []byte
	err := tx.QueryRow(`SELECT seq, tokens, pinned, tier, hash FROM segments WHERE project = ? AND id = ?`, project, id).
		Scan(&seq, &held.Tokens, &held.Pinned, &held.Tier, &hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	held.Known = err == nil
	if !result.Admit(id, action, held) {
		return nil
	}
	switch action {
	case contextgc.Stash:
		_, err = tx.Exec(`UPDATE segments SET tier = 'stashed' WHERE seq = ?`, seq)
	case contextgc.Delete:
		err = remove(tx, seq, hash)
	case contextgc.Pin, contextgc.Unpin:
		_, err = tx.Exec(`UPDATE segments SET pinned = ? WHERE seq = ?`, action == contextgc.Pin, seq)
	case contextgc.Touch:
		_, err = tx.Exec(`UPDATE segments SET touched = ?, refs = refs + 1 WHERE seq = ?`, s.settings.Now().UnixMicro(), seq)
	default:
		err = contextgc.ErrNoAction
	}
	return err
}

// remove deletes a segment, and its text unless another segment has the same text.
func remove(tx *sql.Tx, seq int64, hash []byte) error {
	for _, q := range []string{`DELETE FROM segments WHERE seq = ?`, `DELETE FROM words WHERE rowid = ?`} {
		if _, err := tx.Exec(q, seq); err != nil {
			return err
		}
	}
	_, err := tx.Exec(`DELETE FROM texts WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM segments WHERE hash = ?1)`, hash)
	return err
}
