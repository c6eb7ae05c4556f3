package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Conns is the size of a process's pool.
const Conns = 4

// ErrUnavailable means that the database could not be reached a moment ago and was not asked again.
var ErrUnavailable = errors.New("the database cannot be reached")

// Database names a database.
type Database struct {
	Name string // postgres://USER@HOST:PORT/DATABASE, with libpq's words
	// Patience bounds every operation; 0: 5 seconds.
	Patience time.Duration
	// Rest is how long a database that could not be reached is left alone: calls that come meanwhile fail at once instead of
	// waiting for it one after the other; 0: 1 second.
	Rest time.Duration
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	settings Database
	pool     *pgxpool.Pool
	users    int // of the pool; guarded by open
	now      func() time.Time
	ahead    atomic.Int64 // whole seconds, as a Duration, by which the database's clock was ahead of now at the latest connection

	mu      sync.Mutex
	failing error     // why it could not be reached; nil: it can
	resting time.Time // until when it is left alone
}

// open has the databases that this process has open: each has one pool, however many stores are in it.
var open = struct {
	sync.Mutex
	databases map[Database]*DB
}{databases: make(map[Database]*DB)}

// Open returns a database without connecting to it, so that a process starts while it is away. Every new connection checks
// the version of the schema. A database that is open already is shared.
func Open(s Database) (*DB, error) {
	s.Patience, s.Rest = cmp.Or(s.Patience, 5*time.Second), cmp.Or(s.Rest, time.Second)
	open.Lock()
	defer open.Unlock()
	db := open.databases[s]
	if db == nil {
		var err error
		if db, err = connect(s); err != nil {
			return nil, err
		}
		open.databases[s] = db
	}
	db.users++
	return db, nil
}

func connect(s Database) (*DB, error) {
	c, err := poolConfig(s.Name, Conns)
	if err != nil {
		return nil, err
	}
	db := &DB{settings: s, now: time.Now}
	c.AfterConnect = db.connected
	if db.pool, err = pgxpool.NewWithConfig(context.Background(), c); err != nil {
		return nil, unparsed(err)
	}
	return db, nil
}

// Now returns the time by the database's clock, which all replicas share: those of replicas may differ.
func (db *DB) Now() time.Time { return db.now().Add(time.Duration(db.ahead.Load())) }

// compare compares the clocks.
func (db *DB) compare(at time.Time) {
	db.ahead.Store(int64(at.Sub(db.now()).Truncate(time.Second))) // the answer took a while, too
}

// measure compares the clocks anew, before anything is removed by its age: that of this process may have been set since the latest connection.
func (db *DB) measure(ctx context.Context) error {
	return db.read(ctx, func(ctx context.Context, q querier) error {
		var at time.Time
		_, err := first(ctx, q, []any{&at}, "SELECT clock_timestamp()")
		if err == nil {
			db.compare(at)
		}
		return err
	})
}

// here returns what this process's clock shows at a time by the database's clock.
func (db *DB) here(t time.Time) time.Time { return t.Add(-time.Duration(db.ahead.Load())) }

// Name returns the database's name without its password.
func (db *DB) Name() string { return Redact(db.settings.Name) }

// Close ends the connections once everybody who opened the database has closed it.
func (db *DB) Close() error {
	open.Lock()
	defer open.Unlock()
	if db.users--; db.users == 0 {
		delete(open.databases, db.settings)
		db.pool.Close()
	}
	return nil
}

// Check connects and says whether the database can be used: nil, a [VersionError], or why it cannot be reached.
func (db *DB) Check(ctx context.Context) error {
	return db.read(ctx, func(ctx context.Context, q querier) error {
		_, err := q.exec(ctx, "SELECT 1")
		return err
	})
}

// Usable returns why the database cannot be used now, or nil, within half a second.
func (db *DB) Usable(ctx context.Context) error {
	if err := db.Failing(); refused(err) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	return db.Check(ctx)
}

