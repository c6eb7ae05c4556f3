package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

// Shown gives out the ids that a proxy shows instead of texts that the ledger in the same database has. They are recovered
// like any other original, and live as long as the ledger has the text.
type Shown struct{ DB *DB }

// Claim stores entries under new ids with one statement. The ledger has their texts already.
func (s Shown) Claim(ctx context.Context, entries ...recovery.Entry) (ids []string, err error) {
	if len(entries) == 0 {
		return nil, nil
	}
	ids = make([]string, len(entries))
	hashes, projects, lines := make([][]byte, len(entries)), make([]string, len(entries)), make([]int, len(entries))
	for i, e := range entries {
		sum := e.Sum()
		hashes[i], projects[i], lines[i] = sum[:], e.Project, e.FirstLine()
	}
	err = s.DB.read(ctx, func(ctx context.Context, q querier) error {
		for {
			for i := range ids {
				ids[i] = recovery.ShortID()
			}
			_, err := q.exec(ctx, `INSERT INTO mcp_pruner.originals (subject, id, hash, project, first_line)
				SELECT $1, e.* FROM unnest($2::text[], $3::bytea[], $4::text[], $5::int[]) AS e`, mine(ctx, q), ids, hashes, projects, lines)
			if err = taken(err); !errors.Is(err, recovery.ErrTaken) {
				return err
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("store the ids of originals: %w", err)
	}
	return ids, nil
}

// Release removes an id that was never shown to anybody.
func (s Shown) Release(ctx context.Context, id string) {
	_ = s.DB.read(context.WithoutCancel(ctx), func(ctx context.Context, q querier) error { // a forgotten one goes with its text
		_, err := q.exec(ctx, `DELETE FROM mcp_pruner.originals WHERE subject = $1 AND id = $2 AND expires_at IS NULL`, mine(ctx, q), id)
		return err
	})
}

// Find returns the entry of an id of the context's subject, or recoveryErrNotFound.
func (s Shown) Find(ctx context.Context, id string) (recovery.Entry, error) {
	if !recovery.IDPattern().MatchString(id) {
		return recovery.Entry{}, recovery.ErrNotFound
	}
	var hash [32]byte
	var project string
	var line int
	found, err := readFirst(ctx, s.DB, []any{&hash, &project, &line}, `SELECT hash, project, first_line FROM mcp_pruner.originals
		WHERE subject = $1 AND id = $2 AND (expires_at IS NULL OR expires_at > now())`, mine(ctx, s.DB), id)
	switch {
	case err != nil:
		return recovery.Entry{}, fmt.Errorf("find an original: %w", err)
	case !found:
		return recovery.Entry{}, recovery.ErrNotFound
	}
	return recovery.NewEntry(hash, s.DB.Name(), project, line), nil
}

// Text returns the text with an id of the context's subject and the number of its first line, or recoveryErrNotFound.
func (s Shown) Text(ctx context.Context, id string) (text string, line int, err error) {
	if e, err := s.Find(ctx, id); err != nil {
		return "", 0, err
	} else {
		line = e.FirstLine()
	}
	b := &sharedOriginals{db: s.DB, limits: recovery.Settings{Report: func(string) {}}}
	text, ok, err := b.Get(ctx, id, time.Time{})
	if err == nil && !ok {
		err = recovery.ErrNotFound
	}
	return text, line, err
}
