package contextgc

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
)

// ErrNotFound means that no segment has the given id.
var ErrNotFound = errors.New("segment not found")

const columns = `s.id, s.project, s.task, s.session, s.type, s.tool, s.path, s.first_line, s.last_line, s.tokens, s.bytes,
	s.created, s.touched, s.pinned, s.tier, COALESCE(p.collections, 0) - s.born, s.refs, s.tags, s.topic, s.hash, s.superseded`

const fromSegments = ` FROM segments s LEFT JOIN projects p ON p.project = s.project `

func scan(row interface{ Scan(...any) error }, more ...any) (Segment, error) {
	var s Segment
	var created, touched int64
	var survived int
	var tags string
	var hash []byte
	dest := append([]any{&s.ID, &s.Project, &s.Task, &s.Session, &s.Type, &s.Tool, &s.Path, &s.FirstLine, &s.LastLine, &s.Tokens,
		&s.Bytes, &created, &touched, &s.Pinned, &s.Tier, &survived, &s.References, &tags, &s.Topic, &hash, &s.SupersededBy}, more...)
	if err := row.Scan(dest...); err != nil {
		return s, err
	}
	s.Created, s.Touched, s.Old = fromMicro(created), fromMicro(touched), survived >= oldAfter
	copy(s.Hash[:], hash)
	if tags != "null" && tags != "[]" {
		if err := json.Unmarshal([]byte(tags), &s.Tags); err != nil {
			return s, fmt.Errorf("tags of %s: %w", s.ID, err)
		}
	}
	return s, nil
}

// Segments returns the segments of a project in one tier, without their texts, in the order
// in which they were stored. An empty task selects all tasks.
func (s *Store) Segments(ctx context.Context, project, task string, tier Tier) ([]Segment, error) {
	rows, err := s.file.DB().QueryContext(ctx, `SELECT `+columns+fromSegments+
		`WHERE s.project = ?1 AND s.tier = ?2 AND (?3 = '' OR s.task = ?3) ORDER BY s.seq`, project, tier, task)
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []Segment
	for rows.Next() {
		segment, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		all = append(all, segment)
	}
	return all, rows.Err()
}

// Get returns a segment and its exact text. An empty project searches all projects; if several have the id, the latest segment is returned.
func (s *Store) Get(ctx context.Context, project, id string) (Segment, string, error) {
	return s.get(ctx, project, id, `s.id`, id)
}

// GetHash returns the latest segment whose text has a hash, and the text. An empty project searches all projects. id is
// what the caller was given, for messages.
func (s *Store) GetHash(ctx context.Context, project, id string, hash [sha256.Size]byte) (Segment, string, error) {
	return s.get(ctx, project, id, `s.hash`, hash[:])
}

// get returns the latest segment in which a column has a value.
func (s *Store) get(ctx context.Context, project, id, column string, value any) (Segment, string, error) {
	var body []byte
	segment, err := scan(s.file.DB().QueryRowContext(ctx, `SELECT `+columns+`, t.body`+fromSegments+
		`JOIN texts t ON t.hash = s.hash WHERE `+column+` = ?1 AND (?2 = '' OR s.project = ?2) ORDER BY s.seq DESC LIMIT 1`,
		value, project), &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Segment{}, "", ErrNotFound
	case err != nil:
		return Segment{}, "", fmt.Errorf("read segment %s: %w", id, err)
	}
	return segment, string(body), nil
}

// ReadText returns the text with a hash from the ledger in a file, which it neither creates nor changes. It returns
// ErrNotFound if the file does not exist or has no such text.
func ReadText(ctx context.Context, file string, hash [sha256.Size]byte) (text string, err error) {
	var body []byte
	err = sqlfile.Read(file, readPatience, func(db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT body FROM texts WHERE hash = ?`, hash[:]).Scan(&body)
	})
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, fs.ErrNotExist) || err == nil && sha256.Sum256(body) != hash {
		return "", ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("read the ledger %s: %w", file, err)
	}
	return string(body), nil
}

// readPatience is how long ReadText waits for a writer.
const readPatience = 10 * time.Second

// HasText reports whether the ledger has a text with a hash.
func (s *Store) HasText(ctx context.Context, hash [sha256.Size]byte) (has bool, err error) {
	err = s.file.DB().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM texts WHERE hash = ?)`, hash[:]).Scan(&has)
	if err != nil {
		return false, fmt.Errorf("look for a text in the ledger: %w", err)
	}
	return has, nil
}

// Touch records a use of segments: it updates their last use and increments their reference
// count.
func (s *Store) Touch(ctx context.Context, project string, ids ...string) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.Exec(`UPDATE segments SET touched = ?, refs = refs + 1 WHERE project = ? AND id = ?`,
				s.settings.Now().UnixMicro(), project, id); err != nil {
				return err
			}
		}
		return nil
	})
}
