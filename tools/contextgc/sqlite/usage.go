package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
)

// AddUsage adds one call to its session's usage. Before, After and Cleared are totals of
// the session and are not added up.
func (s *Store) AddUsage(ctx context.Context, u contextgc.Usage) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO usage (session, api, model, calls, input, read, written, output, before, after, cleared, updated)
			VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session) DO UPDATE SET
			model = excluded.model, calls = calls + 1, input = input + excluded.input, read = read + excluded.read,
			written = written + excluded.written, output = output + excluded.output, before = max(before, excluded.before),
			after = CASE WHEN excluded.before >= before THEN excluded.after ELSE after END,
			cleared = max(cleared, excluded.cleared), updated = excluded.updated`,
			u.Session, u.API, u.Model, u.Input, u.Read, u.Written, u.Output, u.Before, u.After, u.Cleared,
			s.settings.Now().UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("store usage: %w", err)
	}
	return nil
}

// Usages returns the usage of every session, latest first.
func (s *Store) Usages(ctx context.Context) ([]contextgc.Usage, error) {
	return readUsages(ctx, s.file.DB())
}

// ReadUsages is Usages of the ledger in a file, which it neither creates nor changes.
func ReadUsages(ctx context.Context, file string) (list []contextgc.Usage, err error) {
	err = sqlfile.Read(file, readPatience, func(db *sql.DB) (err error) {
		list, err = readUsages(ctx, db)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the ledger %s: %w", file, err)
	}
	return list, nil
}

func readUsages(ctx context.Context, db *sql.DB) ([]contextgc.Usage, error) {
	rows, err := db.QueryContext(ctx, `SELECT `+usageColumns+` FROM usage ORDER BY updated DESC`)
	if err != nil {
		return nil, fmt.Errorf("list usage: %w", err)
	}
	defer func() { _ = rows.Close() }()
	list := []contextgc.Usage{}
	for rows.Next() {
		u, err := scanUsage(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, u)
	}
	return list, rows.Err()
}

const usageColumns = `session, api, model, calls, input, read, written, output, before, after, cleared, updated`

func scanUsage(row interface{ Scan(...any) error }) (u contextgc.Usage, err error) {
	var updated int64
	if err := row.Scan(&u.Session, &u.API, &u.Model, &u.Calls, &u.Input, &u.Read, &u.Written, &u.Output, &u.Before, &u.After, &u.Cleared, &updated); err != nil {
		return contextgc.Usage{}, err
	}
	u.Updated = fromMicro(updated)
	return u, nil
}

// LastUse returns when a session's usage was last added to; zero: never.
func (s *Store) LastUse(ctx context.Context, session string) (time.Time, error) {
	var updated int64
	err := s.file.DB().QueryRowContext(ctx, `SELECT updated FROM usage WHERE session = ?`, session).Scan(&updated)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, fmt.Errorf("look up a session's last use: %w", err)
	}
	return fromMicro(updated), nil
}

// AddMark stores a mark. If a session was compacted, its working segments become stashed,
// because they are no longer in the context.
func (s *Store) AddMark(ctx context.Context, m contextgc.Mark) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		if m.Kind == contextgc.Compacted {
			if _, err := tx.Exec(`UPDATE segments SET tier = 'stashed' WHERE session = ? AND tier = 'working' AND NOT pinned`, m.Session); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`INSERT INTO marks (session, project, kind, detail, created) VALUES (?, ?, ?, ?, ?)`,
			m.Session, m.Project, m.Kind, m.Detail, s.settings.Now().UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("store a mark: %w", err)
	}
	return nil
}

// Marks implements contextgc.Sessions.
func (s *Store) Marks(ctx context.Context, kind string) (list []contextgc.Mark, err error) {
	rows, err := s.file.DB().QueryContext(ctx, `SELECT session, project, kind, detail FROM marks WHERE kind = ? ORDER BY seq`, kind)
	if err != nil {
		return nil, fmt.Errorf("list marks: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var m contextgc.Mark
		if err := rows.Scan(&m.Session, &m.Project, &m.Kind, &m.Detail); err != nil {
			return nil, fmt.Errorf("list marks: %w", err)
		}
		list = append(list, m)
	}
	return list, rows.Err()
}
