package store

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRest: a database that could not be reached is left alone for as long as its user says, a second by default.
func TestRest(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{0: time.Second, time.Hour: time.Hour} {
		db, err := Open(Database{Name: "postgres:///nowhere?host=" + t.TempDir(), Rest: given})
		require.NoError(t, err)
		before := time.Now()
		require.Error(t, db.Check(context.Background()))
		assert.False(t, db.resting.Before(before.Add(want)))
		assert.False(t, db.resting.After(time.Now().Add(want)))
		require.NoError(t, db.Close())
	}
}

// TestPoolWords: what the name says of the pool counts, and what it does not say is ours.
func TestPoolWords(t *testing.T) {
	for words, want := range map[string]struct {
		most int32
		idle time.Duration
	}{
		"":                                     {Conns, 10 * time.Minute},
		"&pool_max_conns=17":                   {17, 10 * time.Minute},
		"&pool_max_conn_idle_time=3m":          {Conns, 3 * time.Minute},
		"&application_name=pool_max_conns%3D9": {Conns, 10 * time.Minute},
	} {
		c, err := poolConfig("postgres://alice@db/pruner?sslmode=disable"+words, Conns)
		require.NoError(t, err, words)
		assert.Equal(t, want.most, c.MaxConns, words)
		assert.Equal(t, want.idle, c.MaxConnIdleTime, words)
	}
}

// TestMigrationsSayWhoMayGoOn: replicas are replaced one after the other, so each migration says which versions may still use the schema.
func TestMigrationsSayWhoMayGoOn(t *testing.T) {
	for i, file := range schemaSteps() {
		text, err := migrations.ReadFile(file)
		require.NoError(t, err)
		oldest, err := oldestOf(string(text), i+1)
		require.NoError(t, err, file)
		assert.Equal(t, i+1 >= saysOldest, strings.HasPrefix(string(text), oldestLine), file)
		assert.LessOrEqual(t, oldest, i+1, file)
	}
	_, err := oldestOf(oldestLine+"9\n", 8)
	assert.Error(t, err)
}
