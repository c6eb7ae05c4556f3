package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// Copied counts what a copy added.
type Copied struct{ Segments, Decisions, Sessions int }

// readPatience is the time for which a copy waits for a writer of the file.
const readPatience = 10 * time.Second

// Copy adds what the ledger in an SQLite file has, which it does not change, to the ledger of the context's subject. What is
// there already stays as it is, so that a copy that was interrupted may be repeated. Decisions are copied for the owner of the
// machine alone: for another subject their hashes are different.
func (s *Store) Copy(ctx context.Context, file string) (n Copied, err error) {
	err = sqlfile.Read(file, readPatience, func(from *sql.DB) error {
		if n.Segments, err = s.copySegments(ctx, from); err != nil {
			return err
		}
		if subject.Of(ctx) == "" {
			if n.Decisions, err = s.copyDecisions(ctx, from); err != nil {
				return err
			}
		}
		n.Sessions, err = s.copyUsage(ctx, from)
		return err
	})
	if err != nil {
		return n, fmt.Errorf("copy the ledger %s: %w", file, err)
	}
	return n, nil
}

// copySegments copies segments by batches, in their order.
func (s *Store) copySegments(ctx context.Context, from *sql.DB) (n int, err error) {
	for last := int64(0); ; {
		entries, next, err := readEntries(ctx, from, last)
		if err != nil || len(entries) == 0 {
			return n, err
		}
		var fresh []contextgc.Entry
		err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
			fresh = nil
			for _, e := range entries {
				there, err := has(ctx, q, e)
				if err != nil {
					return err
				}
				if !there {
					fresh = append(fresh, e)
				}
			}
			return nil
		})
		if err == nil {
			_, err = s.put(ctx, fresh)
		}
		if err != nil {
			return n, err
		}
		n, last = n+len(fresh), next
	}
}

// has reports whether a segment was copied before.
func has(ctx context.Context, q postgres.Querier, e contextgc.Entry) (there bool, err error) {
	if err := e.Complete(time.Time{}); err != nil {
		return false, err
	}
	err = q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM mcp_pruner.segments WHERE subject = $1 AND hash = $2 AND project = $3 AND created_at = $4 AND tool = $5)`,
		subject.Of(ctx), e.Hash[:], e.Project, e.Created, postgres.Text(e.Tool)).Scan(&there)
	return there, err
}

func readEntries(ctx context.Context, from *sql.DB, after int64) (entries []contextgc.Entry, last int64, err error) {
	rows, err := from.QueryContext(ctx, `SELECT s.seq, s.id, s.key, s.project, s.task, s.session, s.type, s.tool, s.path, s.first_line, s.last_line, s.tokens,
		s.created, s.touched, s.pinned, s.tier, s.refs, s.tags, s.topic, t.body FROM segments s JOIN texts t ON t.hash = s.hash WHERE s.seq > ? ORDER BY s.seq LIMIT ?`, after, batchOf)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var e contextgc.Entry
		var created, touched int64
		var tags string
		var body []byte
		if err := rows.Scan(&last, &e.ID, &e.Key, &e.Project, &e.Task, &e.Session, &e.Type, &e.Tool, &e.Path, &e.FirstLine, &e.LastLine, &e.Tokens,
			&created, &touched, &e.Pinned, &e.Tier, &e.References, &tags, &e.Topic, &body); err != nil {
			return nil, 0, err
		}
		e.Created, e.Touched, e.Text = time.UnixMicro(created).UTC(), time.UnixMicro(touched).UTC(), string(body)
		if err := json.Unmarshal([]byte(tags), &e.Tags); err != nil {
			return nil, 0, fmt.Errorf("tags of %s: %w", e.ID, err)
		}
		entries = append(entries, e)
	}
	return entries, last, rows.Err()
}

// copyTable copies rows by a statement that adds one.
func (s *Store) copyTable(ctx context.Context, from *sql.DB, read string, columns int, add string) (n int, err error) {
	rows, err := from.QueryContext(ctx, read)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	for more := rows.Next(); more; {
		added := 0
		var batch [][]any
		for ; more && len(batch) < batchOf; more = rows.Next() {
			values, pointers := make([]any, columns), make([]any, columns)
			for i := range values {
				pointers[i] = &values[i]
			}
			if err := rows.Scan(pointers...); err != nil {
				return n, err
			}
			batch = append(batch, values)
		}
		err := s.db.Write(ctx, func(ctx context.Context, q postgres.Querier) error {
			added = 0
			for _, values := range batch {
				tag, err := q.Exec(ctx, add, values...)
				if err != nil {
					return err
				}
				added += int(tag.RowsAffected())
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		n += added
	}
	return n, rows.Err()
}

// copyDecisions copies places last: one that is known must have its decisions.
func (s *Store) copyDecisions(ctx context.Context, from *sql.DB) (n int, err error) {
	reason := "'', 0"
	if has, err := sqlfile.HasColumn(ctx, from, "decisions", "why"); err != nil {
		return 0, err
	} else if has {
		reason = "why, pays"
	}
	n, err = s.copyTable(ctx, from, `SELECT item, since, segment, CAST(stub AS BLOB), tokens, free, created FROM clearings ORDER BY seq`, 7,
		`INSERT INTO mcp_pruner.clearings (subject, item, since, segment, stub, tokens, free, created_at)
		VALUES ('', $1, $2, $3, $4, $5, $6::int != 0, to_timestamp($7::bigint / 1e6)) ON CONFLICT (item, since) DO NOTHING`)
	if err == nil {
		_, err = s.copyTable(ctx, from, `SELECT since, parent, `+reason+` FROM decisions`, 4,
			`INSERT INTO mcp_pruner.decisions (since, parent, why, pays) VALUES ($1, $2, $3, $4) ON CONFLICT (since) DO NOTHING`)
	}
	if err == nil {
		_, err = s.copyTable(ctx, from, `SELECT mark, head, created FROM places`, 3,
			`INSERT INTO mcp_pruner.places (mark, head, created_at) VALUES ($1, $2, to_timestamp($3::bigint / 1e6)) ON CONFLICT (mark) DO NOTHING`)
	}
	return n, err
}

func (s *Store) copyUsage(ctx context.Context, from *sql.DB) (n int, err error) {
	rows, err := from.QueryContext(ctx, `SELECT session, api, model, calls, input, read, written, output, before, after, cleared, updated FROM usage`)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var u contextgc.Usage
		var updated int64
		if err := rows.Scan(&u.Session, &u.API, &u.Model, &u.Calls, &u.Input, &u.Read, &u.Written, &u.Output, &u.Before, &u.After, &u.Cleared, &updated); err != nil {
			return n, err
		}
		err := s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
			tag, err := q.Exec(ctx, `INSERT INTO mcp_pruner.usage (subject, session, api, model, calls, input, read, written, output, before, after, cleared, updated_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (subject, session) DO NOTHING`, subject.Of(ctx), postgres.Text(u.Session), u.API,
				postgres.Text(u.Model), u.Calls, u.Input, u.Read, u.Written, u.Output, u.Before, u.After, u.Cleared, time.UnixMicro(updated))
			n += int(tag.RowsAffected())
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, rows.Err()
}
