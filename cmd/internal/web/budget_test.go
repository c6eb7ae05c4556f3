package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asks lets a request ask for bytes, and returns the channel that has its error when it goes on.
func asks(h *Hold, bytes int64) <-chan error {
	went := make(chan error, 1)
	go func() { went <- h.Grow(context.Background(), bytes) }()
	synctest.Wait()
	return went
}

func TestBudgetIsTakenAndGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(10, 0, 0)
		holder, beyond, waiting, gone := b.Hold(""), b.Hold(""), b.Hold(""), b.Hold("")
		require.NoError(t, holder.Grow(t.Context(), 10))
		require.NoError(t, beyond.Grow(t.Context(), 20))
		went := asks(waiting, 5)
		ended, end := context.WithCancel(t.Context())
		end()
		require.ErrorIs(t, gone.Grow(ended, 5), context.Canceled)
		require.Empty(t, went)
		holder.Release()
		require.NoError(t, <-went, "it takes the room that is left")
		waiting.Release()
		beyond.Release()
		gone.Release()
		assert.Equal(t, NewBudget(10, 0, 0).free, b.free)
		assert.Empty(t, b.accounts)
		assert.Empty(t, b.waiting)
		assert.Nil(t, b.beyond)
	})
}

// A subject with many large requests leaves room for others, and goes beyond the budget after them.
func TestBudgetIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(32, 0, 0)
		var bobs []*Hold
		var went []<-chan error
		for range 30 {
			bobs = append(bobs, b.Hold("bob"))
			went = append(went, asks(bobs[len(bobs)-1], 4))
		}
		require.Len(t, b.waiting, 25, "half of the budget and one beyond it are bob's")
		alice, large := b.Hold("alice"), b.Hold("alice")
		require.NoError(t, alice.Grow(t.Context(), 8))
		first := asks(large, 30)
		require.Empty(t, first)
		for i, h := range bobs {
			if h == b.beyond {
				require.NoError(t, <-went[i])
				h.Release()
				break
			}
		}
		require.NoError(t, <-first, "before bob's, who asked earlier")
		for range 25 { // the rest of bob's go on one after the other
			for _, h := range bobs {
				h.Release()
			}
			synctest.Wait()
		}
		for _, h := range []*Hold{alice, large} {
			h.Release()
		}
		assert.EqualValues(t, 32, b.free)
	})
}

// What a small body becomes without its compression is counted as it is made.
func TestBudgetCountsWhatIsMade(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.WriteString(z, strings.Repeat("x", 1<<20))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for size, want := range map[int64]int{2 << 20: 1 << 20, 1 << 19: 1 << 19, 100: 100} {
		b := NewBudget(8<<20, 0, 0)
		h := b.Hold("bob")
		from, err := gzip.NewReader(bytes.NewReader(packed.Bytes()))
		require.NoError(t, err)
		text, err := h.ReadAll(t.Context(), from, size)
		require.NoError(t, err)
		assert.Len(t, text, want)
		assert.EqualValues(t, heldPerByte*max(0, cap(text)-freeBytes), 8<<20-b.free)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	b := NewBudget(0, 0, 0)
	require.NoError(t, b.Hold("bob").Grow(t.Context(), 1))
	text, err := b.Hold("bob").ReadAll(ended, strings.NewReader(strings.Repeat("x", 1<<20)), 1<<20)
	require.ErrorIs(t, err, context.Canceled)
	assert.Len(t, text, freeBytes, "what was read is not lost")
}

// What a request keeps is counted, and the rest is others'.
func TestKeep(t *testing.T) {
	b := NewBudget(100, time.Minute, time.Minute)
	keeps, waits := b.Hold(""), b.Hold("")
	require.NoError(t, keeps.Grow(t.Context(), 90))
	beyond := b.Hold("")
	require.NoError(t, beyond.Grow(t.Context(), 20))
	grown := make(chan error)
	go func() { grown <- waits.Grow(t.Context(), 60) }()
	keeps.Shrink(10)
	require.NoError(t, <-grown)
	for _, h := range []*Hold{keeps, waits, beyond} {
		h.Release()
		h.Shrink(0)
		h.Release()
	}
	assert.Equal(t, int64(100), b.free)
	assert.Empty(t, b.accounts)
}

// A call that has sent its large body and waits leaves the place beyond the budget to others. Its own subject's wait for it.
func TestBudgetDoesNotWaitForAWaitingCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(128<<10, time.Minute, time.Minute)
		read := func(subject string) (h *Hold, done <-chan error) {
			h = b.Hold(subject)
			went := make(chan error, 1)
			go func() {
				_, err := h.ReadBody(httptest.NewRecorder(), httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", 1<<20))), 1<<20)
				went <- err
			}()
			synctest.Wait()
			return h, went
		}
		waits, first := read("alice")
		require.NoError(t, <-first)
		again, second := read("alice")
		other, bobs := read("bob")
		require.Empty(t, bobs, "most calls end soon")
		time.Sleep(keepWithin)
		synctest.Wait()
		require.NoError(t, <-bobs)
		other.Release()
		synctest.Wait()
		require.Empty(t, second)
		waits.Release()
		require.NoError(t, <-second)
		again.Release()
		assert.EqualValues(t, 128<<10, b.free)
		assert.Empty(t, b.accounts)
		assert.Nil(t, b.beyond)
	})
}
