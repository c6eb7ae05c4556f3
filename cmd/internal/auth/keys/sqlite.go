package keys

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
)

// Times are microseconds since 1970, 0 for none, and scopes a JSON array.
const table = `CREATE TABLE IF NOT EXISTS api_keys (
	id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, subject TEXT NOT NULL, scopes TEXT NOT NULL, created INTEGER NOT NULL,
	expires INTEGER NOT NULL, revoked INTEGER NOT NULL, note TEXT NOT NULL);`

// file keeps keys in one SQLite file.
type file struct {
	store *sqlfile.File
	now   func() time.Time
}

// OpenFile opens the keys in a file, which it creates if there is none. report is told that a damaged file was moved
// aside: nobody is known then.
func OpenFile(path string, report func(string), now func() time.Time) (Keys, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	store, err := sqlfile.Open(sqlfile.Settings{
		Path: path, Name: "the store of API keys", Patience: 10 * time.Second, Damaged: report, Now: now,
		Prepare: func(db *sql.DB) error {
			if _, err := db.Exec(table); err != nil {
				return err
			}
			var n int
			return db.QueryRow(`SELECT COUNT(*) FROM api_keys`).Scan(&n)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("open the API keys %s: %w", path, err)
	}
	return &file{store, now}, nil
}

// Add implements Keys.
func (f *file) Add(ctx context.Context, k Key, hash Hash) error {
	scopes, err := json.Marshal(k.Scopes)
	if err != nil {
		return err
	}
	if k.Created.IsZero() {
		k.Created = f.now()
	}
	var added int64
	err = f.store.Write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, k.ID, hash[:], k.Subject, string(scopes),
			toMicro(k.Created), toMicro(k.Expires), toMicro(k.Revoked), k.Note)
		if err == nil {
			added, err = res.RowsAffected()
		}
		return err
	})
	return changed("store a key", added, err, ErrTaken)
}

const fields = `id, subject, scopes, created, expires, revoked, note`

// List implements Keys.
func (f *file) List(ctx context.Context) ([]Key, error) {
	rows, err := f.store.DB().QueryContext(ctx, `SELECT `+fields+`, hash FROM api_keys ORDER BY created, id`)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []Key
	for rows.Next() {
		var hash []byte
		k, err := scanFile(rows, &hash)
		if err != nil {
			return nil, fmt.Errorf("list keys: %w", err)
		}
		copy(k.hash[:], hash)
		all = append(all, k)
	}
	return all, rows.Err()
}

func scanFile(row interface{ Scan(...any) error }, more ...any) (k Key, err error) {
	var scopes string
	var created, expires, revoked int64
	if err := row.Scan(append([]any{&k.ID, &k.Subject, &scopes, &created, &expires, &revoked, &k.Note}, more...)...); err != nil {
		return k, err
	}
	k.Created, k.Expires, k.Revoked = fromMicro(created), fromMicro(expires), fromMicro(revoked)
	return k, json.Unmarshal([]byte(scopes), &k.Scopes)
}

// Revoke implements Keys.
func (f *file) Revoke(ctx context.Context, id string) error {
	var known int64
	err := f.store.Write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE api_keys SET revoked = CASE revoked WHEN 0 THEN ? ELSE revoked END WHERE id = ?`, toMicro(f.now()), id)
		if err == nil {
			known, err = res.RowsAffected()
		}
		return err
	})
	return changed("revoke a key", known, err, ErrUnknown)
}

// Lookup implements Keys.
func (f *file) Lookup(ctx context.Context, hash Hash) (k Key, ok bool, err error) {
	k, err = scanFile(f.store.DB().QueryRowContext(ctx, `SELECT `+fields+` FROM api_keys WHERE hash = ?`, hash[:]))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Key{}, false, nil
	case err != nil:
		return Key{}, false, fmt.Errorf("look up a key: %w", err)
	}
	return k, true, nil
}

// Close implements Keys.
func (f *file) Close() error { return f.store.Close() }

func toMicro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicro(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
