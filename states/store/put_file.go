package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Put implements contextgc.Segments.
func (l *Ledger) Put(ctx context.Context, entries ...contextgc.Entry) (ids []string, err error) {
	if l.db != nil {
		ids, err = l.putInDatabase(ctx, slices.Clone(entries))
	} else {
		ids = make([]string, len(entries))
		err = l.write(ctx, func(ctx context.Context, q querier) error {
			for i, e := range entries {
				if ids[i], err = l.putInFile(ctx, q, e); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if errors.Is(err, contextgc.ErrValue) && len(entries) > 1 { // the others may be of other subjects
		for _, e := range entries {
			_, _ = l.Put(ctx, e) // err says it
		}
	}
	return ids, l.failed(err, "store segments", "segments into the database")
}

func (l *Ledger) putInFile(ctx context.Context, q querier, e contextgc.Entry) (id string, err error) {
	if e.Key != nil {
		if found, err := first(ctx, q, []any{&id}, `SELECT id FROM segments WHERE key = $1`, e.Key); err != nil || found {
			return id, err
		}
	}
	if err := e.Complete(l.now()); err != nil {
		return "", err
	}
	if e.Called != nil { // a hook stored it
		if found, err := first(ctx, q, []any{&id}, `UPDATE segments SET key = $1 WHERE key = $2 AND hash = $3 RETURNING id`, e.Key, e.Called, e.Hash); err != nil || found {
			return id, err
		}
	}
	if _, err := q.exec(ctx, `INSERT INTO texts (hash, body) VALUES ($1, $2) ON CONFLICT DO NOTHING`, e.Hash, []byte(e.Text)); err != nil {
		return "", err
	}
	seq, err := insertSegment(ctx, q, e)
	if err != nil {
		return "", err
	}
	if e.ID == "" {
		if e.ID, err = nameSegment(ctx, q, seq); err != nil {
			return "", err
		}
	}
	if err := supersede(ctx, q, e); err != nil {
		return "", err
	}
	_, err = q.exec(ctx, `INSERT INTO words (rowid, text) VALUES ($1, $2)`, seq, e.Text[:min(len(e.Text), maxIndexed)])
	return e.ID, err
}

func insertSegment(ctx context.Context, q querier, e contextgc.Entry) (seq int64, err error) {
	born := 0
	if _, err := first(ctx, q, []any{&born}, `SELECT collections FROM projects WHERE project = $1`, e.Project); err != nil {
		return 0, err
	}
	if e.Old {
		born -= contextgc.OldAfter
	}
	_, err = first(ctx, q, []any{&seq}, `INSERT INTO segments (id, key, project, task, session, type, tool, path, first_line, last_line, tokens,
		bytes, created, touched, pinned, tier, born, refs, tags, topic, hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21) RETURNING seq`,
		cmp.Or(e.ID, "new"), e.Key, e.Project, e.Task, e.Session, string(e.Type), e.Tool, e.Path, e.FirstLine, e.LastLine, e.Tokens,
		e.Bytes, e.Created, e.Touched, e.Pinned, string(e.Tier), born, e.References, e.Tags, e.Topic, e.Hash)
	return seq, err
}

// nameSegment returns the id s<seq>, or the next free one if that id is taken.
func nameSegment(ctx context.Context, q querier, seq int64) (string, error) {
	for id := fmt.Sprintf("s%d", seq); ; id += "x" {
		if n, err := q.exec(ctx, `UPDATE OR IGNORE segments SET id = $1 WHERE seq = $2`, id, seq); err != nil || n > 0 {
			return id, err
		}
	}
}

// supersede marks earlier segments with the same lines of the same file, because they may
// be out of date.
func supersede(ctx context.Context, q querier, e contextgc.Entry) error {
	if e.Path == "" || e.Type != contextgc.Code {
		return nil
	}
	whole := e.FirstLine == 0
	_, err := q.exec(ctx, `UPDATE segments SET superseded = $1 WHERE project = $2 AND path = $3 AND path != '' AND id != $1
		AND type = 'code' AND superseded = '' AND ($4 OR first_line >= $5 AND last_line <= $6 AND first_line > 0)`,
		e.ID, e.Project, e.Path, whole, e.FirstLine, e.LastLine)
	return err
}
