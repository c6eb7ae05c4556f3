package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// querier is a file or a database, or a transaction in one. Statements are written once, as PostgreSQL reads them, and parameters
// and columns have Go's types: each querier puts them into its own form. The zero time is stored as none. In a database a text
// loses what its columns cannot hold, unless it is an owner or raw.
type querier interface {
	// shared reports whether it is a database, in which each subject has rows of its own.
	shared() bool
	// exec returns the number of rows that a statement changed.
	exec(ctx context.Context, statement string, args ...any) (int64, error)
	// each calls scan for each row of the answer to a statement.
	each(ctx context.Context, scan func(row) error, statement string, args ...any) error
}

// row reads the columns of a row into variables.
type row func(into ...any) error

// place is a file, or a database, in which one kind of state is kept.
type place interface {
	shared() bool
	// read does work that only reads.
	read(ctx context.Context, work func(context.Context, querier) error) error
	// once does work that is one statement.
	once(ctx context.Context, work func(context.Context, querier) error) error
	// write does work in one transaction.
	write(ctx context.Context, work func(context.Context, querier) error) error
}

// collect returns what scan makes of each row.
func collect[T any](ctx context.Context, q querier, scan func(row) (T, error), statement string, args ...any) (all []T, err error) {
	err = q.each(ctx, func(r row) error {
		one, err := scan(r)
		all = append(all, one)
		return err
	}, statement, args...)
	return all, err
}

// column is a scan for rows with one column.
func column[T any](r row) (v T, err error) {
	err = r(&v)
	return v, err
}

// first reads the first row of an answer. found is false if there is none.
func first(ctx context.Context, q querier, into []any, statement string, args ...any) (found bool, err error) {
	err = q.each(ctx, func(r row) error {
		if found {
			return nil
		}
		found = true
		return r(into...)
	}, statement, args...)
	return found, err
}

// readFirst is first in a place.
func readFirst(ctx context.Context, p place, into []any, statement string, args ...any) (found bool, err error) {
	err = p.read(ctx, func(ctx context.Context, q querier) error {
		found, err = first(ctx, q, into, statement, args...)
		return err
	})
	return found, err
}

// readAll is collect in a place.
func readAll[T any](ctx context.Context, p place, scan func(row) (T, error), statement string, args ...any) (all []T, err error) {
	err = p.read(ctx, func(ctx context.Context, q querier) error {
		all, err = collect(ctx, q, scan, statement, args...)
		return err
	})
	return all, err
}

// owner is the subject whose rows a statement is about. It is always a statement's first parameter, and "" in a file.
type owner string

// mine returns the owner of what a context's subject stores.
func mine(ctx context.Context, in interface{ shared() bool }) owner { return ownerOf(ctx, in, "") }

// ownerOf returns the owner of what is stored for a subject; "": for the context's.
func ownerOf(ctx context.Context, in interface{ shared() bool }, given string) owner {
	switch {
	case !in.shared():
		return ""
	case given != "":
		return owner(given)
	}
	return owner(agent.SubjectOf(ctx))
}

// raw is a text that has to come back byte for byte. A database stores it as bytes.
type raw string

// Scan implements [sql.Scanner].
func (r *raw) Scan(v any) error {
	switch v := v.(type) {
	case string:
		*r = raw(v)
	case []byte:
		*r = raw(v)
	default:
		return fmt.Errorf("a text is stored as %T", v)
	}
	return nil
}

// sum is the hash that a column holds.
type sum [32]byte

// Scan implements [sql.Scanner]. What is no hash is the zero hash.
func (s *sum) Scan(v any) error {
	text, _ := v.([]byte)
	*s = sum{}
	copy(s[:], text)
	return nil
}

// instant is the time that a column holds: in a file the number of microseconds since 1970.
type instant time.Time

// Scan implements [sql.Scanner].
func (i *instant) Scan(v any) error {
	*i = instant{}
	switch v := v.(type) {
	case time.Time:
		*i = instant(v.UTC())
	case int64:
		if v != 0 {
			*i = instant(time.UnixMicro(v).UTC())
		}
	}
	return nil
}

// array is the texts that a file holds as a JSON array.
type array []string

// Scan implements [sql.Scanner].
func (a *array) Scan(v any) error {
	text, _ := v.(string)
	return json.Unmarshal([]byte(text), (*[]string)(a))
}

