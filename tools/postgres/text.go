package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Text returns a text as a column can hold it: with neither NUL nor invalid UTF-8. Texts that have to come back byte for
// byte are stored as bytea.
func Text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// DropTexts is the statement that removes those of a subject's texts that nothing names any more: $1 is the subject, and $2
// the hashes. Their objects are removed by Sweep.
const DropTexts = `WITH gone AS (DELETE FROM mcp_pruner.texts t WHERE t.subject = $1 AND t.hash = ANY($2)
	AND NOT EXISTS (SELECT 1 FROM mcp_pruner.originals o WHERE o.subject = t.subject AND o.hash = t.hash)
	AND NOT EXISTS (SELECT 1 FROM mcp_pruner.segments s WHERE s.subject = t.subject AND s.hash = t.hash) RETURNING t.object) ` + dropObjects

// DropAllTexts is the statement that removes all of a subject's texts: $1 is the subject, $2 whether to do it.
const DropAllTexts = `WITH gone AS (DELETE FROM mcp_pruner.texts WHERE subject = $1 AND $2 RETURNING object) ` + dropObjects

const dropObjects = `INSERT INTO mcp_pruner.dropped (object, due) SELECT object, now() FROM gone WHERE object IS NOT NULL`

// AddText returns the parts of a WITH that store a text of a subject, unless it is there: $1 is the subject, $2 the hash, $3 the
// size in bytes, $4 and the parameter with the given name are the fields of a Row.
func AddText(object string) string {
	return `text AS (INSERT INTO mcp_pruner.texts (subject, hash, bytes, body, object) VALUES ($1, $2, $3, $4, ` + object + `) ON CONFLICT (subject, hash) DO NOTHING RETURNING object),
	kept AS (DELETE FROM mcp_pruner.dropped WHERE object = (SELECT object FROM text))`
}

// Row is a text as its row has it.
type Row struct {
	Body   []byte  // all of it, or its beginning
	Object *string // name of the object in the bucket that has all of it; nil: Body has
}

const (
	largeText = 1 << 20        // bytes; larger texts go into the bucket, if there is one
	unkept    = 24 * time.Hour // after which an object is removed that was uploaded and that no row has
)

// RowOf prepares a text of a subject for its row. A large one is uploaded before, unless it is there already, if the database has
// a bucket that takes it as soon as the database would have to: callers wait for it.
func (db *DB) RowOf(ctx context.Context, owner string, hash [32]byte, text string) Row {
	if db.bucket == nil || len(text) <= largeText {
		return Row{Body: []byte(text)}
	}
	ctx, cancel := context.WithTimeout(ctx, db.settings.Patience)
	defer cancel()
	name, fresh := rand.Text(), false
	err := db.Read(ctx, func(ctx context.Context, q Querier) error {
		tag, err := q.Exec(ctx, `INSERT INTO mcp_pruner.dropped (object, due) SELECT $1, now() + $2 * interval '1 microsecond'
			WHERE NOT EXISTS (SELECT 1 FROM mcp_pruner.texts WHERE subject = $3 AND hash = $4)`, name, unkept.Microseconds(), owner, hash[:])
		fresh = tag.RowsAffected() > 0
		return err
	})
	if err == nil && fresh {
		err = db.bucket.Put(ctx, name, []byte(text))
	}
	if err != nil || !fresh {
		return Row{Body: []byte(text)} // nothing is lost for a bucket that is away, nor if the text is removed just now
	}
	return Row{Body: []byte(text[:largeText]), Object: &name}
}

// Text returns the whole text of a row.
func (db *DB) Text(ctx context.Context, r Row) ([]byte, error) {
	switch {
	case r.Object == nil:
		return r.Body, nil
	case db.bucket == nil:
		return nil, errors.New("the text lies in a bucket: MCP_PRUNER_STORE_BUCKET has to name it")
	}
	return db.bucket.Get(ctx, *r.Object)
}

// Sweep removes from the bucket what no row has.
func (db *DB) Sweep(ctx context.Context) error {
	if db.bucket == nil {
		return nil
	}
	var names []string
	err := db.Read(ctx, func(ctx context.Context, q Querier) error {
		rows, err := q.Query(ctx, `SELECT object FROM mcp_pruner.dropped WHERE due <= now() ORDER BY due`)
		if err == nil {
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	for _, name := range names {
		if err == nil {
			err = db.bucket.Delete(ctx, name)
		}
		if err == nil {
			err = db.Read(ctx, func(ctx context.Context, q Querier) error {
				_, err := q.Exec(ctx, `DELETE FROM mcp_pruner.dropped WHERE object = $1`, name)
				return err
			})
		}
	}
	return err
}
