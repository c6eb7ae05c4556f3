package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
)

const columns = `s.id, s.project, s.task, s.session, s.type, s.tool, s.path, s.first_line, s.last_line, s.tokens, s.bytes,
	s.created, s.touched, s.pinned, s.tier, COALESCE(p.collections, 0) - s.born, s.refs, s.tags, s.topic, s.hash, s.superseded`

const fromSegments = ` FROM segments s LEFT JOIN projects p ON p.project = s.project `

func scan(row interface{ Scan(...any) error }, more ...any) (contextgc.Segment, error) {
	var s contextgc.Segment
	var created, touched int64
	var survived int
	var tags string
	var hash []byte
	dest := append([]any{&s.ID, &s.Project, &s.Task, &s.Session, &s.Type, &s.Tool, &s.Path, &s.FirstLine, &s.LastLine, &s.Tokens,
		&s.Bytes, &created, &touched, &s.Pinned, &s.Tier, &survived, &s.References, &tags, &s.Topic, &hash, &s.SupersededBy}, more...)
	if err := row.Scan(dest...); err != nil {
		return s, err
	}
	s.Created, s.Touched, s.Old = fromMicro(created), fromMicro(touched), survived >= contextgc.OldAfter
	copy(s.Hash[:], hash)
	if tags != "null" && tags != "[]" {
		if err := json.Unmarshal([]byte(tags), &s.Tags); err != nil {
			return s, fmt.Errorf("tags of %s: %w", s.ID, err)
		}
	}
	return s, nil
}

// List implements contextgc.Segments.
func (s *Store) List(ctx context.Context, f contextgc.Filter) ([]contextgc.Segment, error) {
	var c conditions
	c.add("s.project = ?", f.Project)
	c.add("s.task = ?", f.Task)
	c.add("s.session = ?", f.Session)
	c.add("s.tier = ?", string(f.Tier))
	rows, err := s.file.DB().QueryContext(ctx, `SELECT `+columns+fromSegments+`WHERE `+c.String()+` ORDER BY s.seq`, c.values...)
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []contextgc.Segment
	for rows.Next() {
		segment, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		all = append(all, segment)
	}
	return all, rows.Err()
}

// Get implements contextgc.Segments.
func (s *Store) Get(ctx context.Context, what contextgc.Reference) (contextgc.Segment, string, error) {
	column, value := `s.id`, any(what.ID)
	if what.Hash != nil {
		column, value = `s.hash`, what.Hash[:]
	}
	var body []byte
	segment, err := scan(s.file.DB().QueryRowContext(ctx, `SELECT `+columns+`, t.body`+fromSegments+
		`JOIN texts t ON t.hash = s.hash WHERE `+column+` = ?1 AND (?2 = '' OR s.project = ?2) ORDER BY s.seq DESC LIMIT 1`,
		value, what.Project), &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return contextgc.Segment{}, "", contextgc.ErrNotFound
	case err != nil:
		return contextgc.Segment{}, "", fmt.Errorf("read segment %s: %w", what.ID, err)
	}
	return segment, string(body), nil
}

// ReadText returns the text with a hash from the ledger in a file, which it neither creates nor changes. It returns
// contextgc.ErrNotFound if the file does not exist or has no such text.
func ReadText(ctx context.Context, file string, hash [sha256.Size]byte) (text string, err error) {
	var body []byte
	err = sqlfile.Read(file, readPatience, func(db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT body FROM texts WHERE hash = ?`, hash[:]).Scan(&body)
	})
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, fs.ErrNotExist) || err == nil && sha256.Sum256(body) != hash {
		return "", contextgc.ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("read the ledger %s: %w", file, err)
	}
	return string(body), nil
}

// readPatience is the time for which ReadText waits for a writer.
const readPatience = 10 * time.Second

// Has implements contextgc.Segments.
func (s *Store) Has(ctx context.Context, hash [sha256.Size]byte) (has bool, err error) {
	err = s.file.DB().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM texts WHERE hash = ?)`, hash[:]).Scan(&has)
	if err != nil {
		return false, fmt.Errorf("look for a text in the ledger: %w", err)
	}
	return has, nil
}
