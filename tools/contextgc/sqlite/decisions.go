package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Clear implements contextgc.Decisions.
func (s *Store) Clear(ctx context.Context, place contextgc.Place, list []contextgc.Clearing) ([]contextgc.Clearing, error) {
	var holds []contextgc.Clearing
	err := s.write(ctx, func(tx *sql.Tx) error {
		holds = nil
		if known, err := headsOf(ctx, tx, place.Marks); err != nil || len(known) > 0 {
			return cmp.Or(err, contextgc.ErrDecided)
		}
		for _, c := range list {
			c.Since, c.Parent = place.ID, place.Parent
			stored, err := s.clear(tx, c)
			if err != nil {
				return err
			}
			if stored {
				holds = append(holds, c)
			}
		}
		return s.found(tx, place, len(holds) > 0)
	})
	if err != nil {
		return nil, fmt.Errorf("store clearings: %w", err)
	}
	return holds, nil
}

// found stores a place, with its own decision or that of its parent.
func (s *Store) found(tx *sql.Tx, place contextgc.Place, decided bool) error {
	head := place.Parent
	if decided {
		head = place.ID
		if _, err := tx.Exec(`INSERT INTO decisions (since, parent, why, pays) VALUES (?, ?, ?, ?)`, place.ID[:], place.Parent[:], place.Why, place.Pays); err != nil {
			return err
		}
	}
	heads := make(map[[32]byte][32]byte, len(place.Marks))
	for _, mark := range place.Marks {
		heads[mark] = head
	}
	_, err := s.settle(tx, heads)
	return err
}

func (s *Store) clear(tx *sql.Tx, c contextgc.Clearing) (stored bool, err error) {
	res, err := tx.Exec(`INSERT INTO clearings (item, since, segment, stub, tokens, free, created)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM segments WHERE key = ?1 AND pinned)`,
		c.Item[:], c.Since[:], c.Segment, c.Stub, c.Tokens, c.Free, s.settings.Now().UnixMicro())
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	if err != nil || n == 0 {
		return false, err
	}
	_, err = tx.Exec(`UPDATE segments SET tier = 'stashed' WHERE key = ?`, c.Item[:])
	return true, err
}

// Clearings implements contextgc.Decisions.
func (s *Store) Clearings(ctx context.Context, after int64) (list []contextgc.Clearing, last int64, pinned map[[32]byte]bool, err error) {
	rows, err := s.file.DB().QueryContext(ctx, `SELECT `+clearingColumns+` FROM clearings JOIN decisions USING (since) WHERE seq > ? ORDER BY seq`, after)
	if err == nil {
		list, last, err = scanClearings(rows)
	}
	if err == nil {
		pinned, err = s.pinned(ctx)
	}
	if err != nil {
		return nil, after, nil, fmt.Errorf("read clearings: %w", err)
	}
	return list, max(after, last), pinned, nil
}

// Last implements contextgc.Decisions.
func (s *Store) Last(ctx context.Context) (last int64, err error) {
	if err := s.file.DB().QueryRowContext(ctx, `SELECT COALESCE(MAX(seq), 0) FROM clearings`).Scan(&last); err != nil {
		return 0, fmt.Errorf("count clearings: %w", err)
	}
	return last, nil
}

// Chain implements contextgc.Decisions.
func (s *Store) Chain(ctx context.Context, ids [][32]byte) (list []contextgc.Clearing, err error) {
	encoded, err := hexList(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.file.DB().QueryContext(ctx, `WITH RECURSIVE chain AS (SELECT since, parent FROM decisions WHERE since IN (SELECT unhex(value) FROM json_each(?))
		UNION SELECT d.since, d.parent FROM decisions d JOIN chain c ON d.since = c.parent)
		SELECT `+clearingColumns+` FROM clearings JOIN chain USING (since) ORDER BY seq`, encoded)
	if err == nil {
		list, _, err = scanClearings(rows)
	}
	if err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}
	return list, nil
}

const clearingColumns = "seq, item, since, parent, segment, stub, tokens, free"

func scanClearings(rows *sql.Rows) (list []contextgc.Clearing, last int64, err error) {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c contextgc.Clearing
		var item, since, parent []byte
		if err := rows.Scan(&last, &item, &since, &parent, &c.Segment, &c.Stub, &c.Tokens, &c.Free); err != nil {
			return nil, 0, err
		}
		copy(c.Item[:], item)
		copy(c.Since[:], since)
		copy(c.Parent[:], parent)
		list = append(list, c)
	}
	return list, last, rows.Err()
}

// pinned returns the keys of pinned segments that have a key.
func (s *Store) pinned(ctx context.Context) (map[[32]byte]bool, error) {
	rows, err := s.file.DB().QueryContext(ctx, `SELECT key FROM segments WHERE pinned AND length(key) = 32`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	keys := make(map[[32]byte]bool)
	for rows.Next() {
		var key []byte
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys[[32]byte(key)] = true
	}
	return keys, rows.Err()
}

// Heads implements contextgc.Decisions.
func (s *Store) Heads(ctx context.Context, marks [][32]byte) (map[[32]byte][32]byte, error) {
	heads, err := headsOf(ctx, s.file.DB(), marks)
	if err != nil {
		return nil, fmt.Errorf("look up places: %w", err)
	}
	return heads, nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// hexList returns ids as the one argument of a statement.
func hexList(ids [][32]byte) (string, error) {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = hex.EncodeToString(id[:])
	}
	encoded, err := json.Marshal(list)
	return string(encoded), err
}

func headsOf(ctx context.Context, db querier, marks [][32]byte) (map[[32]byte][32]byte, error) {
	encoded, err := hexList(marks)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT mark, head FROM places WHERE mark IN (SELECT unhex(value) FROM json_each(?))`, encoded)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	heads := make(map[[32]byte][32]byte)
	for rows.Next() {
		var mark, head []byte
		if err := rows.Scan(&mark, &head); err != nil {
			return nil, err
		}
		var m, h [32]byte
		copy(m[:], mark)
		copy(h[:], head)
		heads[m] = h
	}
	return heads, rows.Err()
}

// Settle implements contextgc.Decisions.
func (s *Store) Settle(ctx context.Context, heads map[[32]byte][32]byte) (all bool, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		stored, err := s.settle(tx, heads)
		all = stored == int64(len(heads))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("store places: %w", err)
	}
	return all, nil
}

// settledAtOnce is the number of rows in one statement: parsing a statement costs more than adding a row.
const settledAtOnce = 64

// settle returns the number of marks that it stored.
func (s *Store) settle(tx *sql.Tx, heads map[[32]byte][32]byte) (stored int64, err error) {
	now := s.settings.Now().UnixMicro()
	var values []any
	store := func() error {
		if len(values) == 0 {
			return nil
		}
		rows := strings.TrimSuffix(strings.Repeat("(?, ?, ?), ", len(values)/3), ", ")
		done, err := tx.Exec(`INSERT INTO places (mark, head, created) VALUES `+rows+` ON CONFLICT DO NOTHING`, values...)
		values = values[:0]
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		stored += n
		return err
	}
	for mark, head := range heads {
		values = append(values, mark[:], head[:], now)
		if len(values) == 3*settledAtOnce {
			if err := store(); err != nil {
				return stored, err
			}
		}
	}
	err = store()
	return stored, err
}
