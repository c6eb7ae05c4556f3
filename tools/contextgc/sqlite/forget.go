package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Forget implements contextgc.Ledger.
func (s *Store) Forget(ctx context.Context, what contextgc.Forgotten) (removed int, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		removed = 0
		list, err := segmentsOf(ctx, tx, what)
		if err != nil {
			return err
		}
		for _, old := range list {
			if err := old.remove(tx); err != nil {
				return err
			}
		}
		removed = len(list)
		for _, q := range []string{`DELETE FROM usage WHERE ?2 = session OR ?3`, `DELETE FROM marks WHERE ?1 = project OR ?2 = session OR ?3`,
			`DELETE FROM projects WHERE ?1 = project OR ?3`} {
			if _, err := tx.Exec(q, sql.NullString{String: what.Project, Valid: what.Project != ""}, sql.NullString{String: what.Session, Valid: what.Session != ""}, what.All); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("forget: %w", err)
	}
	return removed, nil
}

func segmentsOf(ctx context.Context, tx *sql.Tx, what contextgc.Forgotten) (list []oldSegment, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT seq, key, hash FROM segments WHERE (?1 != '' AND project = ?1) OR (?2 != '' AND session = ?2) OR ?3`, what.Project, what.Session, what.All)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var old oldSegment
		if err := rows.Scan(&old.seq, &old.key, &old.hash); err != nil {
			return nil, err
		}
		list = append(list, old)
	}
	return list, rows.Err()
}
