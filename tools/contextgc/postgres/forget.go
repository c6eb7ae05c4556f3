package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// Forget implements contextgc.Ledger. With All the originals of pruned outputs go, too: they belong to no session.
func (s *Store) Forget(ctx context.Context, what contextgc.Forgotten) (removed int, err error) {
	owner := subject.Of(ctx)
	project, session := postgres.Text(what.Project), postgres.Text(what.Session)
	err = s.db.Write(ctx, func(ctx context.Context, q postgres.Querier) error {
		rows, err := q.Query(ctx, `DELETE FROM mcp_pruner.segments WHERE subject = $1 AND (($2 != '' AND project = $2) OR ($3 != '' AND session = $3) OR $4)
			RETURNING hash, key`, owner, project, session, what.All)
		if err != nil {
			return err
		}
		var hashes, keys [][]byte
		var hash, key []byte
		if _, err = pgx.ForEachRow(rows, []any{&hash, &key}, func() error {
			hashes, keys = append(hashes, hash), append(keys, key)
			return nil
		}); err != nil {
			return err
		}
		removed = len(hashes)
		if _, err := q.Exec(ctx, `DELETE FROM mcp_pruner.clearings WHERE item = ANY($1)`, keys); err != nil {
			return err
		}
		if err := dropShown(ctx, q, owner, hashes); err != nil {
			return err
		}
		return forgetRest(ctx, q, owner, project, session, what.All)
	})
	if err != nil {
		return 0, fmt.Errorf("forget in the database: %w", err)
	}
	return removed, nil
}

// forgetRest removes what is known of sessions and projects besides their segments.
func forgetRest(ctx context.Context, q postgres.Querier, owner, project, session string, all bool) error {
	for _, d := range []struct {
		statement string
		args      []any
	}{
		{`DELETE FROM mcp_pruner.usage WHERE subject = $1 AND (session = NULLIF($2, '') OR $3)`, []any{owner, session, all}},
		{`DELETE FROM mcp_pruner.marks WHERE subject = $1 AND (session = NULLIF($2, '') OR project = NULLIF($3, '') OR $4)`, []any{owner, session, project, all}},
		{`DELETE FROM mcp_pruner.projects WHERE subject = $1 AND (project = NULLIF($2, '') OR $3)`, []any{owner, project, all}},
		{`DELETE FROM mcp_pruner.clearings WHERE subject = $1 AND $2`, []any{owner, all}},
		{`DELETE FROM mcp_pruner.originals WHERE subject = $1 AND $2`, []any{owner, all}},
		{postgres.DropAllTexts, []any{owner, all}},
	} {
		if _, err := q.Exec(ctx, d.statement, d.args...); err != nil {
			return err
		}
	}
	return nil
}
