package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// Shown gives out the ids that a proxy shows instead of texts that the ledger in the same database has. They are recovered
// like any other original, and live as long as the ledger has the text.
type Shown struct{ DB *postgres.DB }

// Claim stores entries under new ids with one statement. The ledger has their texts already.
func (s Shown) Claim(ctx context.Context, entries ...archive.Entry) (ids []string, err error) {
	if len(entries) == 0 {
		return nil, nil
	}
	ids = make([]string, len(entries))
	hashes, projects, lines := make([][]byte, len(entries)), make([]string, len(entries)), make([]int, len(entries))
	for i, e := range entries {
		sum := e.Sum()
		hashes[i], projects[i], lines[i] = sum[:], postgres.Text(e.Project), e.FirstLine()
	}
	err = s.DB.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		for {
			for i := range ids {
				ids[i] = recovery.ShortID()
			}
			_, err := q.Exec(ctx, `INSERT INTO mcp_pruner.originals (subject, id, hash, project, first_line)
				SELECT $1, e.* FROM unnest($2::text[], $3::bytea[], $4::text[], $5::int[]) AS e`, subject.Of(ctx), ids, hashes, projects, lines)
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
	_ = s.DB.Read(context.WithoutCancel(ctx), func(ctx context.Context, q postgres.Querier) error { // a forgotten one goes with its text
		_, err := q.Exec(ctx, `DELETE FROM mcp_pruner.originals WHERE subject = $1 AND id = $2 AND expires_at IS NULL`, subject.Of(ctx), id)
		return err
	})
}

// Find returns the entry of an id of the context's subject, or archive.ErrNotFound.
func (s Shown) Find(ctx context.Context, id string) (archive.Entry, error) {
	if !archive.ID().MatchString(id) {
		return archive.Entry{}, archive.ErrNotFound
	}
	var hash []byte
	var project string
	var first int
	err := s.DB.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		return q.QueryRow(ctx, `SELECT hash, project, first_line FROM mcp_pruner.originals WHERE subject = $1 AND id = $2 AND (expires_at IS NULL OR expires_at > now())`,
			subject.Of(ctx), id).Scan(&hash, &project, &first)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return archive.Entry{}, archive.ErrNotFound
	case err != nil:
		return archive.Entry{}, fmt.Errorf("find an original: %w", err)
	}
	return archive.NewEntry([32]byte(hash), s.DB.Name(), project, first), nil
}

// Text returns the text with an id of the context's subject and the number of its first line, or archive.ErrNotFound.
func (s Shown) Text(ctx context.Context, id string) (text string, first int, err error) {
	if e, err := s.Find(ctx, id); err != nil {
		return "", 0, err
	} else {
		first = e.FirstLine()
	}
	b := &backend{db: s.DB, limits: recovery.Settings{Report: func(string) {}}}
	text, ok, err := b.Get(ctx, id, time.Time{})
	if err == nil && !ok {
		err = archive.ErrNotFound
	}
	return text, first, err
}
