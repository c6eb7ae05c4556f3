package contextgc

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// Action says what pruning does to a segment.
type Action string

// The actions.
const (
	Stash  Action = "stash"  // removed from the context, but can still be found and read
	Delete Action = "delete" // removed for good
)

// Pruned is the result of Prune.
type Pruned struct {
	Segments []string `json:"pruned_segments"`
	Freed    int      `json:"tokens_freed"`
	Action   string   `json:"action"` // "stashed" or "deleted"
	Errors   []string `json:"errors"`
	Pinned   int      `json:"-"` // number of segments refused because they are pinned
}

// Prune stashes or deletes segments. Pinned and missing segments are reported in Errors;
// all others are pruned.
func (s *Store) Prune(ctx context.Context, project string, ids []string, action Action) (Pruned, error) {
	done := map[Action]string{Stash: "stashed", Delete: "deleted"}[action]
	if done == "" {
		return Pruned{}, fmt.Errorf("unknown action %q", action)
	}
	var result Pruned
	err := s.write(ctx, func(tx *sql.Tx) error {
		result = Pruned{Segments: []string{}, Action: done, Errors: []string{}}
		for _, id := range distinct(ids) {
			if err := result.prune(tx, project, id, action); err != nil {
				return err
			}
		}
		if len(result.Segments) == 0 {
			return nil
		}
		_, err := tx.Exec(`INSERT INTO projects (project, collections) VALUES (?, 1)
			ON CONFLICT (project) DO UPDATE SET collections = collections + 1`, project)
		return err
	})
	if err != nil {
		return Pruned{}, fmt.Errorf("prune: %w", err)
	}
	return result, nil
}

func (r *Pruned) prune(tx *sql.Tx, project, id string, action Action) error {
	var seq int64
	var tokens int
	var pinned bool
	var tier Tier
	var hash []byte
	err := tx.QueryRow(`SELECT seq, tokens, pinned, tier, hash FROM segments WHERE project = ? AND id = ?`, project, id).
		Scan(&seq, &tokens, &pinned, &tier, &hash)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		r.Errors = append(r.Errors, "Segment "+id+" not found")
		return nil
	case err != nil:
		return err
	case pinned:
		r.Errors = append(r.Errors, "Segment "+id+" is pinned and cannot be pruned")
		r.Pinned++
		return nil
	case action == Stash && tier == Stashed:
		r.Errors = append(r.Errors, "Segment "+id+" is stashed already")
		return nil
	}
	r.Segments = append(r.Segments, id)
	if tier == Working {
		r.Freed += tokens
	}
	if action == Stash {
		_, err = tx.Exec(`UPDATE segments SET tier = 'stashed' WHERE seq = ?`, seq)
		return err
	}
	return remove(tx, seq, hash)
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

// Pin protects segments from pruning, or removes that protection. It returns the ids of the
// existing segments, and an error text for each of the others.
func (s *Store) Pin(ctx context.Context, project string, ids []string, pinned bool) (done, problems []string, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		done, problems = []string{}, []string{}
		for _, id := range distinct(ids) {
			res, err := tx.Exec(`UPDATE segments SET pinned = ? WHERE project = ? AND id = ?`, pinned, project, id)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			switch {
			case err != nil:
				return err
			case n == 0:
				problems = append(problems, "Segment "+id+" not found")
			default:
				done = append(done, id)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("pin: %w", err)
	}
	return done, problems, nil
}

// distinct removes duplicates and keeps the order.
func distinct(ids []string) []string {
	var once []string
	for _, id := range ids {
		if !slices.Contains(once, id) {
			once = append(once, id)
		}
	}
	return once
}
