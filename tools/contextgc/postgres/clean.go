package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// Size implements contextgc.Ledger. It counts the context's subject; Bytes are those of its texts.
func (s *Store) Size(ctx context.Context) (size contextgc.Size, err error) {
	var oldest *time.Time
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		return q.QueryRow(ctx, `SELECT COUNT(*), COUNT(*) FILTER (WHERE pinned), COUNT(DISTINCT NULLIF(session, '')), MIN(created_at),
			(SELECT COALESCE(SUM(t.bytes), 0)::bigint FROM mcp_pruner.texts t WHERE t.subject = $1) FROM mcp_pruner.segments WHERE subject = $1`, subject.Of(ctx)).
			Scan(&size.Segments, &size.Pinned, &size.Sessions, &oldest, &size.Bytes)
	})
	if err != nil {
		return contextgc.Size{}, fmt.Errorf("measure the database: %w", err)
	}
	if oldest != nil {
		size.Oldest = oldest.UTC()
	}
	return size, nil
}

// Clean implements contextgc.Ledger. The age limits the sessions of all subjects, and the size each subject's texts.
func (s *Store) Clean(ctx context.Context, l contextgc.Limits) (removed int, err error) {
	now := s.now()
	if l.Age > 0 {
		before := now.Add(-l.Age)
		if removed, err = s.removeBatches(ctx, before, nil); err == nil {
			err = s.forget(ctx, before)
		}
	}
	if err == nil && l.Bytes > 0 {
		var large []string
		if large, err = s.largerThan(ctx, l.Bytes); err == nil {
			for _, owner := range large {
				n, failed := s.removeBatches(ctx, now.Add(-contextgc.InUse), &limit{owner, l.Bytes})
				removed += n
				if failed != nil {
					err = failed
					break
				}
			}
		}
	}
	if err != nil {
		return removed, fmt.Errorf("clean the database: %w", err)
	}
	return removed, nil
}

// limit bounds the texts of a subject.
type limit struct {
	owner string
	bytes int64
}

func (s *Store) largerThan(ctx context.Context, bytes int64) (owners []string, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		rows, err := q.Query(ctx, `SELECT subject FROM mcp_pruner.texts GROUP BY subject HAVING SUM(bytes) > $1`, bytes)
		if err == nil {
			owners, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return owners, err
}

// batchOf is the number of segments removed at once: others wait for that long at most.
const batchOf = 200

// removeBatches removes segments of sessions last used before a time, those of the earliest session first: all of them, or
// as long as a subject is above its limit. A segment without a session is one of its own.
func (s *Store) removeBatches(ctx context.Context, before time.Time, l *limit) (removed int, err error) {
	for {
		var n int
		err := s.db.Write(ctx, func(ctx context.Context, q postgres.Querier) error {
			n = 0
			if l != nil {
				var bytes int64
				if err := q.QueryRow(ctx, `SELECT COALESCE(SUM(bytes), 0)::bigint FROM mcp_pruner.texts WHERE subject = $1`, l.owner).Scan(&bytes); err != nil || bytes <= l.bytes {
					return err
				}
			}
			n, err = removeBatch(ctx, q, before, l)
			return err
		})
		removed += n
		if err != nil || n == 0 {
			return removed, err
		}
	}
}

// removeBatch removes segments with their clearings, whose stubs would name nothing, and the ids that were shown for them.
func removeBatch(ctx context.Context, q postgres.Querier, before time.Time, l *limit) (n int, err error) {
	var owner *string
	if l != nil {
		owner = &l.owner
	}
	rows, err := q.Query(ctx, `
		WITH latest AS (SELECT subject, session, MAX(touched_at) AS used FROM mcp_pruner.segments
			WHERE session != '' AND ($3::text IS NULL OR subject = $3) GROUP BY subject, session),
		old AS (SELECT s.seq FROM mcp_pruner.segments s LEFT JOIN latest l ON l.subject = s.subject AND l.session = s.session
			WHERE NOT s.pinned AND ($3::text IS NULL OR s.subject = $3) AND COALESCE(l.used, s.touched_at) < $1
			ORDER BY COALESCE(l.used, s.touched_at), s.seq LIMIT $2)
		DELETE FROM mcp_pruner.segments WHERE seq IN (SELECT seq FROM old) RETURNING subject, hash, key`, before, batchOf, owner)
	if err != nil {
		return 0, err
	}
	texts, keys := make(map[string][][]byte), [][]byte{}
	var of string
	var hash, key []byte
	if _, err = pgx.ForEachRow(rows, []any{&of, &hash, &key}, func() error {
		n++
		texts[of] = append(texts[of], hash)
		if key != nil {
			keys = append(keys, key)
		}
		return nil
	}); err != nil {
		return 0, err
	}
	if _, err := q.Exec(ctx, `DELETE FROM mcp_pruner.clearings WHERE item = ANY($1)`, keys); err != nil {
		return 0, err
	}
	for of, hashes := range texts {
		if err := dropShown(ctx, q, of, hashes); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// dropShown removes texts that no segment has any more, with the ids that a proxy showed for them.
func dropShown(ctx context.Context, q postgres.Querier, owner string, hashes [][]byte) error {
	if _, err := q.Exec(ctx, `DELETE FROM mcp_pruner.originals o WHERE o.subject = $1 AND o.hash = ANY($2) AND o.expires_at IS NULL
		AND NOT EXISTS (SELECT 1 FROM mcp_pruner.segments s WHERE s.subject = o.subject AND s.hash = o.hash)`, owner, hashes); err != nil {
		return err
	}
	_, err := q.Exec(ctx, postgres.DropTexts, owner, hashes)
	return err
}

// forget removes what is known of sessions besides their segments.
func (s *Store) forget(ctx context.Context, before time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, q postgres.Querier) error {
		for _, statement := range []string{`DELETE FROM mcp_pruner.usage WHERE updated_at < $1`, `DELETE FROM mcp_pruner.marks WHERE created_at < $1`,
			`DELETE FROM mcp_pruner.places WHERE created_at < $1`} {
			if _, err := q.Exec(ctx, statement, before); err != nil {
				return err
			}
		}
		return nil
	})
}
