package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
)

// identity tells by the first bytes of an open file, which SQLite writes, whether it still has the content that it had: it may be
// truncated, or another file copied over it, while its connections still answer from their memory. The file is opened once and stays
// open: closing it would end the locks that SQLite has on it in this process.
type identity struct {
	header *os.File

	mu   sync.Mutex
	gone bool
	size int64  // at least
	id   uint32 // random; 0: the file has none yet, because it is in the write-ahead log only
	// SQLite's counts of changes and of changed schemas, which never fall. Only VACUUM makes a file smaller, and it counts as the latter.
	changes, schemas uint32
}

// sqliteFormat begins each file of SQLite's. Numbers of its header are at these offsets.
const (
	sqliteFormat = "SQLite format 3\x00"
	pageSizeAt   = 16
	changesAt    = 24
	pagesAt      = 28
	schemasAt    = 40
	idAt         = 68 // PRAGMA application_id
	headerBytes  = 100
)

// lost reports that the file has been truncated or overwritten by something else than SQLite, which writes the header before it
// changes the file's size.
func (i *identity) lost() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	var head [headerBytes]byte
	info, err := i.header.Stat()
	if err == nil {
		_, err = i.header.ReadAt(head[:], 0)
	}
	number := func(at int) uint32 { return binary.BigEndian.Uint32(head[at:]) }
	changes, schemas, id := number(changesAt), number(schemasAt), number(idAt)
	switch {
	case i.gone:
	case err == io.EOF, err == nil && string(head[:len(sqliteFormat)]) != sqliteFormat:
		i.gone = true
	case err != nil: // closed: nothing is known
	case changes < i.changes, schemas < i.schemas, schemas == i.schemas && info.Size() < i.size, i.id != 0 && id != i.id:
		i.gone = true
	default:
		full := int64(number(pagesAt)) * int64(binary.BigEndian.Uint16(head[pageSizeAt:]))
		i.size, i.id, i.changes, i.schemas = min(full, info.Size()), id, changes, schemas
	}
	return i.gone
}

// identify gives a file its id, unless it has one. A file that cannot take one soon has none.
func identify(db *sql.DB) {
	ctx, cancel := context.WithTimeout(context.Background(), lockedFirst)
	defer cancel()
	lacks := func(ctx context.Context, q querier) bool {
		var id int64
		_, err := first(ctx, q, []any{&id}, "PRAGMA application_id")
		return err == nil && id == 0
	}
	if !lacks(ctx, inFile{db}) {
		return
	}
	_ = transact(ctx, db, func(ctx context.Context, q querier) error {
		if !lacks(ctx, q) { // another process has given it one
			return nil
		}
		_, err := q.exec(ctx, fmt.Sprintf("PRAGMA application_id = %d", 1+rand.Int32N(1<<30)))
		return err
	})
}
