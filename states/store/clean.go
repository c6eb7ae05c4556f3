package store

import (
	"context"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Size implements contextgc.Ledger. In a database it counts the context's subject.
func (l *Ledger) Size(ctx context.Context) (size contextgc.Size, err error) {
	err = l.read(ctx, func(ctx context.Context, q querier) error {
		me := mine(ctx, q)
		if _, err := first(ctx, q, []any{&size.Segments, &size.Pinned, &size.Sessions, &size.Oldest},
			`SELECT COUNT(*), COUNT(*) FILTER (WHERE pinned), COUNT(DISTINCT NULLIF(session, '')), MIN(created_at) FROM mcp_pruner.segments WHERE subject = $1`, me); err != nil {
			return err
		}
		size.Bytes, err = bytesOf(ctx, q, me)
		return err
	})
	return size, l.failed(err, "measure the ledger", "measure the database")
}

// bytesOf returns the size of an owner's texts in a database, or that of a file without its unused pages.
func bytesOf(ctx context.Context, q querier, of owner) (n int64, err error) {
	statement := `SELECT (pages.page_count - unused.freelist_count) * page.page_size
		FROM pragma_page_count pages, pragma_freelist_count unused, pragma_page_size page`
	if q.shared() {
		statement = `SELECT COALESCE(SUM(bytes), 0)::bigint FROM mcp_pruner.texts WHERE subject = $1`
	}
	_, err = first(ctx, q, []any{&n}, statement, of)
	return n, err
}

// Clean implements contextgc.Ledger. In a database the age limits the sessions of all subjects, and the size each subject's texts.
func (l *Ledger) Clean(ctx context.Context, limits contextgc.Limits) (removed int, err error) {
	if l.db != nil {
		if err = l.db.measure(ctx); err != nil {
			return 0, l.failed(err, "", "clean the database")
		}
	}
	now := l.now()
	if limits.Age > 0 {
		before := now.Add(-limits.Age)
		if removed, err = l.removeBatches(ctx, before, nil, 0); err == nil {
			err = l.forget(ctx, before)
		}
	}
	if err == nil && limits.Bytes > 0 {
		var large []owner
		large, err = l.largerThan(ctx, limits.Bytes)
		for i := 0; i < len(large) && err == nil; i++ {
			var n int
			n, err = l.removeBatches(ctx, now.Add(-contextgc.InUse), &large[i], limits.Bytes)
			removed += n
		}
	}
	return removed, l.failed(err, "clean the ledger", "clean the database")
}

// largerThan returns the owners of so many bytes.
func (l *Ledger) largerThan(ctx context.Context, bytes int64) (owners []owner, err error) {
	if l.db == nil {
		return []owner{""}, nil
	}
	return readAll(ctx, l, column[owner], `SELECT subject FROM mcp_pruner.texts GROUP BY subject HAVING SUM(bytes) > $1`, bytes)
}

// batchOf is the number of segments removed at once: others wait for that long at most.
const batchOf = 200

// removeBatches removes segments of sessions last used before a time, those of the earliest session first: all of them, or, of one
// owner, as long as there are more than so many bytes. A segment without a session is one of its own.
func (l *Ledger) removeBatches(ctx context.Context, before time.Time, of *owner, bytes int64) (removed int, err error) {
	for {
		var batch []int64
		if err = l.read(ctx, func(ctx context.Context, q querier) error {
			batch, err = unused(ctx, q, before, of, bytes)
			return err
		}); err != nil || len(batch) == 0 {
			return removed, err
		}
		var n int
		if err = l.write(ctx, func(ctx context.Context, q querier) error {
			n, err = dropAll(ctx, q, `seq = ANY($1)`, batch)
			return err
		}); err != nil {
			return removed, err
		}
		removed += n
	}
}

// unused returns the numbers of the segments that are to be removed next.
func unused(ctx context.Context, q querier, before time.Time, of *owner, bytes int64) ([]int64, error) {
	var whose any // NULL: everybody's
	if of != nil {
		whose = *of
		if n, err := bytesOf(ctx, q, *of); err != nil || n <= bytes {
			return nil, err
		}
	}
	return collect(ctx, q, column[int64], `
		WITH latest AS (SELECT subject, session, MAX(touched_at) AS used FROM mcp_pruner.segments
			WHERE session != '' AND ($3::text IS NULL OR subject = $3) GROUP BY subject, session)
		SELECT s.seq FROM mcp_pruner.segments s LEFT JOIN latest l ON l.subject = s.subject AND l.session = s.session
		WHERE NOT s.pinned AND ($3::text IS NULL OR s.subject = $3) AND COALESCE(l.used, s.touched_at) < $1
		ORDER BY COALESCE(l.used, s.touched_at), s.seq LIMIT $2`, before, batchOf, whose)
}

// forget removes what is known of sessions besides their segments.
func (l *Ledger) forget(ctx context.Context, before time.Time) error {
	return l.write(ctx, func(ctx context.Context, q querier) error {
		for _, statement := range []string{`DELETE FROM mcp_pruner.usage WHERE updated_at < $1`, `DELETE FROM mcp_pruner.marks WHERE created_at < $1`,
			`DELETE FROM mcp_pruner.places WHERE created_at < $1`} {
			if _, err := q.exec(ctx, statement, before); err != nil {
				return err
			}
		}
		return nil
	})
}
