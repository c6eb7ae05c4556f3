package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// ReadSession returns what was cleared in a session of the context's subject, in order, and its usage. Without such a session
// there is nothing. It only reads, so that a replica that takes no writes will do.
func (s *Store) ReadSession(ctx context.Context, session string) (list []contextgc.Cleared, u contextgc.Usage, err error) {
	whose, session := subject.Of(ctx), postgres.Text(session)
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		rows, err := q.Query(ctx, `SELECT s.tool, s.path, c.stub, s.hash, c.tokens, c.created_at, d.why, d.pays
			FROM mcp_pruner.clearings c JOIN mcp_pruner.segments s ON s.subject = c.subject AND s.key = c.item
			JOIN mcp_pruner.decisions d ON d.since = c.since WHERE s.subject = $1 AND s.session = $2 ORDER BY c.seq`, whose, session)
		if err == nil {
			list, err = pgx.CollectRows(rows, scanCleared)
		}
		if err != nil {
			return err
		}
		if rows, err = q.Query(ctx, usages+` AND session = $2`, whose, session); err == nil {
			u, err = pgx.CollectOneRow(rows, scanUsage)
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, contextgc.Usage{}, fmt.Errorf("read a session of the database: %w", err)
	}
	return list, u, nil
}

func scanCleared(row pgx.CollectableRow) (c contextgc.Cleared, err error) {
	var stub, hash []byte
	err = row.Scan(&c.Tool, &c.Path, &stub, &hash, &c.Tokens, &c.At, &c.Why, &c.Pays)
	copy(c.Hash[:], hash)
	c.Stub, c.At = string(stub), c.At.UTC()
	return c, err
}
