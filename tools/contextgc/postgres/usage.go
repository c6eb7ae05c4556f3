package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// AddUsage implements contextgc.Sessions.
func (s *Store) AddUsage(ctx context.Context, u contextgc.Usage) error {
	err := s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		_, err := q.Exec(ctx, `INSERT INTO mcp_pruner.usage AS u (subject, session, api, model, calls, input, read, written, output, before, after, cleared, updated_at)
			VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (subject, session) DO UPDATE SET
			model = excluded.model, calls = u.calls + 1, input = u.input + excluded.input, read = u.read + excluded.read,
			written = u.written + excluded.written, output = u.output + excluded.output, before = greatest(u.before, excluded.before),
			after = CASE WHEN excluded.before >= u.before THEN excluded.after ELSE u.after END,
			cleared = greatest(u.cleared, excluded.cleared), updated_at = excluded.updated_at`,
			ownerOf(ctx, u.Subject), postgres.Text(u.Session), u.API, postgres.Text(u.Model), u.Input, u.Read, u.Written, u.Output, u.Before, u.After, u.Cleared, s.now())
		return err
	})
	if err != nil {
		return fmt.Errorf("usage into the database: %w", err)
	}
	return nil
}

// Usages implements contextgc.Sessions.
func (s *Store) Usages(ctx context.Context) (list []contextgc.Usage, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		rows, err := q.Query(ctx, usages+` ORDER BY updated_at DESC`, subject.Of(ctx))
		if err == nil {
			list, err = pgx.CollectRows(rows, scanUsage)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list usage of the database: %w", err)
	}
	return list, nil
}

// usages is the statement that selects the usage of a subject's sessions.
const usages = `SELECT subject, session, api, model, calls, input, read, written, output, before, after, cleared, updated_at FROM mcp_pruner.usage WHERE subject = $1`

func scanUsage(row pgx.CollectableRow) (u contextgc.Usage, err error) {
	err = row.Scan(&u.Subject, &u.Session, &u.API, &u.Model, &u.Calls, &u.Input, &u.Read, &u.Written, &u.Output, &u.Before, &u.After, &u.Cleared, &u.Updated)
	u.Updated = u.Updated.UTC()
	return u, err
}

// LastUse implements contextgc.Sessions.
func (s *Store) LastUse(ctx context.Context, session string) (last time.Time, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		return q.QueryRow(ctx, `SELECT updated_at FROM mcp_pruner.usage WHERE subject = $1 AND session = $2`, subject.Of(ctx), postgres.Text(session)).Scan(&last)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, fmt.Errorf("look up a session in the database: %w", err)
	}
	return s.db.Here(last).UTC(), nil
}

// AddMark implements contextgc.Sessions.
func (s *Store) AddMark(ctx context.Context, m contextgc.Mark) error {
	err := s.db.Write(ctx, func(ctx context.Context, q postgres.Querier) error {
		owner, session := ownerOf(ctx, m.Subject), postgres.Text(m.Session)
		if m.Kind == contextgc.Compacted {
			if _, err := q.Exec(ctx, `UPDATE mcp_pruner.segments SET tier = 'stashed' WHERE subject = $1 AND session = $2 AND tier = 'working' AND NOT pinned`, owner, session); err != nil {
				return err
			}
		}
		_, err := q.Exec(ctx, `INSERT INTO mcp_pruner.marks (subject, session, project, kind, detail, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
			owner, session, postgres.Text(m.Project), m.Kind, postgres.Text(m.Detail), s.now())
		return err
	})
	if err != nil {
		return fmt.Errorf("a mark into the database: %w", err)
	}
	return nil
}

// Marks implements contextgc.Sessions.
func (s *Store) Marks(ctx context.Context, kind string) (list []contextgc.Mark, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		rows, err := q.Query(ctx, `SELECT subject, session, project, kind, detail FROM mcp_pruner.marks WHERE kind = $1 ORDER BY seq`, kind)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[contextgc.Mark])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list marks of the database: %w", err)
	}
	return list, nil
}
