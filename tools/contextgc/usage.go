package contextgc

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
)

// Usage is a session's token usage as reported by the API, with the modelled saving by
// clearing.
type Usage struct {
	Session string    `json:"session"`
	API     string    `json:"api"`
	Model   string    `json:"model"`
	Calls   int       `json:"calls"`
	Input   int       `json:"input_tokens"` // fresh input: neither read from nor written to the cache
	Read    int       `json:"cache_read_tokens"`
	Written int       `json:"cache_write_tokens"`
	Output  int       `json:"output_tokens"`
	Before  float64   `json:"modelled_before"` // cost of the input without clearing, in fresh tokens
	After   float64   `json:"modelled_after"`
	Cleared int       `json:"results_cleared"`
	Updated time.Time `json:"updated"`
}

// AddUsage adds one call to its session's usage. Before, After and Cleared are totals of
// the session and are not added up.
func (s *Store) AddUsage(ctx context.Context, u Usage) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO usage (session, api, model, calls, input, read, written, output, before, after, cleared, updated)
			VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session) DO UPDATE SET
			model = excluded.model, calls = calls + 1, input = input + excluded.input, read = read + excluded.read,
			written = written + excluded.written, output = output + excluded.output, before = max(before, excluded.before),
			after = CASE WHEN excluded.before >= before THEN excluded.after ELSE after END,
			cleared = max(cleared, excluded.cleared), updated = excluded.updated`,
			u.Session, u.API, u.Model, u.Input, u.Read, u.Written, u.Output, u.Before, u.After, u.Cleared,
			s.settings.Now().UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("store usage: %w", err)
	}
	return nil
}

// Usages returns the usage of every session, latest first.
func (s *Store) Usages(ctx context.Context) ([]Usage, error) {
	rows, err := s.file.DB().QueryContext(ctx, `SELECT session, api, model, calls, input, read, written, output, before, after,
		cleared, updated FROM usage ORDER BY updated DESC`)
	if err != nil {
		return nil, fmt.Errorf("list usage: %w", err)
	}
	defer func() { _ = rows.Close() }()
	list := []Usage{}
	for rows.Next() {
		var u Usage
		var updated int64
		if err := rows.Scan(&u.Session, &u.API, &u.Model, &u.Calls, &u.Input, &u.Read, &u.Written, &u.Output, &u.Before, &u.After,
			&u.Cleared, &updated); err != nil {
			return nil, err
		}
		u.Updated = fromMicro(updated)
		list = append(list, u)
	}
	return list, rows.Err()
}

// Mark is a change to a session's context that was made by the client, such as a
// compaction.
type Mark struct {
	Session, Project, Kind, Detail string
	Created                        time.Time
}

// AddMark stores a mark. If a session was compacted, its working segments become stashed,
// because they are no longer in the context.
func (s *Store) AddMark(ctx context.Context, m Mark) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		if m.Kind == Compacted {
			if _, err := tx.Exec(`UPDATE segments SET tier = 'stashed' WHERE session = ? AND tier = 'working' AND NOT pinned`, m.Session); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`INSERT INTO marks (session, project, kind, detail, created) VALUES (?, ?, ?, ?, ?)`,
			m.Session, m.Project, m.Kind, m.Detail, s.settings.Now().UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("store a mark: %w", err)
	}
	return nil
}

// Compacted is the kind of mark for a compaction.
const Compacted = "compacted"

// Largest returns the n largest segments of a session that are no longer in its context.
func (s *Store) Largest(ctx context.Context, session string, n int) ([]Segment, error) {
	rows, err := s.file.DB().QueryContext(ctx, `SELECT `+columns+fromSegments+
		`WHERE s.session = ? AND s.tier = 'stashed' AND s.superseded = '' ORDER BY s.bytes DESC, s.seq DESC LIMIT ?`, session, n)
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var list []Segment
	for rows.Next() {
		segment, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, segment)
	}
	return list, rows.Err()
}

// Bill returns the cost of the session's input, in fresh input tokens.
func (u Usage) Bill() float64 {
	p := planner.DefaultPrices()
	return float64(u.Input) + float64(u.Read)*p.Read + float64(u.Written)*p.Write
}

// Saved returns the fraction of the input's cost that clearing saved, net of its own cost;
// negative means a loss.
func (u Usage) Saved() float64 {
	if u.Before <= 0 {
		return 0
	}
	return (u.Before - u.After) / u.Before
}
