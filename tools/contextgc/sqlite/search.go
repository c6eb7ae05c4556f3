package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Search finds the segments that contain every word of the query, newest first. total is
// their number, regardless of the limit.
func (s *Store) Search(ctx context.Context, q contextgc.Query) (hits []contextgc.Hit, total int, err error) {
	c := where(q)
	db := s.file.DB()
	if err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM segments s WHERE `+c.String(), c.values...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("search: %w", err)
	}
	if q.Limit <= 0 {
		q.Limit = 20
	}
	rows, err := db.QueryContext(ctx, `SELECT `+columns+`, substr(t.body, 1, ?)`+fromSegments+
		`JOIN texts t ON t.hash = s.hash WHERE `+c.String()+` ORDER BY s.created DESC, s.seq DESC LIMIT ?`,
		slices.Concat([]any{maxIndexed}, c.values, []any{q.Limit})...)
	if err != nil {
		return nil, 0, fmt.Errorf("search: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var body []byte
		segment, err := scan(rows, &body)
		if err != nil {
			return nil, 0, fmt.Errorf("search: %w", err)
		}
		hits = append(hits, q.Hit(segment, string(body)))
	}
	return hits, total, rows.Err()
}

// conditions are the clauses of a query with their values.
type conditions struct {
	clauses []string
	values  []any
}

// add adds a clause unless its value is empty, which matches anything.
func (c *conditions) add(clause, value string) {
	if value != "" {
		c.clauses, c.values = append(c.clauses, clause), append(c.values, value)
	}
}

func (c conditions) String() string {
	if len(c.clauses) == 0 {
		return "TRUE"
	}
	return strings.Join(c.clauses, " AND ")
}

func where(q contextgc.Query) (c conditions) {
	c.add("s.project = ?", q.Project)
	c.add("s.task = ?", q.Task)
	c.add("s.type = ?", string(q.Type))
	c.add("s.tier = ?", string(q.Tier))
	c.add("s.path = ?", q.Path)
	for _, tag := range q.Tags {
		c.add("EXISTS (SELECT 1 FROM json_each(s.tags) WHERE value = ?)", tag)
	}
	if words := q.Words(); len(words) > 0 {
		c.add("s.seq IN (SELECT rowid FROM words WHERE words MATCH ?)", `"`+strings.Join(words, `" "`)+`"`)
	}
	return c
}
