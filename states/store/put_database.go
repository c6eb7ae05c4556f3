package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// putInDatabase stores entries. However many there are, it takes few round trips, because a request waits for it, and what takes
// long is done before the transaction: words are looked for.
func (l *Ledger) putInDatabase(ctx context.Context, entries []contextgc.Entry) ([]string, error) {
	for i := range entries {
		entries[i].Subject = string(ownerOf(ctx, l, entries[i].Subject))
	}
	ids, err := l.known(ctx, entries)
	if err != nil {
		return nil, err
	}
	var fresh []int // indices of entries that are not there
	var values [][]any
	for i, e := range entries {
		if ids[i] != "" {
			continue
		}
		if err := e.Complete(l.now()); err != nil {
			return nil, err
		}
		fresh, values = append(fresh, i), append(values, valuesOf(e))
	}
	if len(fresh) == 0 {
		return ids, nil
	}
	added, err := l.add(ctx, values)
	if err != nil {
		return nil, err
	}
	for n, i := range fresh {
		ids[i] = added[n]
	}
	if !slices.Contains(added, "") {
		return ids, nil
	}
	late, err := l.known(ctx, entries) // another replica stored a key just now, or an entry is there twice
	for i, id := range late {
		ids[i] = cmp.Or(ids[i], id)
	}
	return ids, err
}

// add stores entries with the given values and returns their ids; "" for one whose key is there already.
func (l *Ledger) add(ctx context.Context, values [][]any) (ids []string, err error) {
	err = l.write(ctx, func(ctx context.Context, q querier) error {
		var batch pgx.Batch
		db, _ := q.(database)
		for _, v := range values {
			batch.Queue(addSegment, db.args(v)...)
		}
		answers := db.SendBatch(ctx, &batch)
		ids = make([]string, len(values))
		for i := range ids {
			if err := answers.QueryRow().Scan(&ids[i]); err != nil && !errors.Is(err, pgx.ErrNoRows) {
				_ = answers.Close()
				return err
			}
		}
		return answers.Close()
	})
	return ids, err
}

// known returns the ids of the segments with the entries' keys; "" for those without one.
func (l *Ledger) known(ctx context.Context, entries []contextgc.Entry) (ids []string, err error) {
	subjects, keys := make([]owner, len(entries)), make([][]byte, len(entries))
	for i, e := range entries {
		subjects[i], keys[i] = owner(e.Subject), e.Key
	}
	return readAll(ctx, l, column[string], `SELECT COALESCE(s.id, '') FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS e (subject, key, n)
		LEFT JOIN mcp_pruner.segments s ON s.subject = e.subject AND s.key = e.key ORDER BY e.n`, subjects, keys)
}

// addSegment is the statement that stores an entry with its text and its words, and returns its id. Without an id of its own it is
// named after its number. Earlier segments with the same lines of the same file are marked, because they may be out of date.
const addSegment = `WITH ` + addText + `, n AS (SELECT nextval('mcp_pruner.segments_seq_seq') AS seq), added AS (
	INSERT INTO mcp_pruner.segments (seq, subject, hash, bytes, id, key, project, task, session, type, tool, path, first_line, last_line, tokens,
	created_at, touched_at, pinned, tier, born, refs, tags, topic)
	SELECT n.seq, $1, $2, $3::bigint, CASE WHEN $5::text != '' THEN $5 WHEN EXISTS (SELECT 1 FROM mcp_pruner.segments WHERE subject = $1 AND project = $7 AND id = 's' || n.seq)
		THEN 's' || n.seq || 'x' ELSE 's' || n.seq END, $6::bytea, $7, $8, $9, $10, $11, $12, $13::int, $14::int, $15::bigint, $16::timestamptz, $17::timestamptz,
		$18::boolean, $19, COALESCE((SELECT collections FROM mcp_pruner.projects WHERE subject = $1 AND project = $7), 0) + $20::int, $21::int, $22::text[], $23
	FROM n ON CONFLICT (subject, key) DO NOTHING RETURNING seq, id), words AS (
	INSERT INTO mcp_pruner.words (seq, words) SELECT seq, $24::text[] FROM added), older AS (
	UPDATE mcp_pruner.segments s SET superseded = added.id FROM added WHERE s.subject = $1 AND s.project = $7 AND s.path = $12 AND s.path != '' AND $10 = 'code'
		AND s.type = 'code' AND s.superseded = '' AND ($13 = 0 OR s.first_line >= $13 AND s.last_line <= $14 AND s.first_line > 0))
	SELECT id FROM added`

// valuesOf returns the parameters of addSegment.
func valuesOf(e contextgc.Entry) []any {
	born := 0
	if e.Old {
		born = -contextgc.OldAfter
	}
	return []any{
		owner(e.Subject), e.Hash, int64(len(e.Text)), raw(e.Text), e.ID, e.Key, e.Project, e.Task, e.Session, string(e.Type), e.Tool, e.Path, e.FirstLine,
		e.LastLine, e.Tokens, e.Created, e.Touched, e.Pinned, string(e.Tier), born, e.References, e.Tags, e.Topic,
		indexWords(contextgc.Query{Text: e.Text[:min(len(e.Text), maxIndexed)]}.Words()),
	}
}

// maxWord bounds a word of the index, in bytes.
const maxWord = 256

// indexWords returns the different words as the index has them.
func indexWords(words []string) []string {
	for i, w := range words {
		if len(w) > maxWord {
			w = strings.ToValidUTF8(w[:maxWord], "")
		}
		words[i] = cmp.Or(w, "_")
	}
	slices.Sort(words)
	return slices.Compact(words)
}
