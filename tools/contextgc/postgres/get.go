package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

const columns = `s.subject, s.id, s.project, s.task, s.session, s.type, s.tool, s.path, s.first_line, s.last_line, s.tokens, s.bytes,
	s.created_at, s.touched_at, s.pinned, s.tier, COALESCE(p.collections, 0) - s.born, s.refs, s.tags, s.topic, s.hash, s.superseded`

const fromSegments = ` FROM mcp_pruner.segments s LEFT JOIN mcp_pruner.projects p ON p.subject = s.subject AND p.project = s.project `

func scan(row pgx.Row, more ...any) (contextgc.Segment, error) {
	var s contextgc.Segment
	var survived int
	var hash []byte
	err := row.Scan(append([]any{&s.Subject, &s.ID, &s.Project, &s.Task, &s.Session, &s.Type, &s.Tool, &s.Path, &s.FirstLine, &s.LastLine, &s.Tokens,
		&s.Bytes, &s.Created, &s.Touched, &s.Pinned, &s.Tier, &survived, &s.References, &s.Tags, &s.Topic, &hash, &s.SupersededBy}, more...)...)
	if err != nil {
		return s, err
	}
	s.Created, s.Touched, s.Old = s.Created.UTC(), s.Touched.UTC(), survived >= contextgc.OldAfter
	copy(s.Hash[:], hash)
	if len(s.Tags) == 0 {
		s.Tags = nil
	}
	return s, nil
}

// List implements contextgc.Segments.
func (s *Store) List(ctx context.Context, f contextgc.Filter) (all []contextgc.Segment, err error) {
	c := of(ctx)
	c.add("s.project = ?", f.Project)
	c.add("s.task = ?", f.Task)
	c.add("s.session = ?", f.Session)
	c.add("s.tier = ?", string(f.Tier))
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		rows, err := q.Query(ctx, `SELECT `+columns+fromSegments+`WHERE `+c.String()+` ORDER BY s.seq`, c.values...)
		if err == nil {
			all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (contextgc.Segment, error) { return scan(row) })
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list segments of the database: %w", err)
	}
	return all, nil
}

// Get implements contextgc.Segments.
func (s *Store) Get(ctx context.Context, what contextgc.Reference) (segment contextgc.Segment, text string, err error) {
	c := of(ctx)
	c.add("s.project = ?", what.Project)
	if what.Hash == nil {
		c.always("s.id = ?", postgres.Text(what.ID))
	} else {
		c.always("s.hash = ?", what.Hash[:])
	}
	var body []byte
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		segment, err = scan(q.QueryRow(ctx, `SELECT `+columns+`, t.body`+fromSegments+
			`JOIN mcp_pruner.texts t ON t.subject = s.subject AND t.hash = s.hash WHERE `+c.String()+` ORDER BY s.seq DESC LIMIT 1`, c.values...), &body)
		return err
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return contextgc.Segment{}, "", contextgc.ErrNotFound
	case err != nil:
		return contextgc.Segment{}, "", fmt.Errorf("read a segment of the database: %w", err)
	}
	return segment, string(body), nil
}

// Has implements contextgc.Segments.
func (s *Store) Has(ctx context.Context, hash [sha256.Size]byte) (has bool, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		return q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM mcp_pruner.segments WHERE subject = $1 AND hash = $2)`, subject.Of(ctx), hash[:]).Scan(&has)
	})
	if err != nil {
		return false, fmt.Errorf("look for a text in the database: %w", err)
	}
	return has, nil
}

// Search implements contextgc.Segments.
func (s *Store) Search(ctx context.Context, q contextgc.Query) (hits []contextgc.Hit, total int, err error) {
	c := where(ctx, q)
	limit := q.Limit
	if limit <= 0 {
		limit = 20
	}
	err = s.db.Read(ctx, func(ctx context.Context, db postgres.Querier) error {
		hits = nil
		if err := db.QueryRow(ctx, `SELECT COUNT(*) FROM mcp_pruner.segments s WHERE `+c.String(), c.values...).Scan(&total); err != nil {
			return err
		}
		rows, err := db.Query(ctx, fmt.Sprintf(`SELECT %s, substring(t.body FROM 1 FOR %d)%s JOIN mcp_pruner.texts t ON t.subject = s.subject AND t.hash = s.hash
			WHERE %s ORDER BY s.created_at DESC, s.seq DESC LIMIT %d`, columns, maxIndexed, fromSegments, c, limit), c.values...)
		if err != nil {
			return err
		}
		hits, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (contextgc.Hit, error) {
			var body []byte
			segment, err := scan(row, &body)
			return q.Hit(segment, string(body)), err
		})
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("search the database: %w", err)
	}
	if len(hits) == 0 {
		hits = nil
	}
	return hits, total, nil
}

// conditions are the clauses of a query with their values.
type conditions struct {
	clauses []string
	values  []any
}

// of returns the condition that a segment belongs to a context's subject.
func of(ctx context.Context) *conditions {
	c := &conditions{}
	c.always("s.subject = ?", subject.Of(ctx))
	return c
}

// add adds a clause unless its value is empty, which matches anything.
func (c *conditions) add(clause, value string) {
	if value != "" {
		c.always(clause, postgres.Text(value))
	}
}

func (c *conditions) always(clause string, value any) {
	c.values = append(c.values, value)
	c.clauses = append(c.clauses, strings.Replace(clause, "?", fmt.Sprintf("$%d", len(c.values)), 1))
}

func (c *conditions) String() string { return strings.Join(c.clauses, " AND ") }

func where(ctx context.Context, q contextgc.Query) *conditions {
	c := of(ctx)
	c.add("s.project = ?", q.Project)
	c.add("s.task = ?", q.Task)
	c.add("s.type = ?", string(q.Type))
	c.add("s.tier = ?", string(q.Tier))
	c.add("s.path = ?", q.Path)
	for _, tag := range q.Tags {
		c.add("? = ANY (s.tags)", tag)
	}
	if words := q.Words(); len(words) > 0 {
		for i, w := range words {
			words[i] = word(w)
		}
		c.always("s.seq IN (SELECT seq FROM mcp_pruner.words WHERE words @> ?)", words)
	}
	return c
}
