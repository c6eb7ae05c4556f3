package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
)

// Put implements contextgc.Segments. However many entries there are, it takes few round trips, because a request waits for it, and
// what takes long is done before the transaction: large texts are uploaded, and words are looked for.
func (s *Store) Put(ctx context.Context, entries ...contextgc.Entry) ([]string, error) {
	ids, err := s.put(ctx, slices.Clone(entries))
	if err != nil {
		return nil, fmt.Errorf("segments into the database: %w", err)
	}
	return ids, nil
}

func (s *Store) put(ctx context.Context, entries []contextgc.Entry) ([]string, error) {
	for i := range entries {
		entries[i].Subject = ownerOf(ctx, entries[i].Subject)
	}
	ids, err := s.known(ctx, entries)
	if err != nil {
		return nil, err
	}
	var fresh []int // indices of entries that are not there
	var values [][]any
	for i, e := range entries {
		if ids[i] != "" {
			continue
		}
		if err := e.Complete(s.now()); err != nil {
			return nil, err
		}
		fresh, values = append(fresh, i), append(values, valuesOf(e))
	}
	if len(fresh) == 0 {
		return ids, nil
	}
	added, err := s.add(ctx, values)
	if err != nil {
		return nil, err
	}
	for n, i := range fresh {
		ids[i] = added[n]
	}
	if !slices.Contains(added, "") {
		return ids, nil
	}
	late, err := s.known(ctx, entries) // another replica stored a key just now, or an entry is there twice
	for i, id := range late {
		ids[i] = cmp.Or(ids[i], id)
	}
	return ids, err
}

// add stores entries with the given values and returns their ids; "" for one whose key is there already.
func (s *Store) add(ctx context.Context, values [][]any) (ids []string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, q postgres.Querier) error {
		var batch pgx.Batch
		for _, v := range values {
			batch.Queue(addSegment, v...)
		}
		answers := q.SendBatch(ctx, &batch)
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
func (s *Store) known(ctx context.Context, entries []contextgc.Entry) (ids []string, err error) {
	subjects, keys := make([]string, len(entries)), make([][]byte, len(entries))
	for i, e := range entries {
		subjects[i], keys[i] = e.Subject, e.Key
	}
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		rows, err := q.Query(ctx, `SELECT COALESCE(s.id, '') FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS e (subject, key, n)
			LEFT JOIN mcp_pruner.segments s ON s.subject = e.subject AND s.key = e.key ORDER BY e.n`, subjects, keys)
		if err == nil {
			ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return ids, err
}

// addSegment is the statement that stores an entry with its text and its words, and returns its id. Without an id of its own it is
// named after its number. Earlier segments with the same lines of the same file are marked, because they may be out of date.
var addSegment = `WITH ` + postgres.AddText + `, n AS (SELECT nextval('mcp_pruner.segments_seq_seq') AS seq), added AS (
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
	tags := make([]string, len(e.Tags)) // never NULL
	for i, t := range e.Tags {
		tags[i] = postgres.Text(t)
	}
	return []any{
		e.Subject, e.Hash[:], int64(len(e.Text)), []byte(e.Text), e.ID, e.Key, e.Project, postgres.Text(e.Task), postgres.Text(e.Session), string(e.Type),
		postgres.Text(e.Tool), postgres.Text(e.Path), e.FirstLine, e.LastLine, e.Tokens, e.Created, e.Touched, e.Pinned, string(e.Tier), born, e.References, tags,
		postgres.Text(e.Topic), wordsOf(e.Text),
	}
}

// maxIndexed bounds the part of a text that is searchable, in bytes, and maxWord a word of the index.
const (
	maxIndexed = 1 << 20
	maxWord    = 256
)

// wordsOf returns the different words of a text for the index.
func wordsOf(text string) []string {
	words := contextgc.Query{Text: text[:min(len(text), maxIndexed)]}.Words()
	for i, w := range words {
		words[i] = word(w)
	}
	slices.Sort(words)
	return append([]string{}, slices.Compact(words)...) // never NULL
}

// word returns a word as the index has it.
func word(w string) string {
	if len(w) > maxWord {
		w = strings.ToValidUTF8(w[:maxWord], "")
	}
	return cmp.Or(w, "_")
}
