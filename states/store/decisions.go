package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// deciding is the lock under which decisions get their numbers in a database: without it one with a smaller number could become
// visible after one with a larger number, and a replica would never read it. It ends with the transaction.
const deciding = 0x6d70_7275_6e65_64

// Clear implements contextgc.Decisions. Of replicas that decide at the same place at the same time the first one to store its
// marks holds: they are unique.
func (l *Ledger) Clear(ctx context.Context, place contextgc.Place, list []contextgc.Clearing) (holds []contextgc.Clearing, err error) {
	if len(list) == 0 {
		return nil, l.stay(ctx, place)
	}
	err = l.write(ctx, func(ctx context.Context, q querier) error {
		if known, err := headsOf(ctx, q, place.Marks); err != nil || len(known) > 0 {
			return cmp.Or(err, contextgc.ErrDecided)
		}
		if q.shared() {
			if _, err := q.exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(deciding)); err != nil {
				return err
			}
		}
		if holds, err = l.clear(ctx, q, place, list); err != nil {
			return err
		}
		return l.found(ctx, q, place, len(holds) > 0)
	})
	return holds, l.failed(err, "store clearings", "clearings into the database")
}

// stay stores that nothing is decided at a place. Nearly every request waits for that, so it is one statement, which a mark that is
// there already undoes as a whole.
func (l *Ledger) stay(ctx context.Context, place contextgc.Place) error {
	err := l.once(ctx, func(ctx context.Context, q querier) error {
		_, err := l.addPlaces(ctx, q, headed(place, place.Parent), "")
		return err
	})
	switch {
	case err == nil:
		return nil
	case violates(err, "places_pkey"), isCode(err, sqlite3.SQLITE_CONSTRAINT):
		return contextgc.ErrDecided
	}
	return l.failed(err, "store a place", "a place into the database")
}

// headed returns what the marks of a place lead to.
func headed(place contextgc.Place, head [32]byte) map[[32]byte][32]byte {
	heads := make(map[[32]byte][32]byte, len(place.Marks))
	for _, mark := range place.Marks {
		heads[mark] = head
	}
	return heads
}

// found stores a place, with its own decision or that of its parent, unless another replica has stored it meanwhile.
func (l *Ledger) found(ctx context.Context, q querier, place contextgc.Place, decided bool) error {
	head := place.Parent
	if decided {
		head = place.ID
		if _, err := q.exec(ctx, `INSERT INTO mcp_pruner.decisions (since, parent, why, pays) VALUES ($1, $2, $3, $4) ON CONFLICT (since) DO NOTHING`,
			place.ID, place.Parent, place.Why, place.Pays); err != nil {
			return err
		}
	}
	heads := headed(place, head)
	stored, err := l.addPlaces(ctx, q, heads, keepPlaces)
	if err == nil && stored < int64(len(heads)) {
		return contextgc.ErrDecided
	}
	return err
}

// clear stores clearings, but of no pinned segment, and returns those that it has stored. It takes two round trips.
func (l *Ledger) clear(ctx context.Context, q querier, place contextgc.Place, list []contextgc.Clearing) (holds []contextgc.Clearing, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	var stored [][]byte
	for batch := range slices.Chunk(list, rowsAtOnce) {
		var rows rowsOf
		args := []any{mine(ctx, q), place.ID, l.now()}
		for n, c := range batch {
			rows.add(len(args), "%d, $%d::bytea, $%d::text, $%d::bytea, $%d::bigint, $%d::boolean", n)
			args = append(args, c.Item, c.Segment, raw(c.Stub), int64(c.Tokens), c.Free)
		}
		items, err := collect(ctx, q, column[[]byte], `WITH c (n, item, segment, stub, tokens, free) AS (VALUES `+rows.String()+`)
			INSERT INTO mcp_pruner.clearings (subject, item, since, segment, stub, tokens, free, created_at)
			SELECT $1, c.item, $2::bytea, c.segment, c.stub, c.tokens, c.free, $3::timestamptz FROM c
			WHERE NOT EXISTS (SELECT 1 FROM mcp_pruner.segments s WHERE s.key = c.item AND s.pinned) ORDER BY c.n
			ON CONFLICT (item, since) DO NOTHING RETURNING item`, args...)
		if err != nil {
			return nil, err
		}
		for _, c := range batch {
			if slices.ContainsFunc(items, func(item []byte) bool { return bytes.Equal(item, c.Item[:]) }) {
				c.Since, c.Parent = place.ID, place.Parent
				holds = append(holds, c)
			}
		}
		stored = append(stored, items...)
	}
	if len(stored) == 0 {
		return nil, nil
	}
	_, err = q.exec(ctx, `UPDATE mcp_pruner.segments SET tier = 'stashed' WHERE key = ANY($1)`, stored)
	return holds, err
}

// Clearings implements contextgc.Decisions.
func (l *Ledger) Clearings(ctx context.Context, after int64) (list []contextgc.Clearing, last int64, pinned map[[32]byte]bool, err error) {
	err = l.read(ctx, func(ctx context.Context, q querier) error {
		last, pinned = after, make(map[[32]byte]bool)
		list, err = collect(ctx, q, clearingAt(&last), `SELECT seq, item, since, parent, segment, stub, tokens, free FROM mcp_pruner.clearings
			JOIN mcp_pruner.decisions USING (since) WHERE seq > $1 ORDER BY seq`, after)
		if err != nil {
			return err
		}
		return q.each(ctx, func(r row) error {
			var key [32]byte
			err := r(&key)
			pinned[key] = true
			return err
		}, `SELECT key FROM mcp_pruner.segments WHERE pinned AND length(key) = 32`)
	})
	if err != nil {
		return nil, after, nil, l.failed(err, "read clearings", "read clearings of the database")
	}
	return list, last, pinned, nil
}

