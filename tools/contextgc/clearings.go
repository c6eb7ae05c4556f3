package contextgc

import (
	"context"
	"database/sql"
	"fmt"
)

// Clearing is the decision to show a stub instead of a result, in every history that
// contains the result and continues past the position of the decision. Hashes identify
// both. Decisions never change, so the same history is always sent as the same bytes.
type Clearing struct {
	Item    [32]byte // the result
	Since   [32]byte // position in the history
	Segment string   // id of the segment with the result's text
	Stub    string
	Tokens  int
	Free    bool // the provider's cache had expired, so clearing cost nothing
}

// Clear stores the decisions made at one position and returns those in force there. If
// decisions for the position exist already, these stay in force. Pinned segments are not
// cleared.
func (s *Store) Clear(ctx context.Context, since [32]byte, list []Clearing) ([]Clearing, error) {
	var holds []Clearing
	err := s.write(ctx, func(tx *sql.Tx) error {
		rows, err := tx.Query(`SELECT `+clearingColumns+` FROM clearings WHERE since = ?`, since[:])
		if err != nil {
			return err
		}
		if holds, _, err = scanClearings(rows); err != nil || len(holds) > 0 {
			return err
		}
		for _, c := range list {
			c.Since = since
			stored, err := s.clear(tx, c)
			if err != nil {
				return err
			}
			if stored {
				holds = append(holds, c)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("store clearings: %w", err)
	}
	return holds, nil
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
	rows, err := s.file.DB().QueryContext(ctx, `SELECT `+clearingColumns+` FROM clearings WHERE seq > ? ORDER BY seq`, after)
	if err != nil {
		return nil, after, fmt.Errorf("read clearings: %w", err)
	}
	list, last, err := scanClearings(rows)
	return list, max(after, last), err
}

const clearingColumns = "seq, item, since, segment, stub, tokens, free"

func scanClearings(rows *sql.Rows) (list []Clearing, last int64, err error) {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c Clearing
		var item, since []byte
		if err := rows.Scan(&last, &item, &since, &c.Segment, &c.Stub, &c.Tokens, &c.Free); err != nil {
			return nil, 0, err
		}
		copy(c.Item[:], item)
		copy(c.Since[:], since)
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
