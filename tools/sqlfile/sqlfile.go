// Package sqlfile reads SQLite files.
package sqlfile

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // registers the driver
)

// Read calls work with a file that exists, for reading alone. It neither creates nor changes a file where nobody else has
// the file open: the system may forbid that, as a sandbox does.
func Read(path string, patience time.Duration, work func(db *sql.DB) error) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	inUse := func() bool {
		_, err := os.Stat(path + "-wal")
		return err == nil
	}
	if !inUse() {
		// SQLite would create its two files beside this one to share it with writers.
		err := read(path, url.Values{"mode": {"ro"}, "immutable": {"1"}}, work)
		if err == nil || !inUse() {
			return err
		} // a writer has come
	}
	return read(path, url.Values{"mode": {"ro"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds())}}, work)
}

func read(path string, q url.Values, work func(db *sql.DB) error) error {
	db, err := sql.Open("sqlite", Name(path, q))
	if err != nil {
		return err
	}
	return errors.Join(work(db), db.Close())
}

// Name returns the driver's name of a file.
func Name(path string, q url.Values) string {
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + q.Encode()
}
