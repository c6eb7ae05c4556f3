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
func (s *Store) Put(ctx context.Context, entries ...contextgc.Entry) ([]string, error) {
	ids := make([]string, len(entries))
	err := s.db.Write(ctx, func(ctx context.Context, q postgres.Querier) error {
		for i, e := range entries {
			id, err := s.put(ctx, q, e)
			if err != nil {
				return err
			}
			ids[i] = id
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("segments into the database: %w", err)
	}
	return ids, nil
}

func (s *Store) put(ctx context.Context, q postgres.Querier, e contextgc.Entry) (string, error) {
	e.Subject = ownerOf(ctx, e.Subject)
	if id, err := known(ctx, q, e); err != nil || id != "" {
		return id, err
	}
	if err := e.Complete(s.now()); err != nil {
		return "", err
	}
	if _, err := q.Exec(ctx, postgres.AddText, e.Subject, e.Hash[:], int64(len(e.Text)), []byte(e.Text)); err != nil {
		return "", err
	}
	seq, id, err := insert(ctx, q, e)
	if errors.Is(err, pgx.ErrNoRows) { // another replica stored this key just now
		return known(ctx, q, e)
	}
	if err != nil {
		return "", err
	}
	e.ID = id
	if err := supersede(ctx, q, e); err != nil {
		return "", err
	}
	_, err = q.Exec(ctx, `INSERT INTO mcp_pruner.words (seq, words) VALUES ($1, $2)`, seq, wordsOf(e.Text))
	return e.ID, err
}

// known returns the id of the segment with an entry's key, or "" if there is none.
func known(ctx context.Context, q postgres.Querier, e contextgc.Entry) (id string, err error) {
	if e.Key == nil {
		return "", nil
	}
	err = q.QueryRow(ctx, `SELECT id FROM mcp_pruner.segments WHERE subject = $1 AND key = $2`, e.Subject, e.Key).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// insert stores a segment. Without an id of its own it is named after its number.
func insert(ctx context.Context, q postgres.Querier, e contextgc.Entry) (seq int64, id string, err error) {
	born := 0
	if e.Old {
		born = -contextgc.OldAfter
	}
	tags := make([]string, len(e.Tags)) // never NULL
	for i, t := range e.Tags {
		tags[i] = postgres.Text(t)
	}
	err = q.QueryRow(ctx, `WITH n AS (SELECT nextval('mcp_pruner.segments_seq_seq') AS seq)
		INSERT INTO mcp_pruner.segments (seq, subject, id, key, project, task, session, type, tool, path, first_line, last_line, tokens,
		bytes, created_at, touched_at, pinned, tier, born, refs, tags, topic, hash)
		SELECT n.seq, $1, CASE WHEN $2::text != '' THEN $2 WHEN EXISTS (SELECT 1 FROM mcp_pruner.segments WHERE subject = $1 AND project = $4 AND id = 's' || n.seq)
			THEN 's' || n.seq || 'x' ELSE 's' || n.seq END, $3::bytea, $4, $5, $6, $7, $8, $9, $10::int, $11::int, $12::bigint, $13::bigint, $14::timestamptz, $15::timestamptz,
			$16::boolean, $17, COALESCE((SELECT collections FROM mcp_pruner.projects WHERE subject = $1 AND project = $4), 0) + $18::int, $19::int, $20::text[], $21, $22::bytea
		FROM n ON CONFLICT (subject, key) DO NOTHING RETURNING seq, id`,
		e.Subject, e.ID, e.Key, e.Project, postgres.Text(e.Task), postgres.Text(e.Session), string(e.Type), postgres.Text(e.Tool), postgres.Text(e.Path),
		e.FirstLine, e.LastLine, e.Tokens, e.Bytes, e.Created, e.Touched, e.Pinned, string(e.Tier), born, e.References, tags,
		postgres.Text(e.Topic), e.Hash[:]).Scan(&seq, &id)
	return seq, id, err
}

// supersede marks earlier segments with the same lines of the same file, because they may be out of date.
func supersede(ctx context.Context, q postgres.Querier, e contextgc.Entry) error {
	if e.Path == "" || e.Type != contextgc.Code {
		return nil
	}
	_, err := q.Exec(ctx, `UPDATE mcp_pruner.segments SET superseded = $1 WHERE subject = $2 AND project = $3 AND path = $4 AND path != '' AND id != $1
		AND type = 'code' AND superseded = '' AND ($5 OR first_line >= $6 AND last_line <= $7 AND first_line > 0)`,
		e.ID, e.Subject, e.Project, postgres.Text(e.Path), e.FirstLine == 0, e.FirstLine, e.LastLine)
	return err
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
