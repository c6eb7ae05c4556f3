package store

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// AddUsage implements contextgc.Sessions.
func (l *Ledger) AddUsage(ctx context.Context, u contextgc.Usage) error {
	err := l.once(ctx, func(ctx context.Context, q querier) error {
		_, err := q.exec(ctx, `INSERT INTO mcp_pruner.usage AS u (subject, session, api, model, calls, input, read, written, output, before, after, cleared, updated_at)
			VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (subject, session) DO UPDATE SET
			model = excluded.model, calls = u.calls + 1, input = u.input + excluded.input, read = u.read + excluded.read,
			written = u.written + excluded.written, output = u.output + excluded.output, before = greatest(u.before, excluded.before),
			after = CASE WHEN excluded.before >= u.before THEN excluded.after ELSE u.after END,
			cleared = greatest(u.cleared, excluded.cleared), updated_at = excluded.updated_at`,
			ownerOf(ctx, q, u.Subject), u.Session, u.API, u.Model, u.Input, u.Read, u.Written, u.Output, u.Before, u.After, u.Cleared, l.now())
		return err
	})
	return l.failed(err, "store usage", "usage into the database")
}

// usages is the statement that selects the usage of an owner's sessions.
const usages = `SELECT subject, session, api, model, calls, input, read, written, output, before, after, cleared, updated_at FROM mcp_pruner.usage WHERE subject = $1`

func scanUsage(r row) (u contextgc.Usage, err error) {
	err = r(&u.Subject, &u.Session, &u.API, &u.Model, &u.Calls, &u.Input, &u.Read, &u.Written, &u.Output, &u.Before, &u.After, &u.Cleared, &u.Updated)
	return u, err
}

// Usages implements contextgc.Sessions.
func (l *Ledger) Usages(ctx context.Context) (list []contextgc.Usage, err error) {
	list, err = readAll(ctx, l, scanUsage, usages+` ORDER BY updated_at DESC`, mine(ctx, l))
	return append([]contextgc.Usage{}, list...), l.failed(err, "list usage", "list usage of the database") // never nil
}

// LastUse implements contextgc.Sessions.
func (l *Ledger) LastUse(ctx context.Context, session string) (last time.Time, err error) {
	_, err = readFirst(ctx, l, []any{&last}, `SELECT updated_at FROM mcp_pruner.usage WHERE subject = $1 AND session = $2`, mine(ctx, l), session)
	switch {
	case err != nil:
		return time.Time{}, l.failed(err, "look up a session's last use", "look up a session in the database")
	case l.db == nil || last.IsZero():
		return last, nil
	}
	return l.db.here(last).UTC(), nil
}

// AddMark implements contextgc.Sessions.
func (l *Ledger) AddMark(ctx context.Context, m contextgc.Mark) error {
	err := l.write(ctx, func(ctx context.Context, q querier) error {
		of := ownerOf(ctx, q, m.Subject)
		if m.Kind == contextgc.Compacted {
			if _, err := q.exec(ctx, `UPDATE mcp_pruner.segments SET tier = 'stashed' WHERE subject = $1 AND session = $2 AND tier = 'working' AND NOT pinned`, of, m.Session); err != nil {
				return err
			}
		}
		_, err := q.exec(ctx, `INSERT INTO mcp_pruner.marks (subject, session, project, kind, detail, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
			of, m.Session, m.Project, m.Kind, m.Detail, l.now())
		return err
	})
	return l.failed(err, "store a mark", "a mark into the database")
}

// Marks implements contextgc.Sessions.
func (l *Ledger) Marks(ctx context.Context, kind string) (list []contextgc.Mark, err error) {
	list, err = readAll(ctx, l, func(r row) (m contextgc.Mark, err error) {
		err = r(&m.Subject, &m.Session, &m.Project, &m.Kind, &m.Detail)
		return m, err
	}, `SELECT subject, session, project, kind, detail FROM mcp_pruner.marks WHERE kind = $1 ORDER BY seq`, kind)
	return list, l.failed(err, "list marks", "list marks of the database")
}

// Session returns what was cleared in a session of the context's subject, in order, and its usage. Without such a session there is
// nothing. It only reads, so that a replica that takes no writes will do.
func (l *Ledger) Session(ctx context.Context, session string) (list []contextgc.Cleared, u contextgc.Usage, err error) {
	err = l.read(ctx, func(ctx context.Context, q querier) error {
		reason, err := l.reason(ctx, q)
		if err != nil {
			return err
		}
		me := mine(ctx, q)
		if list, err = collect(ctx, q, scanCleared, `SELECT s.tool, s.path, c.stub, s.hash, c.tokens, c.created_at, `+reason+`
			FROM mcp_pruner.clearings c JOIN mcp_pruner.segments s ON s.subject = c.subject AND s.key = c.item
			JOIN mcp_pruner.decisions d ON d.since = c.since WHERE s.subject = $1 AND s.session = $2 ORDER BY c.seq`, me, session); err != nil {
			return err
		}
		all, err := collect(ctx, q, scanUsage, usages+` AND session = $2`, me, session)
		if len(all) > 0 {
			u = all[0]
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) && l.db == nil {
		return nil, u, nil
	}
	if err != nil {
		return nil, contextgc.Usage{}, l.failed(err, "read a session of the ledger", "read a session of the database")
	}
	return list, u, nil
}

// reason returns the columns of a decision d with its reason, which a file of an earlier version lacks.
func (l *Ledger) reason(ctx context.Context, q querier) (string, error) {
	has := true
	if !q.shared() {
		if _, err := first(ctx, q, []any{&has}, hasColumn, "decisions", "why"); err != nil {
			return "", err
		}
	}
	if !has {
		return "'', 0", nil
	}
	return "d.why, d.pays", nil
}

func scanCleared(r row) (c contextgc.Cleared, err error) {
	err = r(&c.Tool, &c.Path, (*raw)(&c.Stub), &c.Hash, &c.Tokens, &c.At, &c.Why, &c.Pays)
	return c, err
}
