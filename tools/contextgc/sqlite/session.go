package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
)

// ReadSession returns what was cleared in a session, in order, and its usage, from the ledger in a file, which it neither creates
// nor changes. Without such a file or such a session there is nothing.
func ReadSession(ctx context.Context, file, session string) (list []contextgc.Cleared, u contextgc.Usage, err error) {
	err = sqlfile.Read(file, readPatience, func(db *sql.DB) (err error) {
		if list, err = readCleared(ctx, db, session); err != nil {
			return err
		}
		u, err = scanUsage(db.QueryRowContext(ctx, `SELECT `+usageColumns+` FROM usage WHERE session = ?`, session))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, u, nil
	}
	if err != nil {
		return nil, u, fmt.Errorf("read the ledger %s: %w", file, err)
	}
	return list, u, nil
}

func readCleared(ctx context.Context, db *sql.DB, session string) (list []contextgc.Cleared, err error) {
	reason := "'', 0"
	if has, err := sqlfile.HasColumn(ctx, db, "decisions", "why"); err != nil {
		return nil, err
	} else if has {
		reason = "d.why, d.pays"
	}
	rows, err := db.QueryContext(ctx, `SELECT s.tool, s.path, c.stub, s.hash, c.tokens, c.created, `+reason+`
		FROM clearings c JOIN segments s ON s.key = c.item JOIN decisions d ON d.since = c.since WHERE s.session = ? ORDER BY c.seq`, session)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c contextgc.Cleared
		var hash []byte
		var at int64
		if err := rows.Scan(&c.Tool, &c.Path, &c.Stub, &hash, &c.Tokens, &at, &c.Why, &c.Pays); err != nil {
			return nil, err
		}
		copy(c.Hash[:], hash)
		c.At = fromMicro(at)
		list = append(list, c)
	}
	return list, rows.Err()
}
