// Package store keeps what outlives a process, in files of SQLite or in a PostgreSQL database that the replicas of a team share: the
// ledger, the originals of pruned outputs, API keys, and copies of traces. Each statement is written once (see dialect.go) unless
// only one of the two can do what it does. What only a database can do has files of its own: announcements between replicas, the
// versions of its schema, and how long it is left alone when it is away.
package store
