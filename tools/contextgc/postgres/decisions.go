package postgres

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// deciding is the lock under which decisions get their numbers: without it one with a smaller number could become visible
// after one with a larger number, and a replica would never read it. It ends with the transaction.
const deciding = 0x6d70_7275_6e65_64

// Clear implements contextgc.Decisions. Of replicas that decide at the same place at the same time the first one to store its
// marks holds: they are unique.
func (s *Store) Clear(ctx context.Context, place contextgc.Place, list []contextgc.Clearing) ([]contextgc.Clearing, error) {
	if len(list) == 0 {
		return nil, s.stay(ctx, place)
	}
	var holds []contextgc.Clearing
	err := s.db.Write(ctx, func(ctx context.Context, q postgres.Querier) error {
		holds = nil
		if known, err := headsOf(ctx, q, place.Marks); err != nil || len(known) > 0 {
			return cmp.Or(err, contextgc.ErrDecided)
		}
		if _, err := q.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(deciding)); err != nil {
			return err
		}
		var err error
		if holds, err = s.clear(ctx, q, place, list); err != nil {
			return err
		}
		return s.found(ctx, q, place, len(holds) > 0)
	})
	if err != nil {
		return nil, fmt.Errorf("clearings into the database: %w", err)
	}
	return holds, nil
}

// stay stores that nothing is decided at a place. Nearly every request waits for that, so it is one statement, which a mark that is
// there already undoes as a whole.
func (s *Store) stay(ctx context.Context, place contextgc.Place) error {
	err := s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		_, err := s.addPlaces(ctx, q, headed(place, place.Parent), "")
		return err
	})
	switch {
	case err == nil:
		return nil
	case postgres.Violates(err, "places_pkey"):
		return contextgc.ErrDecided
	}
	return fmt.Errorf("a place into the database: %w", err)
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
func (s *Store) found(ctx context.Context, q postgres.Querier, place contextgc.Place, decided bool) error {
	head := place.Parent
	if decided {
		head = place.ID
		if _, err := q.Exec(ctx, `INSERT INTO mcp_pruner.decisions (since, parent, why, pays) VALUES ($1, $2, $3, $4) ON CONFLICT (since) DO NOTHING`,
			place.ID[:], place.Parent[:], postgres.Text(place.Why), place.Pays); err != nil {
			return err
		}
	}
	heads := headed(place, head)
	stored, err := s.settle(ctx, q, heads)
	if err == nil && stored < int64(len(heads)) {
		return contextgc.ErrDecided
	}
	return err
}

// clear stores clearings, but of no pinned segment, and returns those that it has stored. It takes two round trips.
func (s *Store) clear(ctx context.Context, q postgres.Querier, place contextgc.Place, list []contextgc.Clearing) (holds []contextgc.Clearing, err error) {
	items, stubs := make([][]byte, len(list)), make([][]byte, len(list))
	segments, sizes, free := make([]string, len(list)), make([]int64, len(list)), make([]bool, len(list))
	for i, c := range list {
		items[i], segments[i], stubs[i], sizes[i], free[i] = c.Item[:], c.Segment, []byte(c.Stub), int64(c.Tokens), c.Free
	}
	rows, err := q.Query(ctx, `INSERT INTO mcp_pruner.clearings (subject, item, since, segment, stub, tokens, free, created_at)
		SELECT $1, c.item, $2::bytea, c.segment, c.stub, c.tokens, c.free, $3::timestamptz
		FROM unnest($4::bytea[], $5::text[], $6::bytea[], $7::bigint[], $8::boolean[]) WITH ORDINALITY AS c (item, segment, stub, tokens, free, n)
		WHERE NOT EXISTS (SELECT 1 FROM mcp_pruner.segments s WHERE s.key = c.item AND s.pinned) ORDER BY c.n
		ON CONFLICT (item, since) DO NOTHING RETURNING item`,
		subject.Of(ctx), place.ID[:], s.now(), items, segments, stubs, sizes, free)
	if err != nil {
		return nil, err
	}
	stored, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil || len(stored) == 0 {
		return nil, err
	}
	for _, c := range list {
		if slices.ContainsFunc(stored, func(item []byte) bool { return bytes.Equal(item, c.Item[:]) }) {
			c.Since, c.Parent = place.ID, place.Parent
			holds = append(holds, c)
		}
	}
	_, err = q.Exec(ctx, `UPDATE mcp_pruner.segments SET tier = 'stashed' WHERE key = ANY($1)`, stored)
	return holds, err
}

