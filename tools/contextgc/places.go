package contextgc

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Place is a point of a history at which clearings were decided. Marks identify it: hashes of the results and words that
// stand there. A client that edits some of them leaves the others, and one is enough to recognise the place.
type Place struct {
	ID     [32]byte   // of the decision
	Parent [32]byte   // the latest decision before it in the history; zero: none
	Marks  [][32]byte // none of them belongs to another place
}

// ErrDecided means that another decision was stored for a place first. That one is in force.
var ErrDecided = errors.New("the place is decided already")

// Heads returns, for each known mark among marks, the latest decision in force at its place; zero: none. What a mark
// leads to never changes.
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

func headsOf(ctx context.Context, db querier, marks [][32]byte) (map[[32]byte][32]byte, error) {
	list := make([]string, len(marks))
	for i, m := range marks {
		list[i] = hex.EncodeToString(m[:])
	}
	encoded, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT mark, head FROM places WHERE mark IN (SELECT unhex(value) FROM json_each(?))`, string(encoded))
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

// Settle stores that nothing was decided at the places with some marks: the decisions in force there are those of earlier
// places. Marks that are known already keep their meaning.
func (s *Store) Settle(ctx context.Context, heads map[[32]byte][32]byte) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		return s.settle(tx, heads)
	})
	if err != nil {
		return fmt.Errorf("store places: %w", err)
	}
	return nil
}

// settledAtOnce is the number of rows in one statement: parsing a statement costs more than adding a row.
const settledAtOnce = 64

func (s *Store) settle(tx *sql.Tx, heads map[[32]byte][32]byte) error {
	now := s.settings.Now().UnixMicro()
	var values []any
	store := func() error {
		if len(values) == 0 {
			return nil
		}
		rows := strings.TrimSuffix(strings.Repeat("(?, ?, ?), ", len(values)/3), ", ")
		_, err := tx.Exec(`INSERT INTO places (mark, head, created) VALUES `+rows+` ON CONFLICT DO NOTHING`, values...)
		values = values[:0]
		return err
	}
	for mark, head := range heads {
		values = append(values, mark[:], head[:], now)
		if len(values) == 3*settledAtOnce {
			if err := store(); err != nil {
				return err
			}
		}
	}
	return store()
}