// Count implements contextgc.Decisions.
func (l *Ledger) Count(ctx context.Context, upTo int64) (n int64, err error) {
	_, err = readFirst(ctx, l, []any{&n}, `SELECT COUNT(*) FROM mcp_pruner.clearings WHERE seq <= $1`, upTo)
	return n, l.failed(err, "count clearings", "count clearings of the database")
}

// Last implements contextgc.Decisions.
func (l *Ledger) Last(ctx context.Context) (last int64, err error) {
	_, err = readFirst(ctx, l, []any{&last}, `SELECT COALESCE(MAX(seq), 0) FROM mcp_pruner.clearings`)
	return last, l.failed(err, "count clearings", "count clearings of the database")
}

const (
	chainInFile = `WITH RECURSIVE chain AS (SELECT since, parent FROM decisions WHERE since = ANY($1)
		UNION SELECT d.since, d.parent FROM decisions d JOIN chain c ON d.since = c.parent)
		SELECT seq, item, since, parent, segment, stub, tokens, free FROM clearings JOIN chain USING (since) ORDER BY seq`
	// LATERAL with OFFSET keeps the planner, which expects many more decisions, from reading both tables as a whole.
	chainInDatabase = `WITH RECURSIVE chain AS (SELECT since, parent FROM mcp_pruner.decisions WHERE since = ANY($1)
		UNION SELECT d.* FROM chain, LATERAL (SELECT since, parent FROM mcp_pruner.decisions d WHERE d.since = chain.parent OFFSET 0) d)
		SELECT seq, item, since, parent, segment, stub, tokens, free FROM chain, LATERAL
		(SELECT seq, item, segment, stub, tokens, free FROM mcp_pruner.clearings c WHERE c.since = chain.since OFFSET 0) c ORDER BY seq`
)

// Chain implements contextgc.Decisions.
func (l *Ledger) Chain(ctx context.Context, ids [][32]byte) (list []contextgc.Clearing, err error) {
	statement := chainInFile
	if l.db != nil {
		statement = chainInDatabase
	}
	list, err = readAll(ctx, l, clearingAt(new(int64)), statement, slicesOf(ids))
	return list, l.failed(err, "read decisions", "read decisions of the database")
}

func slicesOf(ids [][32]byte) [][]byte {
	list := make([][]byte, len(ids))
	for i := range ids {
		list[i] = ids[i][:]
	}
	return list
}

// clearingAt returns a scan for clearings that keeps the number of the last one.
func clearingAt(seq *int64) func(row) (contextgc.Clearing, error) {
	return func(r row) (c contextgc.Clearing, err error) {
		err = r(seq, &c.Item, &c.Since, &c.Parent, &c.Segment, (*raw)(&c.Stub), &c.Tokens, &c.Free)
		return c, err
	}
}

// Heads implements contextgc.Decisions.
func (l *Ledger) Heads(ctx context.Context, marks [][32]byte) (heads map[[32]byte][32]byte, err error) {
	err = l.read(ctx, func(ctx context.Context, q querier) error {
		heads, err = headsOf(ctx, q, marks)
		return err
	})
	return heads, l.failed(err, "look up places", "look up places in the database")
}

func headsOf(ctx context.Context, q querier, marks [][32]byte) (map[[32]byte][32]byte, error) {
	heads := make(map[[32]byte][32]byte)
	err := q.each(ctx, func(r row) error {
		var mark, head [32]byte
		err := r(&mark, &head)
		heads[mark] = head
		return err
	}, `SELECT mark, head FROM mcp_pruner.places WHERE mark = ANY($1)`, slicesOf(marks))
	return heads, err
}

// Settle implements contextgc.Decisions.
func (l *Ledger) Settle(ctx context.Context, heads map[[32]byte][32]byte) (all bool, err error) {
	err = l.once(ctx, func(ctx context.Context, q querier) error {
		stored, err := l.addPlaces(ctx, q, heads, keepPlaces)
		all = stored == int64(len(heads))
		return err
	})
	return all, l.failed(err, "store places", "places into the database")
}

const (
	keepPlaces = "ON CONFLICT (mark) DO NOTHING" // those that are stored already
	rowsAtOnce = 100                             // rows in one statement: SQLite compares each of its parameters with all others
)

// addPlaces stores places in the order of their marks, so that replicas wait for each other and do not lock each other out.
// conflict is what to do for a mark that is stored already; "": the statement fails.
func (l *Ledger) addPlaces(ctx context.Context, q querier, heads map[[32]byte][32]byte, conflict string) (stored int64, err error) {
	marks := make([][32]byte, 0, len(heads))
	for mark := range heads {
		marks = append(marks, mark)
	}
	slices.SortFunc(marks, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	now := l.now()
	for batch := range slices.Chunk(marks, rowsAtOnce) {
		var rows rowsOf
		args := []any{now}
		for _, mark := range batch {
			rows.add(len(args), "$%d, $%d, $1")
			args = append(args, mark, heads[mark])
		}
		n, err := q.exec(ctx, `INSERT INTO mcp_pruner.places (mark, head, created_at) VALUES `+rows.String()+" "+conflict, args...)
		stored += n
		if err != nil {
			return stored, err
		}
	}
	return stored, nil
}

// rowsOf writes the rows of VALUES.
type rowsOf struct{ strings.Builder }

// add adds a row in a form: first the given constants, then the parameters after a number of others.
func (r *rowsOf) add(after int, form string, constants ...any) {
	if r.Len() > 0 {
		r.WriteString(", ")
	}
	for n := range strings.Count(form, "$%d") {
		constants = append(constants, after+n+1)
	}
	fmt.Fprintf(r, "("+form+")", constants...)
}
