package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// Copying adds ids that were given out before a team had a database, and counts what becomes of them. What is there already
// stays as it is, so that a copy that was interrupted may be repeated. What belonged to the owner of the machine belongs to the
// context's subject afterwards.
type Copying struct {
	DB *postgres.DB

	Added, There int
	Taken        int            // the database has another text under the id
	Damaged      int            // the text is not the one that was stored
	Strangers    map[string]int // by the hash of a subject that is not known: a file has no names
}

// readPatience is the time for which a copy waits for a writer of the file.
const readPatience = 10 * time.Second

// Originals adds those in the file of a recovery store, which it does not change, unless they have expired. Each lives for the
// rest of ttl after it was stored. Subjects are the names of those whose originals stay theirs.
func (c *Copying) Originals(ctx context.Context, file string, ttl time.Duration, subjects []string) error {
	names := map[string]string{"": ""}
	for _, name := range subjects {
		owner, _, _ := strings.Cut(recovery.Item{}.Of(name).ID, "/")
		names[owner] = name
	}
	c.Strangers = make(map[string]int)
	err := sqlfile.Read(file, readPatience, func(from *sql.DB) error {
		rows, err := from.QueryContext(ctx, `SELECT i.id, i.hash, i.created_ms, t.body FROM items i JOIN texts t USING (hash) ORDER BY i.seq`)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var id string
			var hash, body []byte
			var created int64
			if err := rows.Scan(&id, &hash, &created, &body); err != nil {
				return err
			}
			left := ttl - time.Since(time.UnixMilli(created))
			if left <= 0 {
				continue
			}
			if err := c.original(ctx, names, id, hash, body, min(left, ttl)); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err != nil {
		return fmt.Errorf("copy the originals %s: %w", file, err)
	}
	return nil
}

// original adds one as a file has it, see recovery.Item.
func (c *Copying) original(ctx context.Context, names map[string]string, id string, hash, body []byte, left time.Duration) error {
	hashed, bare, found := strings.Cut(id, "/")
	if !found {
		hashed, bare = "", id
	}
	name, known := names[hashed]
	if !known {
		c.Strangers[hashed]++
		return nil
	}
	sum := sha256.Sum256(body)
	if is := (recovery.Item{Hash: sum}).Of(name).Hash; !bytes.Equal(is[:], hash) {
		c.Damaged++
		return nil
	}
	owner := name
	if owner == "" {
		owner = subject.Of(ctx)
	}
	return c.add(ctx, owner, bare, sum, func() (n int64, err error) {
		row := c.DB.RowOf(ctx, owner, sum, string(body))
		return c.exec(ctx, `WITH `+postgres.AddText("$7")+`
			INSERT INTO mcp_pruner.originals (subject, id, hash, expires_at) VALUES ($1, $5, $2, now() + $6 * interval '1 microsecond')`,
			owner, sum[:], int64(len(body)), row.Body, bare, left.Microseconds(), row.Object)
	})
}

// Shown adds ids that a proxy showed for texts which the ledger in the database has. Those of other texts are left out.
func (c *Copying) Shown(ctx context.Context, entries map[string]archive.Entry) error {
	owner := subject.Of(ctx)
	for id, e := range entries {
		sum := e.Sum()
		err := c.add(ctx, owner, id, sum, func() (int64, error) {
			return c.exec(ctx, `INSERT INTO mcp_pruner.originals (subject, id, hash, project, first_line)
				SELECT subject, $2, hash, $4, $5 FROM mcp_pruner.texts WHERE subject = $1 AND hash = $3`, owner, id, sum[:], postgres.Text(e.Project), e.FirstLine())
		})
		if err != nil {
			return fmt.Errorf("copy the ids of originals: %w", err)
		}
	}
	return nil
}

// add adds an id of a subject, unless it is there already.
func (c *Copying) add(ctx context.Context, owner, id string, sum [sha256.Size]byte, insert func() (n int64, err error)) error {
	var there []byte
	err := c.DB.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		return q.QueryRow(ctx, `SELECT hash FROM mcp_pruner.originals WHERE subject = $1 AND id = $2`, owner, id).Scan(&there)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		n, err := insert()
		c.Added += int(n)
		return err
	case err != nil:
		return err
	case bytes.Equal(there, sum[:]):
		c.There++
	default:
		c.Taken++
	}
	return nil
}

func (c *Copying) exec(ctx context.Context, statement string, args ...any) (n int64, err error) {
	err = c.DB.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		tag, err := q.Exec(ctx, statement, args...)
		n = tag.RowsAffected()
		return err
	})
	return n, err
}
