package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Size implements contextgc.Ledger.
func (s *Store) Size(ctx context.Context) (contextgc.Size, error) {
	var size contextgc.Size
	var oldest sql.NullInt64
	err := s.file.DB().QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(pinned), 0), COUNT(DISTINCT NULLIF(session, '')), MIN(created) FROM segments`).
		Scan(&size.Segments, &size.Pinned, &size.Sessions, &oldest)
	if err == nil {
		size.Bytes, err = s.bytes(ctx)
	}
	if err != nil {
		return contextgc.Size{}, fmt.Errorf("measure the ledger: %w", err)
	}
	if oldest.Valid {
		size.Oldest = fromMicro(oldest.Int64)
	}
	return size, nil
}

func (s *Store) bytes(ctx context.Context) (n int64, err error) {
	err = s.file.DB().QueryRowContext(ctx, `SELECT (pages.page_count - unused.freelist_count) * page.page_size
		FROM pragma_page_count pages, pragma_freelist_count unused, pragma_page_size page`).Scan(&n)
	return n, err
}

// Clean implements contextgc.Ledger.
func (s *Store) Clean(ctx context.Context, l contextgc.Limits) (removed int, err error) {
	now := s.settings.Now()
	if l.Age > 0 {
		before := now.Add(-l.Age)
		n, err := s.removeBatches(ctx, before, func() (bool, error) { return true, nil })
		removed += n
		if err == nil {
			err = s.forget(ctx, before)
		}
		if err != nil {
			return removed, fmt.Errorf("clean the ledger: %w", err)
		}
	}
	if l.Bytes <= 0 {
		return removed, nil
	}
	n, err := s.removeBatches(ctx, now.Add(-contextgc.InUse), func() (bool, error) {
		size, err := s.bytes(ctx)
		return size > l.Bytes, err
	})
	if err != nil {
		return removed + n, fmt.Errorf("clean the ledger: %w", err)
	}
	return removed + n, nil
}

// removeBatches removes segments of sessions last used before a time, earliest first, while more says so.
func (s *Store) removeBatches(ctx context.Context, before time.Time, more func() (bool, error)) (removed int, err error) {
	for {
		if on, err := more(); err != nil || !on {
			return removed, err
		}
		batch, err := s.unused(ctx, before)
		if err != nil || len(batch) == 0 {
			return removed, err
		}
		err = s.write(ctx, func(tx *sql.Tx) error {
			for _, old := range batch {
				if err := old.remove(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return removed, err
		}
		removed += len(batch)
	}
}

// oldSegment is a segment that is to be removed.
type oldSegment struct {
	seq       int64
	key, hash []byte
}

// batchOf is the number of segments removed at once: other processes wait for that long at most.
const batchOf = 200

// unused returns segments of sessions last used before a time, those of the earliest session first. A segment
// without a session is one of its own.
func (s *Store) unused(ctx context.Context, before time.Time) (batch []oldSegment, err error) {
	rows, err := s.file.DB().QueryContext(ctx, `
		WITH latest AS (SELECT session, MAX(touched) AS used FROM segments WHERE session != '' GROUP BY session)
		SELECT seq, key, hash FROM segments LEFT JOIN latest USING (session)
		WHERE NOT pinned AND COALESCE(used, touched) < ? ORDER BY COALESCE(used, touched), seq LIMIT ?`, before.UnixMicro(), batchOf)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var old oldSegment
		if err := rows.Scan(&old.seq, &old.key, &old.hash); err != nil {
			return nil, err
		}
		batch = append(batch, old)
	}
	return batch, rows.Err()
}

// remove removes a segment with its clearings, whose stubs would name nothing.
func (o oldSegment) remove(tx *sql.Tx) error {
	if _, err := tx.Exec(`DELETE FROM clearings WHERE item = ?`, o.key); err != nil {
		return err
	}
	return remove(tx, o.seq, o.hash)
}

// forget removes what is known of sessions besides their segments.
func (s *Store) forget(ctx context.Context, before time.Time) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		for _, q := range []string{`DELETE FROM usage WHERE updated < ?`, `DELETE FROM marks WHERE created < ?`, `DELETE FROM places WHERE created < ?`} {
			if _, err := tx.Exec(q, before.UnixMicro()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Shrink gives the file's unused pages back to the system. It needs as much free space as the ledger has
// content.
func (s *Store) Shrink(ctx context.Context) error {
	if _, err := s.file.DB().ExecContext(ctx, `VACUUM`); err != nil {
		return fmt.Errorf("shrink the ledger: %w", err)
	}
	return nil
}
