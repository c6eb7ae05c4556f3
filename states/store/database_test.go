package store

import (
	"context"
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
