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
	where, args := where(q)
	db := s.file.DB()
	if err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM segments s WHERE `+where, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("search: %w", err)
	}
	if q.Limit <= 0 {
		q.Limit = 20
	}
	rows, err := db.QueryContext(ctx, `SELECT `+columns+`, substr(t.body, 1, ?)`+fromSegments+
		`JOIN texts t ON t.hash = s.hash WHERE `+where+` ORDER BY s.created DESC, s.seq DESC LIMIT ?`,
		slices.Concat([]any{maxIndexed}, args, []any{q.Limit})...)
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

func where(q contextgc.Query) (string, []any) {
	clauses, args := []string{"s.project = ?"}, []any{q.Project}
	add := func(clause string, arg any) {
		clauses, args = append(clauses, clause), append(args, arg)
	}
	if q.Task != "" {
		add("s.task = ?", q.Task)
	}
	if q.Type != "" {
		add("s.type = ?", q.Type)
	}
	if q.Tier != "" {
		add("s.tier = ?", q.Tier)
	}
	if q.Path != "" {
		add("s.path = ?", q.Path)
	}
	for _, tag := range q.Tags {
		add("EXISTS (SELECT 1 FROM json_each(s.tags) WHERE value = ?)", tag)
	}
	if words := q.Words(); len(words) > 0 {
		add("s.seq IN (SELECT rowid FROM words WHERE words MATCH ?)", `"`+strings.Join(words, `" "`)+`"`)
	}
	return strings.Join(clauses, " AND "), args
}
