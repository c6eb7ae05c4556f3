package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
)

// Cleared is a result that was cleared in a session.
type Cleared struct {
	Segment, Tool, Path, Stub string
	Hash                      [sha256.Size]byte // of the result's text
	Since                     [32]byte          // of the decision; those of one decision were cleared together
	Tokens                    int
	Free                      bool
	At                        time.Time
	Why                       string // what the planner said to the decision; "": a ledger of an earlier version has no reasons
	Pays                      int    // calls after which the decision has paid
}

// ReadSession returns what was cleared in a session, in order, and its usage, from the ledger in a file, which it neither creates
// nor changes. Without such a file or such a session there is nothing.
func ReadSession(ctx context.Context, file, session string) (list []Cleared, u contextgc.Usage, err error) {
	err = sqlfile.Read(file, readPatience, func(db *sql.DB) (err error) {
		if list, err = readCleared(ctx, db, session); err != nil {
			return err
		}
		err = db.QueryRowContext(ctx, `SELECT calls, before, after, cleared FROM usage WHERE session = ?`, session).Scan(&u.Calls, &u.Before, &u.After, &u.Cleared)
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

func readCleared(ctx context.Context, db *sql.DB, session string) (list []Cleared, err error) {
	reason := "'', 0"
	if has, err := sqlfile.HasColumn(ctx, db, "decisions", "why"); err != nil {
		return nil, err
	} else if has {
		reason = "d.why, d.pays"
	}
	rows, err := db.QueryContext(ctx, `SELECT c.segment, s.tool, s.path, c.stub, s.hash, c.since, c.tokens, c.free, c.created, `+reason+`
		FROM clearings c JOIN segments s ON s.key = c.item JOIN decisions d ON d.since = c.since WHERE s.session = ? ORDER BY c.seq`, session)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c Cleared
		var hash, since []byte
		var at int64
		if err := rows.Scan(&c.Segment, &c.Tool, &c.Path, &c.Stub, &hash, &since, &c.Tokens, &c.Free, &at, &c.Why, &c.Pays); err != nil {
			return nil, err
		}
		copy(c.Hash[:], hash)
		copy(c.Since[:], since)
		c.At = fromMicro(at)
		list = append(list, c)
	}
	return list, rows.Err()
}
