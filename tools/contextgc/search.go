package contextgc

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Query holds the conditions of a search. Empty fields match anything.
type Query struct {
	Project string
	Text    string // words, all of which must occur
	Task    string
	Type    Type
	Tier    Tier
	Path    string
	Tags    []string
	Limit   int // maximum number of hits; 0: 20
}

// Hit is a segment found by a search, with the first line that contains one of the words.
type Hit struct {
	Segment
	Line    int
	Excerpt string
}

var word = regexp.MustCompile(`[\p{L}\p{N}_]+`)

// Search finds the segments that contain every word of the query, newest first. total is
// their number, regardless of the limit.
func (s *Store) Search(ctx context.Context, q Query) (hits []Hit, total int, err error) {
	where, args := q.where()
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
		hit := Hit{Segment: segment}
		hit.Line, hit.Excerpt = excerpt(string(body), q.words())
		hits = append(hits, hit)
	}
	return hits, total, rows.Err()
}

func (q Query) words() []string { return word.FindAllString(strings.ToLower(q.Text), -1) }

func (q Query) where() (string, []any) {
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
	if words := q.words(); len(words) > 0 {
		add("s.seq IN (SELECT rowid FROM words WHERE words MATCH ?)", `"`+strings.Join(words, `" "`)+`"`)
	}
	return strings.Join(clauses, " AND "), args
}

// maxExcerpt bounds the part of a line that a hit shows, in bytes.
const maxExcerpt = 160

// excerpt returns the number and text of the first line that contains one of the words, or
// of the first line if none does.
func excerpt(text string, words []string) (int, string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		lower := strings.ToLower(line)
		for _, w := range words {
			if at := strings.Index(lower, w); at >= 0 {
				return n, around(line, at)
			}
		}
	}
	first, _, _ := strings.Cut(text, "\n")
	return 1, around(first, 0)
}

// around cuts a long line to the part that begins shortly before offset at.
func around(line string, at int) string {
	line = strings.TrimRight(line, "\r\n")
	if len(line) <= maxExcerpt {
		return strings.ToValidUTF8(line, "")
	}
	from := min(max(0, at-maxExcerpt/4), len(line)-maxExcerpt)
	return strings.ToValidUTF8(line[from:from+maxExcerpt], "")
}
