package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

const columns = `SELECT s.subject, s.id, s.project, s.task, s.session, s.type, s.tool, s.path, s.first_line, s.last_line, s.tokens, s.bytes,
	s.created_at, s.touched_at, s.pinned, s.tier, COALESCE(p.collections, 0) - s.born, s.refs, s.tags, s.topic, s.hash, s.superseded`

const (
	fromSegments = ` FROM mcp_pruner.segments s LEFT JOIN mcp_pruner.projects p ON p.subject = s.subject AND p.project = s.project `
	withTexts    = fromSegments + `JOIN mcp_pruner.texts t ON t.subject = s.subject AND t.hash = s.hash `
)

func scanSegment(r row, more ...any) (s contextgc.Segment, err error) {
	var survived int
	err = r(append([]any{&s.Subject, &s.ID, &s.Project, &s.Task, &s.Session, &s.Type, &s.Tool, &s.Path, &s.FirstLine, &s.LastLine, &s.Tokens,
		&s.Bytes, &s.Created, &s.Touched, &s.Pinned, &s.Tier, &survived, &s.References, &s.Tags, &s.Topic, &s.Hash, &s.SupersededBy}, more...)...)
	s.Old = survived >= contextgc.OldAfter
	if len(s.Tags) == 0 {
		s.Tags = nil
	}
	return s, err
}

// List implements contextgc.Segments.
func (l *Ledger) List(ctx context.Context, f contextgc.Filter) (all []contextgc.Segment, err error) {
	c := of(ctx, l)
	c.add("s.project = ?", f.Project)
	c.add("s.task = ?", f.Task)
	c.add("s.session = ?", f.Session)
	c.add("s.tier = ?", string(f.Tier))
	all, err = readAll(ctx, l, func(r row) (contextgc.Segment, error) { return scanSegment(r) }, columns+fromSegments+`WHERE `+c.String()+` ORDER BY s.seq`, c.values...)
	return all, l.failed(err, "list segments", "list segments of the database")
}

// Get implements contextgc.Segments.
func (l *Ledger) Get(ctx context.Context, what contextgc.Reference) (contextgc.Segment, string, error) {
	c := of(ctx, l)
	c.add("s.project = ?", what.Project)
	if what.Hash == nil {
		c.always("s.id = ?", what.ID)
	} else {
		c.always("s.hash = ?", what.Hash[:])
	}
	var body []byte
	all, err := readAll(ctx, l, func(r row) (contextgc.Segment, error) { return scanSegment(r, &body) },
		columns+`, t.body`+withTexts+`WHERE `+c.String()+` ORDER BY s.seq DESC LIMIT 1`, c.values...)
	switch {
	case err != nil:
		return contextgc.Segment{}, "", l.failed(err, "read segment "+what.ID, "read a segment of the database")
	case len(all) == 0:
		return contextgc.Segment{}, "", contextgc.ErrNotFound
	}
	return all[0], string(body), nil
}

// Text returns the text with a hash from the ledger in a file. It returns contextgc.ErrNotFound if the file does not exist or has no
// such text.
func (l *Ledger) Text(ctx context.Context, hash [sha256.Size]byte) (string, error) {
	var body []byte
	found, err := readFirst(ctx, l, []any{&body}, `SELECT body FROM mcp_pruner.texts WHERE hash = $1`, hash)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!found || sha256.Sum256(body) != hash) {
		return "", contextgc.ErrNotFound
	}
	return string(body), l.failed(err, "read a text of the ledger", "read a text of the database")
}

// Has implements contextgc.Segments.
func (l *Ledger) Has(ctx context.Context, hash [sha256.Size]byte) (has bool, err error) {
	_, err = readFirst(ctx, l, []any{&has}, `SELECT EXISTS (SELECT 1 FROM mcp_pruner.segments WHERE subject = $1 AND hash = $2)`, mine(ctx, l), hash)
	return has, l.failed(err, "look for a text in the ledger", "look for a text in the database")
}

// Search implements contextgc.Segments.
func (l *Ledger) Search(ctx context.Context, query contextgc.Query) (hits []contextgc.Hit, total int, err error) {
	if query.Limit <= 0 {
		query.Limit = 20
	}
	if query.Text != "" && len(query.Words()) == 0 { // such as "()": no text has words that are none
		return nil, 0, nil
	}
	err = l.read(ctx, func(ctx context.Context, q querier) error {
		c := where(ctx, q, query)
		if _, err := first(ctx, q, []any{&total}, `SELECT COUNT(*) FROM mcp_pruner.segments s WHERE `+c.String(), c.values...); err != nil {
			return err
		}
		hits, err = collect(ctx, q, func(r row) (contextgc.Hit, error) {
			var body []byte
			segment, err := scanSegment(r, &body)
			return query.Hit(segment, string(body)), err
		}, fmt.Sprintf(`%s, substr(t.body, 1, %d)%sWHERE %s ORDER BY s.created_at DESC, s.seq DESC LIMIT %d`, columns, maxIndexed, withTexts, c, query.Limit), c.values...)
		return err
	})
	return hits, total, l.failed(err, "search", "search the database")
}

// maxIndexed bounds the part of a text that is searchable, in bytes.
const maxIndexed = 1 << 20

// conditions are the clauses of a query with their values.
type conditions struct {
	clauses []string
	values  []any
}

// of returns the condition that a segment belongs to a context's subject.
func of(ctx context.Context, in interface{ shared() bool }) *conditions {
	c := &conditions{}
	c.always("s.subject = ?", mine(ctx, in))
	return c
}

// add adds a clause unless its value is empty, which matches anything.
func (c *conditions) add(clause, value string) {
	if value != "" {
		c.always(clause, value)
	}
}

func (c *conditions) always(clause string, value any) {
	c.values = append(c.values, value)
	c.clauses = append(c.clauses, strings.Replace(clause, "?", fmt.Sprintf("$%d", len(c.values)), 1))
}

func (c *conditions) String() string { return strings.Join(c.clauses, " AND ") }

func where(ctx context.Context, q querier, query contextgc.Query) *conditions {
	c := of(ctx, q)
	c.add("s.project = ?", query.Project)
	c.add("s.task = ?", query.Task)
	c.add("s.type = ?", string(query.Type))
	c.add("s.tier = ?", string(query.Tier))
	c.add("s.path = ?", query.Path)
	words := query.Words()
	if q.shared() {
		for _, tag := range query.Tags {
			c.add("? = ANY (s.tags)", tag)
		}
		if len(words) > 0 {
			c.always("s.seq IN (SELECT seq FROM mcp_pruner.words WHERE words @> ?)", indexWords(words))
		}
		return c
	}
	for _, tag := range query.Tags {
		c.add("EXISTS (SELECT 1 FROM json_each(s.tags) WHERE value = ?)", tag)
	}
	if len(words) > 0 {
		c.add("s.seq IN (SELECT rowid FROM words WHERE words MATCH ?)", `"`+strings.Join(words, `" "`)+`"`)
	}
	return c
}