// scanners replaces the pointers that a querier cannot scan into.
func scanners(into []any, shared bool) []any {
	all := make([]any, len(into))
	for i, v := range into {
		switch v := v.(type) {
		case *time.Time:
			all[i] = (*instant)(v)
		case *[32]byte:
			all[i] = (*sum)(v)
		case *[]string:
			all[i] = v
			if !shared {
				all[i] = (*array)(v)
			}
		default:
			all[i] = v
		}
	}
	return all
}

// database is a querier of PostgreSQL.
type database struct{ connection }

func (database) shared() bool { return true }

func (d database) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	tag, err := d.Exec(ctx, statement, d.args(args)...)
	return tag.RowsAffected(), err
}

func (d database) each(ctx context.Context, scan func(row) error, statement string, args ...any) error {
	rows, err := d.Query(ctx, statement, d.args(args)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(func(into ...any) error { return rows.Scan(scanners(into, true)...) }); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (database) args(given []any) []any {
	all := make([]any, len(given))
	for i, v := range given {
		switch v := v.(type) {
		case owner:
			all[i] = string(v)
		case string:
			all[i] = columnText(v)
		case []string:
			texts := make([]string, len(v)) // never NULL
			for n, text := range v {
				texts[n] = columnText(text)
			}
			all[i] = texts
		case []owner:
			texts := make([]string, len(v))
			for n, one := range v {
				texts[n] = string(one)
			}
			all[i] = texts
		case raw:
			all[i] = []byte(v)
		case [32]byte:
			all[i] = v[:]
		case time.Time:
			all[i] = v
			if v.IsZero() {
				all[i] = nil
			}
		default:
			all[i] = v
		}
	}
	return all
}

// columnText returns a text as a column of a database can hold it: with neither NUL nor invalid UTF-8.
func columnText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// inFile is a querier of SQLite. db is a database or a transaction.
type inFile struct {
	db interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (inFile) shared() bool { return false }

func (f inFile) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := f.db.ExecContext(ctx, fileStatement(statement), f.args(args)...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

func (f inFile) each(ctx context.Context, scan func(row) error, statement string, args ...any) (err error) {
	rows, err := f.db.QueryContext(ctx, fileStatement(statement), f.args(args)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(func(into ...any) error { return rows.Scan(scanners(into, false)...) }); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (inFile) args(given []any) []any {
	all := make([]any, len(given))
	for i, v := range given {
		switch v := v.(type) {
		case owner:
			all[i] = string(v)
		case raw:
			all[i] = string(v)
		case [32]byte:
			all[i] = v[:]
		case time.Time:
			all[i] = int64(0)
			if !v.IsZero() {
				all[i] = v.UnixMicro()
			}
		case []string, []int64:
			all[i] = toJSON(v)
		case [][]byte:
			texts := make([]string, len(v))
			for n, b := range v {
				texts[n] = hex.EncodeToString(b)
			}
			all[i] = toJSON(texts)
		default:
			all[i] = v
		}
	}
	return all
}

func toJSON(v any) string {
	text, _ := json.Marshal(v) // texts and numbers always have a form
	return string(text)
}

// fileStatement returns a statement as SQLite reads it. A file has neither a schema nor subjects: the column of the owner, which
// comes first wherever it is inserted, is left out there and is the constant ” elsewhere.
func fileStatement(statement string) string {
	if strings.Contains(statement, "(subject, ") {
		statement = withoutOwner().Replace(statement)
	}
	statement = cast().ReplaceAllString(otherWords().Replace(statement), "")
	return anyOf().ReplaceAllString(statement, "IN (SELECT CASE typeof(value) WHEN 'text' THEN unhex(value) ELSE value END FROM json_each($1))")
}

var (
	withoutOwner = sync.OnceValue(func() *strings.Replacer {
		return strings.NewReplacer("(subject, ", "(", "VALUES ($1, ", "VALUES (", "SELECT $1, ", "SELECT ")
	})
	otherWords = sync.OnceValue(func() *strings.Replacer {
		return strings.NewReplacer(
			"mcp_pruner.", "", "FOR UPDATE", "", "greatest(", "max(", "now()", "NULL",
			"created_at", "created", "touched_at", "touched", "updated_at", "updated", "expires_at", "expires", "revoked_at", "revoked",
			"c.subject", "''", "l.subject", "''", "p.subject", "''", "s.subject", "''", "t.subject", "''", "subject = $", "'' = $",
			"SELECT subject, ", "SELECT '', ", "seq, subject, ", "seq, '', ", "BY subject, ", "BY ",
		)
	})
	cast  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`::[a-z]+(\[\])?`) })
	anyOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`= ANY\((\$\d+)\)`) })
)
