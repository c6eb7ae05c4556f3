package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Each migration is a file, applied in a transaction of its own and never changed once it was released. It begins with the oldest
// version of the schema whose programs may go on with it, so that replicas can be replaced one after the other, and back.
//
//go:embed migrations/postgres/*.sql
var migrations embed.FS

// schemaSteps returns the migrations in order. The version of a schema is the number of them that were applied.
func schemaSteps() []string {
	names, _ := fs.Glob(migrations, "migrations/postgres/*.sql") // the pattern is valid
	slices.Sort(names)
	return names
}

// saysOldest is the first migration that says it.
const saysOldest = 6

const oldestLine = "-- Oldest version that may use this schema: "

// oldestOf returns what a migration says of earlier versions. The first ones say nothing: only their own version may use the schema.
func oldestOf(text string, number int) (oldest int, err error) {
	line, _, _ := strings.Cut(text, "\n")
	said, ok := strings.CutPrefix(line, oldestLine)
	if !ok {
		return number, nil
	}
	if oldest, err = strconv.Atoi(said); err == nil && (oldest < 1 || oldest > number) {
		err = fmt.Errorf("%d is no version up to %d", oldest, number)
	}
	return oldest, err
}

// Latest returns the version of the schema that this program uses.
func Latest() int { return len(schemaSteps()) }

// VersionError says that a database's schema is not the one that this program uses.
type VersionError struct {
	Has, Want int

	oldest int // version whose programs may use what it has
}

func (e *VersionError) Error() string {
	switch {
	case e.Has == 0:
		return "the database has no schema of mcp-pruner yet: run \"mcp-pruner store migrate\""
	case e.Has < e.Want:
		return fmt.Sprintf("the database's schema has version %d, and this program needs %d: run \"mcp-pruner store migrate\"", e.Has, e.Want)
	}
	return fmt.Sprintf("the database's schema has version %d, which programs from version %d on can use, and this program knows versions up to %d only: use a newer mcp-pruner",
		e.Has, e.oldest, e.Want)
}

// migrating is the advisory lock under which a schema is migrated.
const migrating = 0x6d70_7275_6e65_72 // "mpruner"

// version returns the version of a database's schema, 0 if it has none, the oldest one whose programs may use it, and the database's
// time. Schemas before version 6 have no column for the oldest.
func version(ctx context.Context, q connection) (n, oldest int, at time.Time, err error) {
	err = q.QueryRow(ctx, `SELECT COALESCE(MAX(version), 0), COALESCE(MAX(COALESCE((to_jsonb(s) ->> 'oldest')::int, version)), 0), clock_timestamp()
		FROM mcp_pruner.schema s`).Scan(&n, &oldest, &at)
	var e *pgconn.PgError
	if errors.As(err, &e) && (e.Code == "42P01" || e.Code == "3F000") { // undefined table, invalid schema
		return 0, 0, at, nil
	}
	return n, oldest, at, err
}

// usable returns a [VersionError] unless this program may use a schema.
func usable(has, oldest int) error {
	if has < Latest() || oldest > Latest() {
		return &VersionError{Has: has, Want: Latest(), oldest: oldest}
	}
	return nil
}

// connected checks the version of the schema on a new connection, and compares the clocks.
func (db *DB) connected(ctx context.Context, conn *pgx.Conn) error {
	n, oldest, at, err := version(ctx, conn)
	if err == nil {
		err = usable(n, oldest)
	}
	if err == nil {
		db.compare(at)
	}
	return err
}

// Status is the state of a database.
type Status struct {
	Server  string `json:"server"`         // its version
	Version int    `json:"schema_version"` // 0: none
	Bytes   int64  `json:"bytes"`          // of the schema's tables
	Refused error  `json:"-"`              // why this program cannot use the schema; nil: it can

	Subjects  int64 `json:"subjects"` // that have texts
	Texts     int64 `json:"texts"`
	Originals int64 `json:"originals"`
	Segments  int64 `json:"segments"`
	Decisions int64 `json:"decisions"`
	Keys      int64 `json:"keys"`
	Revoked   int64 `json:"revoked_keys"`
}

// Inspect returns the status of a database, whatever its schema is.
func Inspect(ctx context.Context, s Database) (st Status, err error) {
	err = direct(ctx, s, func(conn *pgx.Conn) error {
		var oldest int
		if st.Version, oldest, _, err = version(ctx, conn); err != nil {
			return err
		}
		if err = conn.QueryRow(ctx, `SELECT current_setting('server_version'), COALESCE((SELECT SUM(pg_total_relation_size(c.oid))::bigint FROM pg_class c
			JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'mcp_pruner' AND c.relkind = 'r'), 0)`).Scan(&st.Server, &st.Bytes); err != nil {
			return err
		}
		if st.Refused = usable(st.Version, oldest); st.Refused != nil {
			return nil
		}
		return conn.QueryRow(ctx, `SELECT (SELECT COUNT(DISTINCT subject) FROM mcp_pruner.texts), (SELECT COUNT(*) FROM mcp_pruner.texts), (SELECT COUNT(*) FROM mcp_pruner.originals),
			(SELECT COUNT(*) FROM mcp_pruner.segments), (SELECT COUNT(*) FROM mcp_pruner.clearings), (SELECT COUNT(*) FROM mcp_pruner.api_keys),
			(SELECT COUNT(*) FROM mcp_pruner.api_keys WHERE revoked_at IS NOT NULL)`).
			Scan(&st.Subjects, &st.Texts, &st.Originals, &st.Segments, &st.Decisions, &st.Keys, &st.Revoked)
	})
	return st, err
}

// Migrate brings a database's schema to the latest version and returns the versions before and after. Others that migrate
// at the same time wait.
func Migrate(ctx context.Context, s Database) (from, to int, err error) {
	err = direct(ctx, s, func(conn *pgx.Conn) error {
		first := true
		for {
			done, now, err := step(ctx, conn)
			if first {
				from, first = now, false
			}
			to = now
			if err != nil || done {
				return err
			}
		}
	})
	return from, to, err
}

// step applies the next migration under the lock, which the end of the transaction releases.
func step(ctx context.Context, conn *pgx.Conn) (done bool, before int, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrating)); err != nil {
			return err
		}
		var there bool
		oldest := 0
		if err := tx.QueryRow(ctx, "SELECT to_regclass('mcp_pruner.schema') IS NOT NULL").Scan(&there); err != nil {
			return err
		}
		if there {
			if before, oldest, _, err = version(ctx, tx); err != nil {
				return err
			}
		}
		all := schemaSteps()
		switch {
		case before >= len(all):
			done = true
			return usable(before, oldest)
		}
		return apply(ctx, tx, all[before], before+1)
	})
	return done, before, err
}

func apply(ctx context.Context, tx pgx.Tx, file string, number int) error {
	text, err := migrations.ReadFile(file)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, string(text), pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("migration %s: %w", strings.TrimSuffix(path.Base(file), ".sql"), err)
	}
	oldest, err := oldestOf(string(text), number)
	if err != nil {
		return fmt.Errorf("migration %s: %w", file, err)
	}
	if _, err = tx.Exec(ctx, "INSERT INTO mcp_pruner.schema (version) VALUES ($1)", number); err != nil || number < saysOldest {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE mcp_pruner.schema SET oldest = $1 WHERE version = $2", oldest, number)
	return err
}

// direct does work on a connection of its own, whatever the version of the schema is.
func direct(ctx context.Context, s Database, work func(*pgx.Conn) error) error {
	c, err := poolConfig(s.Name, 1)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, c.ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // its work is done
	return work(conn)
}