// Clearings implements contextgc.Decisions.
func (s *Store) Clearings(ctx context.Context, after int64) (list []contextgc.Clearing, last int64, pinned map[[32]byte]bool, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		last, pinned = after, make(map[[32]byte]bool)
		rows, err := q.Query(ctx, `SELECT seq, item, since, parent, segment, stub, tokens, free FROM mcp_pruner.clearings
			JOIN mcp_pruner.decisions USING (since) WHERE seq > $1 ORDER BY seq`, after)
		if err == nil {
			list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (contextgc.Clearing, error) { return scanClearing(row, &last) })
		}
		if err != nil {
			return err
		}
		rows, err = q.Query(ctx, `SELECT key FROM mcp_pruner.segments WHERE pinned AND length(key) = 32`)
		if err != nil {
			return err
		}
		var key []byte
		_, err = pgx.ForEachRow(rows, []any{&key}, func() error {
			pinned[[32]byte(key)] = true
			return nil
		})
		return err
	})
	if err != nil {
		return nil, after, nil, fmt.Errorf("read clearings of the database: %w", err)
	}
	return list, last, pinned, nil
}

// Last implements contextgc.Decisions.
func (s *Store) Last(ctx context.Context) (last int64, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		return q.QueryRow(ctx, `SELECT COALESCE(MAX(seq), 0) FROM mcp_pruner.clearings`).Scan(&last)
	})
	if err != nil {
		return 0, fmt.Errorf("count clearings of the database: %w", err)
	}
	return last, nil
}

// Chain implements contextgc.Decisions.
func (s *Store) Chain(ctx context.Context, ids [][32]byte) (list []contextgc.Clearing, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		// LATERAL with OFFSET keeps the planner, which expects many more decisions, from reading both tables as a whole.
		rows, err := q.Query(ctx, `WITH RECURSIVE chain AS (SELECT since, parent FROM mcp_pruner.decisions WHERE since = ANY($1)
			UNION SELECT d.* FROM chain, LATERAL (SELECT since, parent FROM mcp_pruner.decisions d WHERE d.since = chain.parent OFFSET 0) d)
			SELECT seq, item, since, parent, segment, stub, tokens, free FROM chain, LATERAL
			(SELECT seq, item, segment, stub, tokens, free FROM mcp_pruner.clearings c WHERE c.since = chain.since OFFSET 0) c ORDER BY seq`, bytesOf(ids))
		if err == nil {
			var seq int64
			list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (contextgc.Clearing, error) { return scanClearing(row, &seq) })
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read decisions of the database: %w", err)
	}
	return list, nil
}

func bytesOf(ids [][32]byte) [][]byte {
	list := make([][]byte, len(ids))
	for i := range ids {
		list[i] = ids[i][:]
	}
	return list
}

func scanClearing(row pgx.Row, seq *int64) (c contextgc.Clearing, err error) {
	var item, since, parent, stub []byte
	err = row.Scan(seq, &item, &since, &parent, &c.Segment, &stub, &c.Tokens, &c.Free)
	copy(c.Item[:], item)
	copy(c.Since[:], since)
	copy(c.Parent[:], parent)
	c.Stub = string(stub)
	return c, err
}

// Heads implements contextgc.Decisions.
func (s *Store) Heads(ctx context.Context, marks [][32]byte) (heads map[[32]byte][32]byte, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		heads, err = headsOf(ctx, q, marks)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look up places in the database: %w", err)
	}
	return heads, nil
}

func headsOf(ctx context.Context, q postgres.Querier, marks [][32]byte) (map[[32]byte][32]byte, error) {
	rows, err := q.Query(ctx, `SELECT mark, head FROM mcp_pruner.places WHERE mark = ANY($1)`, bytesOf(marks))
	if err != nil {
		return nil, err
	}
	heads := make(map[[32]byte][32]byte)
	var mark, head []byte
	_, err = pgx.ForEachRow(rows, []any{&mark, &head}, func() error {
		heads[[32]byte(mark)] = [32]byte(head)
		return nil
	})
	return heads, err
}

// Settle implements contextgc.Decisions.
func (s *Store) Settle(ctx context.Context, heads map[[32]byte][32]byte) (all bool, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error { // one statement
		stored, err := s.settle(ctx, q, heads)
		all = stored == int64(len(heads))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("places into the database: %w", err)
	}
	return all, nil
}

// settle stores the places that are not stored yet.
func (s *Store) settle(ctx context.Context, q postgres.Querier, heads map[[32]byte][32]byte) (stored int64, err error) {
	return s.addPlaces(ctx, q, heads, "ON CONFLICT (mark) DO NOTHING")
}

// addPlaces stores places in one statement, in the order of their marks, so that replicas wait for each other and do not lock each other
// out. conflict is what to do for a mark that is stored already; "": the statement fails.
func (s *Store) addPlaces(ctx context.Context, q postgres.Querier, heads map[[32]byte][32]byte, conflict string) (stored int64, err error) {
	if len(heads) == 0 {
		return 0, nil
	}
	marks, values := make([][]byte, 0, len(heads)), make([][]byte, 0, len(heads))
	for mark, head := range heads {
		marks, values = append(marks, mark[:]), append(values, head[:])
	}
	tag, err := q.Exec(ctx, `INSERT INTO mcp_pruner.places (mark, head, created_at)
		SELECT mark, head, $3 FROM unnest($1::bytea[], $2::bytea[]) AS given(mark, head) ORDER BY mark `+conflict, marks, values, s.now())
	return tag.RowsAffected(), err
}
