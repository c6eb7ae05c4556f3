package store

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Names reports whether a store's name is that of a database rather than of a file.
func Names(store string) bool {
	return strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://")
}

// passwordFile is the one word of a name that libpq does not know: a file that holds only the password, as orchestrators
// mount secrets.
const passwordFile = "password_file"

// connectWithin is how long a connection may take to be made.
const connectWithin = 3 * time.Second

// maxPassword bounds a password's file.
const maxPassword = 4096

// poolConfig reads a database's name, with libpq's words, PGPASSFILE and password_file. Nothing in it depends on the state
// of a session, so that a pgbouncer may stand between.
func poolConfig(name string, conns int32) (*pgxpool.Config, error) {
	bare, password, err := filePassword(name)
	if err != nil {
		return nil, err
	}
	c, err := pgxpool.ParseConfig(bare)
	if err != nil {
		return nil, unparsed(err)
	}
	if password != "" {
		c.ConnConfig.Password = password
	}
	c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	c.ConnConfig.StatementCacheCapacity, c.ConnConfig.DescriptionCacheCapacity = 0, 0
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = connectWithin
	}
	given, _ := url.Parse(bare) // was parsed before
	if !given.Query().Has("pool_max_conns") {
		c.MaxConns = conns
	}
	if !given.Query().Has("pool_max_conn_idle_time") {
		c.MaxConnIdleTime = 10 * time.Minute
	}
	return c, nil
}

// filePassword takes password_file out of a name and reads it.
func filePassword(name string) (bare, password string, err error) {
	u, err := url.Parse(name)
	if err != nil {
		return "", "", errors.New("the name of the database is not a URL: want postgres://USER@HOST:PORT/DATABASE")
	}
	q := u.Query()
	file := q.Get(passwordFile)
	if file == "" {
		return name, "", nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", passwordFile, err)
	}
	if len(raw) > maxPassword {
		return "", "", fmt.Errorf("%s: %s has more than %d bytes", passwordFile, file, maxPassword)
	}
	q.Del(passwordFile)
	u.RawQuery = q.Encode()
	return u.String(), strings.TrimRight(string(raw), "\r\n"), nil
}

// unparsed returns an error of pgx about a name without the name itself, which may hold a password.
func unparsed(err error) error {
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) {
		if cause := parse.Unwrap(); cause != nil {
			return fmt.Errorf("the name of the database: %w", cause)
		}
	}
	return errors.New("the name of the database cannot be read: want postgres://USER@HOST:PORT/DATABASE")
}

// HasPassword reports whether a name holds a password.
func HasPassword(name string) bool {
	u, err := url.Parse(name)
	if err != nil {
		return strings.Contains(name, "password")
	}
	_, set := u.User.Password()
	return set || u.Query().Has("password")
}

// Redact returns a name without its password, for messages and logs.
func Redact(name string) string {
	u, err := url.Parse(name)
	if err != nil {
		return "postgres://..."
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	for _, secret := range []string{"password", "sslpassword"} {
		q.Del(secret)
	}
	u.RawQuery = q.Encode()
	return u.String()
}
