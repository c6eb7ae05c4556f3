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

// Put implements contextgc.Segments.
func (s *Store) Put(ctx context.Context, entries ...contextgc.Entry) (ids []string, err error) {
	rows := s.rows(ctx, entries)
	err = s.db.Write(ctx, func(ctx context.Context, q postgres.Querier) error {
		ids, err = s.put(ctx, q, entries, rows)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("segments into the database: %w", err)
	}
	return ids, nil
}

// rows prepares the entries' texts. Large ones are uploaded before the transaction, which would hold a connection meanwhile.
func (s *Store) rows(ctx context.Context, entries []contextgc.Entry) []postgres.Row {
	rows := make([]postgres.Row, len(entries))
	for i, e := range entries {
		rows[i] = s.db.RowOf(ctx, e.Text)
	}
	return rows
}

// put stores entries and returns their ids. However many there are, it takes few round trips, because a request waits for it.
func (s *Store) put(ctx context.Context, q postgres.Querier, entries []contextgc.Entry, rows []postgres.Row) ([]string, error) {
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].Subject = ownerOf(ctx, entries[i].Subject)
	}
	ids, err := known(ctx, q, entries)
	if err != nil {
		return nil, err
	}
	var batch pgx.Batch
	var added []int // indices of what the batch stores
	for i, e := range entries {
		if ids[i] != "" {
			continue
		}
		if err := e.Complete(s.now()); err != nil {
			return nil, err
		}
		add(&batch, e, rows[i])
		added = append(added, i)
	}
	answers := q.SendBatch(ctx, &batch)
	there := false
	for _, i := range added {
		err := answers.QueryRow().Scan(&ids[i])
		if there = there || errors.Is(err, pgx.ErrNoRows); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			_ = answers.Close()
			return nil, err
		}
	}
	if err := answers.Close(); err != nil || !there {
		return ids, err
	}
	late, err := known(ctx, q, entries) // another replica stored a key just now, or an entry is there twice
	for i, id := range late {
		ids[i] = cmp.Or(ids[i], id)
	}
	return ids, err
}

// known returns the ids of the segments with the entries' keys; "" for those without one.
func known(ctx context.Context, q postgres.Querier, entries []contextgc.Entry) ([]string, error) {
	subjects, keys := make([]string, len(entries)), make([][]byte, len(entries))
	for i, e := range entries {
		subjects[i], keys[i] = e.Subject, e.Key
	}
	rows, err := q.Query(ctx, `SELECT COALESCE(s.id, '') FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS e (subject, key, n)
		LEFT JOIN mcp_pruner.segments s ON s.subject = e.subject AND s.key = e.key ORDER BY e.n`, subjects, keys)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// add queues the statement that stores an entry with its text and its words, and returns its id. Without an id of its own it is
// named after its number. Earlier segments with the same lines of the same file are marked, because they may be out of date.
func add(batch *pgx.Batch, e contextgc.Entry, text postgres.Row) {
	born := 0
	if e.Old {
		born = -contextgc.OldAfter
	}
	tags := make([]string, len(e.Tags)) // never NULL
	for i, t := range e.Tags {
		tags[i] = postgres.Text(t)
	}
	batch.Queue(`WITH `+postgres.AddText("$25")+`, n AS (SELECT nextval('mcp_pruner.segments_seq_seq') AS seq), added AS (
		INSERT INTO mcp_pruner.segments (seq, subject, hash, bytes, id, key, project, task, session, type, tool, path, first_line, last_line, tokens,
		created_at, touched_at, pinned, tier, born, refs, tags, topic)
		SELECT n.seq, $1, $2, $3::bigint, CASE WHEN $5::text != '' THEN $5 WHEN EXISTS (SELECT 1 FROM mcp_pruner.segments WHERE subject = $1 AND project = $7 AND id = 's' || n.seq)
			THEN 's' || n.seq || 'x' ELSE 's' || n.seq END, $6::bytea, $7, $8, $9, $10, $11, $12, $13::int, $14::int, $15::bigint, $16::timestamptz, $17::timestamptz,
			$18::boolean, $19, COALESCE((SELECT collections FROM mcp_pruner.projects WHERE subject = $1 AND project = $7), 0) + $20::int, $21::int, $22::text[], $23
		FROM n ON CONFLICT (subject, key) DO NOTHING RETURNING seq, id), words AS (
		INSERT INTO mcp_pruner.words (seq, words) SELECT seq, $24::text[] FROM added), older AS (
		UPDATE mcp_pruner.segments s SET superseded = added.id FROM added WHERE s.subject = $1 AND s.project = $7 AND s.path = $12 AND s.path != '' AND $10 = 'code'
			AND s.type = 'code' AND s.superseded = '' AND ($13 = 0 OR s.first_line >= $13 AND s.last_line <= $14 AND s.first_line > 0))
		SELECT id FROM added`,
		e.Subject, e.Hash[:], int64(len(e.Text)), text.Body, e.ID, e.Key, e.Project, postgres.Text(e.Task), postgres.Text(e.Session), string(e.Type),
		postgres.Text(e.Tool), postgres.Text(e.Path), e.FirstLine, e.LastLine, e.Tokens, e.Created, e.Touched, e.Pinned, string(e.Tier), born, e.References, tags,
		postgres.Text(e.Topic), wordsOf(e.Text), text.Object)
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