type connection interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

func (db *DB) shared() bool { return true }

// read implements [place]. The work is repeated once on another connection if the first one turns out to
// be dead, as after a restart of the database.
func (db *DB) read(ctx context.Context, work func(context.Context, querier) error) error {
	return db.do(ctx, func(ctx context.Context) error { return work(ctx, database{db.pool}) })
}

// once implements [place]. One statement is a transaction of its own.
func (db *DB) once(ctx context.Context, work func(context.Context, querier) error) error {
	return db.read(ctx, work)
}

func (db *DB) write(ctx context.Context, work func(context.Context, querier) error) error {
	return db.do(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error { return work(ctx, database{tx}) })
	})
}

// attempts bounds how often work is done again that another transaction or a dead connection prevented.
const attempts = 4

func (db *DB) do(ctx context.Context, work func(context.Context) error) error {
	if err := db.rests(); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, db.settings.Patience)
	defer cancel()
	var err error
	for range attempts {
		if err = work(bounded); err == nil || !again(err) {
			break
		}
	}
	if ctx.Err() == nil {
		db.noted(ctx, err)
	}
	if unfit(err) {
		err = fmt.Errorf("%w: %w", contextgc.ErrValue, err)
	}
	return err
}

// unfit reports whether err is about a value of a statement: the next statement may succeed.
func unfit(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return strings.HasPrefix(e.Code, "22") || strings.HasPrefix(e.Code, "54") // data exception, program limit exceeded
	}
	return err != nil && strings.Contains(err.Error(), "failed to encode args[") // pgx has no type for what a column's type cannot hold
}

// again reports whether work that failed changed nothing and may succeed the next time: the server undid it, or had not
// begun it.
func again(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code {
		case "40001", "40P01", "57P01", "57P05", "23503": // serialization, deadlock, ended by an administrator, idle, a text was dropped meanwhile
			return true
		}
		return false
	}
	return pgconn.SafeToRetry(err)
}

// violates reports whether err says that a row is there already which a constraint allows once only.
func violates(err error, constraint string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "23505" && e.ConstraintName == constraint
}

func (db *DB) rests() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.failing == nil || refused(db.failing) || time.Now().After(db.resting) {
		if db.failing != nil {
			db.resting = time.Now().Add(db.settings.Rest) // one tries, the others go on without
		}
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, db.failing)
}

// noted remembers whether the database could be reached. An answer of the server is an error of the work, unless it says
// that it takes no work. One whose time ran out may have taken long by itself, or waited for a connection.
func (db *DB) noted(ctx context.Context, err error) {
	reached := err == nil || !unreachable(err) || errors.Is(err, context.DeadlineExceeded) && db.answers(ctx)
	db.mu.Lock()
	defer db.mu.Unlock()
	if reached {
		db.failing = nil
		return
	}
	db.failing, db.resting = err, time.Now().Add(db.settings.Rest)
}

// answers asks the database on a connection of its own: those of the pool may all be at work.
func (db *DB) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, db.settings.Rest)
	defer cancel()
	return direct(ctx, db.settings, func(conn *pgx.Conn) error { return conn.Ping(ctx) }) == nil
}

// unreachable reports whether err means that no other work would succeed now.
func unreachable(err error) bool {
	var version *VersionError
	if errors.As(err, &version) {
		return true
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return pgconn.Timeout(err) || pgconn.SafeToRetry(err)
	}
	switch e.Code[:2] {
	case "08", "53", "57", "58": // connection, resources such as a full disk, operator, system
		return true
	}
	return refused(err)
}

// refused reports whether a server that answers would not write. It still serves what only reads, and says no at once.
func refused(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == readOnly || e.Code == diskFull)
}

const (
	readOnly = "25006"
	diskFull = "53100"
)

// Failing returns why the database could not be used at the last try, or nil.
func (db *DB) Failing() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.failing
}
