package recovery

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPutAndGet(t *testing.T) {
	s := ArchiveIn(t.TempDir())
	id, err := s.Put("all of it\n", "", 1)
	require.NoError(t, err)
	require.Regexp(t, IDPattern(), id)
	text, first, err := s.Get(id, "/")
	require.NoError(t, err)
	require.Equal(t, "all of it\n", text)
	require.Equal(t, 1, first)
	id, err = s.From("", 101)(context.Background(), "some of it")
	require.NoError(t, err)
	_, first, err = s.Get(id, "/")
	require.NoError(t, err)
	require.Equal(t, 101, first)
	for _, id := range []string{"prn_ffffffff", "", "../x", "prn_../../x"} {
		_, _, err := s.Get(id, "/")
		require.ErrorIs(t, err, ErrNotFound)
	}
}

func TestManyAtOnce(t *testing.T) {
	s := ArchiveIn(t.TempDir())
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				id, err := s.Put("text", "", 1)
				if err != nil {
					t.Error(err)
					return
				}
				if text, _, err := s.Get(id, "/"); err != nil || text != "text" {
					t.Error(text, err)
				}
			}
		})
	}
	wait.Wait()
}

func TestSweepDropsTheOld(t *testing.T) {
	s := ArchiveIn(t.TempDir())
	id, err := s.Put("old", "", 1)
	require.NoError(t, err)
	s.Now = func() time.Time { return time.Now().Add(maxAge + time.Hour) }
	s.Sweep()
	_, _, err = s.Get(id, "/")
	require.ErrorIs(t, err, ErrNotFound)
	left, err := os.ReadDir(s.Dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
