package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// maxWaiting bounds the bytes of lines that wait while the database is away.
const maxWaiting = 16 << 20

// errBehind says that a process wrote more lines than it can keep for a database that is away.
var errBehind = errors.New("the database was away for too long: it gets no more lines of this process, whose file has all of them")

// Traces keeps in a database what one process writes into its trace, and the heads of its chain. It implements [trace.Copy].
type Traces struct {
	db      *DB
	waiting []batch
	bytes   int
	behind  bool // batches are missing: more would look like a trace from which lines were taken out
}

type batch struct {
	head  trace.Head
	lines []byte
}

// TracesIn returns the traces in a database, which Close closes.
func TracesIn(db *DB) *Traces { return &Traces{db: db} }

// Add stores the lines of a batch with the head after them, and before them the batches that could not be stored.
func (c *Traces) Add(h trace.Head, lines []byte) error {
	if c.behind {
		return nil // which was reported
	}
	c.waiting = append(c.waiting, batch{h, append([]byte{}, lines...)})
	c.bytes += len(lines)
	err := c.db.write(context.Background(), c.store)
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

func (c *Traces) store(ctx context.Context, q querier) error {
	for _, b := range c.waiting {
		if _, err := q.exec(ctx, `INSERT INTO mcp_pruner.traces (writer, seq, final, link, key, lines) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (writer, seq, final) DO NOTHING`,
			b.head.Writer, int64(b.head.Seq), b.head.Final, b.head.Link, b.head.Key, b.lines); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the database.
func (c *Traces) Close() error { return c.db.Close() }

// pageRows is the number of batches that are read at once.
const pageRows = 200

// ReadTraces writes the lines of all processes, in the order in which they arrived, to one writer and the heads, as JSON lines, to
// another one.
func ReadTraces(ctx context.Context, db *DB, lines, heads io.Writer) error {
	encoder := json.NewEncoder(heads)
	last := int64(0)
	for more := true; more; {
		more = false
		err := db.read(ctx, func(ctx context.Context, q querier) error {
			return q.each(ctx, func(r row) error {
				var h trace.Head
				var seq int64
				var text []byte
				if err := r(&last, &h.Writer, &seq, &h.Final, &h.Link, &h.Key, &text); err != nil {
					return err
				}
				h.Seq, more = uint64(seq), true
				if _, err := lines.Write(text); err != nil {
					return err
				}
				return encoder.Encode(h)
			}, `SELECT id, writer, seq, final, link, key, lines FROM mcp_pruner.traces WHERE id > $1 ORDER BY id LIMIT $2`, last, pageRows)
		})
		if err != nil {
			return fmt.Errorf("read the traces of the database: %w", err)
		}
	}
	return nil
}
