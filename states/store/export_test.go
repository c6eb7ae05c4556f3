package store

import "time"

// SetClock sets the clock of the process, before the first connection.
func SetClock(db *DB, now func() time.Time) { db.now = now }
