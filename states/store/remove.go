package store

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// removed is a segment that was removed.
type removed struct {
	owner     owner
	hash, key []byte
}

// dropSegments removes the segments for which a condition holds, with their words.
func dropSegments(ctx context.Context, q querier, condition string, args ...any) (all []removed, err error) {
	var seqs []int64
	all, err = collect(ctx, q, func(r row) (one removed, err error) {
		var seq int64
		err = r(&seq, &one.owner, &one.hash, &one.key)
		seqs = append(seqs, seq)
		return one, err
	}, `DELETE FROM mcp_pruner.segments WHERE `+condition+` RETURNING seq, subject, hash, key`, args...)
	if err == nil && !q.shared() { // a database does so by itself
		_, err = q.exec(ctx, `DELETE FROM words WHERE rowid = ANY($1)`, seqs)
	}
	return all, err
}

// dropAll removes the segments for which a condition holds, with their texts, their clearings, whose stubs would name nothing, and
// the ids that were shown for them. It returns the number of segments.
func dropAll(ctx context.Context, q querier, condition string, args ...any) (n int, err error) {
	all, err := dropSegments(ctx, q, condition, args...)
	if err != nil {
		return 0, err
	}
	texts, keys := make(map[owner][][]byte), [][]byte{}
	for _, one := range all {
		texts[one.owner] = append(texts[one.owner], one.hash)
		if one.key != nil {
			keys = append(keys, one.key)
		}
	}
	if _, err := q.exec(ctx, `DELETE FROM mcp_pruner.clearings WHERE item = ANY($1)`, keys); err != nil {
		return 0, err
	}
	for of, hashes := range texts {
		if q.shared() {
			if _, err := q.exec(ctx, `DELETE FROM mcp_pruner.originals o WHERE o.subject = $1 AND o.hash = ANY($2) AND o.expires_at IS NULL
				AND NOT EXISTS (SELECT 1 FROM mcp_pruner.segments s WHERE s.subject = o.subject AND s.hash = o.hash)`, of, hashes); err != nil {
				return 0, err
			}
		}
		if err := dropTexts(ctx, q, of, hashes); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// Forget implements contextgc.Ledger. With All the originals of pruned outputs in a database go, too: they belong to no session.
func (l *Ledger) Forget(ctx context.Context, what contextgc.Forgotten) (n int, err error) {
	err = l.write(ctx, func(ctx context.Context, q querier) error {
		n, err = dropAll(ctx, q, `subject = $1 AND (($2 != '' AND project = $2) OR ($3 != '' AND session = $3) OR $4)`,
			mine(ctx, q), what.Project, what.Session, what.All)
		if err != nil {
			return err
		}
		return forgetRest(ctx, q, what)
	})
	return n, l.failed(err, "forget", "forget in the database")
}

// forgetRest removes what is known of sessions and projects besides their segments.
func forgetRest(ctx context.Context, q querier, what contextgc.Forgotten) error {
	me := mine(ctx, q)
	for _, d := range []struct {
		statement string
		args      []any
	}{
		{`DELETE FROM mcp_pruner.usage WHERE subject = $1 AND (session = NULLIF($2, '') OR $3)`, []any{me, what.Session, what.All}},
		{`DELETE FROM mcp_pruner.marks WHERE subject = $1 AND (session = NULLIF($2, '') OR project = NULLIF($3, '') OR $4)`, []any{me, what.Session, what.Project, what.All}},
		{`DELETE FROM mcp_pruner.projects WHERE subject = $1 AND (project = NULLIF($2, '') OR $3)`, []any{me, what.Project, what.All}},
	} {
		if _, err := q.exec(ctx, d.statement, d.args...); err != nil {
			return err
		}
	}
	if !q.shared() {
		return nil
	}
	for _, table := range []string{"clearings", "originals", "texts"} {
		if _, err := q.exec(ctx, `DELETE FROM mcp_pruner.`+table+` WHERE subject = $1 AND $2`, me, what.All); err != nil {
			return err
		}
	}
	return nil
}
