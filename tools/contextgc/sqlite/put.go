package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Put implements contextgc.Segments.
func (s *Store) Put(ctx context.Context, entries ...contextgc.Entry) ([]string, error) {
	ids := make([]string, len(entries))
	err := s.write(ctx, func(tx *sql.Tx) error {
		for i, e := range entries {
			id, err := s.put(tx, e)
			if err != nil {
				return err
			}
			ids[i] = id
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("store segments: %w", err)
	}
	return ids, nil
}

func (s *Store) put(tx *sql.Tx, e contextgc.Entry) (string, error) {
	if id, err := known(tx, e.Key); err != nil || id != "" {
		return id, err
	}
	if err := e.Complete(s.settings.Now()); err != nil {
		return "", err
	}
	if _, err := tx.Exec(`INSERT OR IGNORE INTO texts (hash, body) VALUES (?, ?)`, e.Hash[:], []byte(e.Text)); err != nil {
		return "", err
	}
	seq, err := insert(tx, e)
	if err != nil {
		return "", err
	}
	if e.ID == "" {
		if e.ID, err = nameSegment(tx, seq); err != nil {
			return "", err
		}
	}
	if err := supersede(tx, e); err != nil {
		return "", err
	}
	_, err = tx.Exec(`INSERT INTO words (rowid, text) VALUES (?, ?)`, seq, indexed(e))
	return e.ID, err
}

// known returns the id of the segment with a key, or "" if there is none.
func known(tx *sql.Tx, key []byte) (id string, err error) {
	if key == nil {
		return "", nil
	}
	err = tx.QueryRow(`SELECT id FROM segments WHERE key = ?`, key).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

func insert(tx *sql.Tx, e contextgc.Entry) (seq int64, err error) {
	tags, err := json.Marshal(e.Tags)
	if err != nil {
		return 0, err
	}
	born, err := collections(tx, e.Project)
	if err != nil {
		return 0, err
	}
	if e.Old {
		born -= contextgc.OldAfter
	}
	err = tx.QueryRow(`INSERT INTO segments (id, key, project, task, session, type, tool, path, first_line, last_line, tokens,
		bytes, created, touched, pinned, tier, born, refs, tags, topic, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
		cmp.Or(e.ID, "new"), e.Key, e.Project, e.Task, e.Session, e.Type, e.Tool, e.Path, e.FirstLine, e.LastLine, e.Tokens,
		e.Bytes, e.Created.UnixMicro(), e.Touched.UnixMicro(), e.Pinned, e.Tier, born, e.References, string(tags), e.Topic,
		e.Hash[:]).Scan(&seq)
	return seq, err
}

// nameSegment returns the id s<seq>, or the next free one if that id is taken.
func nameSegment(tx *sql.Tx, seq int64) (string, error) {
	for id := fmt.Sprintf("s%d", seq); ; id += "x" {
		res, err := tx.Exec(`UPDATE OR IGNORE segments SET id = ? WHERE seq = ?`, id, seq)
		if err != nil {
			return "", err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			return id, err
		}
	}
}

// supersede marks earlier segments with the same lines of the same file, because they may
// be out of date.
func supersede(tx *sql.Tx, e contextgc.Entry) error {
	if e.Path == "" || e.Type != contextgc.Code {
		return nil
	}
	whole := e.FirstLine == 0
	_, err := tx.Exec(`UPDATE segments SET superseded = ?1 WHERE project = ?2 AND path = ?3 AND path != '' AND id != ?1
		AND type = 'code' AND superseded = '' AND (?4 OR first_line >= ?5 AND last_line <= ?6 AND first_line > 0)`,
		e.ID, e.Project, e.Path, whole, e.FirstLine, e.LastLine)
	return err
}

// maxIndexed bounds the part of a text that is searchable, in bytes.
const maxIndexed = 1 << 20

func indexed(e contextgc.Entry) string {
	text := e.Text
	if len(text) > maxIndexed {
		text = text[:maxIndexed]
	}
	return text
}

// collections returns the number of times a project was pruned.
func collections(tx *sql.Tx, project string) (n int, err error) {
	err = tx.QueryRow(`SELECT collections FROM projects WHERE project = ?`, project).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

func fromMicro(us int64) time.Time { return time.UnixMicro(us).UTC() }
