package contextgc

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
)

// Clearing is the decision to show a stub instead of a result, in every history that
// contains the result and passes the place of the decision. Decisions never change, so the
// same history is always sent as the same bytes.
type Clearing struct {
	Item    [32]byte // hash of the result
	Since   [32]byte // id of the place
	Parent  [32]byte // id of the latest place before it with a decision; zero: none
	Segment string   // id of the segment with the result's text
	Stub    string
	Tokens  int
	Free    bool // the provider's cache had expired, so clearing cost nothing
}

// Clear stores the decisions made at one place and returns them, except those about pinned
// segments, which are not cleared. It returns ErrDecided and stores nothing if one of the
// place's marks is known.
func (s *Store) Clear(ctx context.Context, place Place, list []Clearing) ([]Clearing, error) {
	var holds []Clearing
	err := s.write(ctx, func(tx *sql.Tx) error {
		holds = nil
		if known, err := headsOf(ctx, tx, place.Marks); err != nil || len(known) > 0 {
			return cmp.Or(err, ErrDecided)
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
func (s *Store) found(tx *sql.Tx, place Place, decided bool) error {
	head := place.Parent
	if decided {
		head = place.ID
		if _, err := tx.Exec(`INSERT INTO decisions (since, parent) VALUES (?, ?)`, place.ID[:], place.Parent[:]); err != nil {
			return err
		}
	}
	heads := make(map[[32]byte][32]byte, len(place.Marks))
	for _, mark := range place.Marks {
		heads[mark] = head
	}
	return s.settle(tx, heads)
}

func (s *Store) clear(tx *sql.Tx, c Clearing) (stored bool, err error) {
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

// Clearings returns the decisions stored after the one with number after, and the number of
// the last one.
func (s *Store) Clearings(ctx context.Context, after int64) ([]Clearing, int64, error) {
	rows, err := s.file.DB().QueryContext(ctx, `SELECT `+clearingColumns+` FROM clearings JOIN decisions USING (since) WHERE seq > ? ORDER BY seq`, after)
	if err != nil {
		return nil, after, fmt.Errorf("read clearings: %w", err)
	}
	list, last, err := scanClearings(rows)
	return list, max(after, last), err
}

const clearingColumns = "seq, item, since, parent, segment, stub, tokens, free"

func scanClearings(rows *sql.Rows) (list []Clearing, last int64, err error) {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c Clearing
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

// Pinned returns the keys of pinned segments that have a key.
func (s *Store) Pinned(ctx context.Context) (map[[32]byte]bool, error) {
	rows, err := s.file.DB().QueryContext(ctx, `SELECT key FROM segments WHERE pinned AND length(key) = 32`)
	if err != nil {
		return nil, fmt.Errorf("list pins: %w", err)
	}
	defer func() { _ = rows.Close() }()
	pinned := make(map[[32]byte]bool)
	for rows.Next() {
		var key []byte
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		pinned[[32]byte(key)] = true
	}
	return pinned, rows.Err()
}
