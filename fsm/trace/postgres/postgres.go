// Package postgres keeps the lines of traces, and the heads of their chains, in the database that replicas share.
package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
)

// maxWaiting bounds the bytes of lines that wait while the database is away.
const maxWaiting = 16 << 20

// errBehind says that a process wrote more lines than it can keep for a database that is away.
var errBehind = errors.New("the database was away for too long: it gets no more lines of this process, whose file has all of them")

// Copy keeps what one process writes into its trace. It implements [trace.Copy].
type Copy struct {
	db      *postgres.DB
	waiting []batch
	bytes   int
	behind  bool // batches are missing: more would look like a trace from which lines were taken out
}

type batch struct {
	head  trace.Head
	lines []byte
}

// In returns a copy in a database, which Close closes.
func In(db *postgres.DB) *Copy { return &Copy{db: db} }

// Add stores the lines of a batch with the head after them, and before them the batches that could not be stored.
func (c *Copy) Add(h trace.Head, lines []byte) error {
	if c.behind {
		return nil // which was reported
	}
	c.waiting = append(c.waiting, batch{h, append([]byte{}, lines...)})
	c.bytes += len(lines)
	err := c.db.Write(context.Background(), c.store)
	switch {
	case err == nil:
		c.waiting, c.bytes = nil, 0
	case c.bytes > maxWaiting:
		c.waiting, c.bytes, c.behind = nil, 0, true
		return errors.Join(errBehind, err)
	default:
		return fmt.Errorf("store lines of the trace: %w", err)
	}
	return nil
}

func (c *Copy) store(ctx context.Context, q postgres.Querier) error {
	for _, b := range c.waiting {
		if _, err := q.Exec(ctx, `INSERT INTO mcp_pruner.traces (writer, seq, final, link, key, lines) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (writer, seq, final) DO NOTHING`,
			b.head.Writer, int64(b.head.Seq), b.head.Final, b.head.Link, b.head.Key, b.lines); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the database.
func (c *Copy) Close() error { return c.db.Close() }

// pageRows is the number of batches that are read at once.
const pageRows = 200

// Read writes the lines of all processes, in the order in which they arrived, to one writer and the heads, as JSON lines, to
// another one.
func Read(ctx context.Context, db *postgres.DB, lines, heads io.Writer) error {
	encoder := json.NewEncoder(heads)
	last := int64(0)
	for more := true; more; {
		more = false
		err := db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
			rows, err := q.Query(ctx, `SELECT id, writer, seq, final, link, key, lines FROM mcp_pruner.traces WHERE id > $1 ORDER BY id LIMIT $2`, last, pageRows)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var h trace.Head
				var seq int64
				var text []byte
				if err := rows.Scan(&last, &h.Writer, &seq, &h.Final, &h.Link, &h.Key, &text); err != nil {
					return err
				}
				h.Seq, more = uint64(seq), true
				if _, err := lines.Write(text); err != nil {
					return err
				}
				if err := encoder.Encode(h); err != nil {
					return err
				}
			}
			return rows.Err()
		})
		if err != nil {
			return fmt.Errorf("read the traces of the database: %w", err)
		}
	}
	return nil
}
