package fsm

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func numbered(n int) Event {
	return NewEvent("mcp_pruner.start_failed", "", Facts{"message": n})
}

// messages are the numbers of the events that were written.
func messages(t *testing.T, lines string) []int {
	t.Helper()
	var found []int
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		var e struct {
			Event string
			Data  struct{ Message, Lines int }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		if e.Event == "mcp_pruner.log_dropped" {
			found = append(found, -e.Data.Lines)
			continue
		}
		found = append(found, e.Data.Message)
	}
	return found
}

func TestEventsArriveWholeAndInOrder(t *testing.T) {
	var out bytes.Buffer
	l := NewEventLog(&out, LevelDebug)
	var want []int
	for i := range 1000 {
		l.Emit(numbered(i))
		want = append(want, i)
	}
	l.Close(10 * time.Second)
	assert.Equal(t, want, messages(t, out.String()))
}

// A client that does not read its end must not stop us; when it reads again it
// learns how much it missed.
func TestAReaderThatStopsBlocksNobody(t *testing.T) {
	r, w := io.Pipe()
	l := NewEventLog(w, LevelDebug)
	for i := range 3 * logCapacity {
		l.Emit(numbered(i))
	}
	go func() {
		l.Close(10 * time.Second)
		_ = w.Close()
	}()
	all, err := io.ReadAll(r)
	require.NoError(t, err)
	written, dropped := 0, 0
	for _, n := range messages(t, string(all)) {
		if n < 0 {
			dropped -= n
			continue
		}
		written++
	}
	assert.Equal(t, 3*logCapacity, written+dropped)
	assert.NotZero(t, dropped)
}

func TestCloseDoesNotWaitForever(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	l := NewEventLog(w, LevelDebug)
	l.Emit(numbered(1))
	done := make(chan struct{})
	go func() { l.Close(time.Millisecond); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("Close hangs")
	}
}

// slowWriter is a writer whose writes take a while.
type slowWriter struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *slowWriter) Write(p []byte) (int, error) {
	time.Sleep(logPatience / 2)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// TestSyncWaitsForTheEventsSoFar proves that the events emitted before Sync are written when it returns.
func TestSyncWaitsForTheEventsSoFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(slowWriter)
		l := NewEventLog(w, LevelDebug)
		l.Emit(numbered(1))
		l.Emit(numbered(2))
		l.Sync()
		w.mu.Lock()
		assert.Equal(t, []int{1, 2}, messages(t, w.text.String()))
		w.mu.Unlock()
		l.Close(time.Second)
	})
}

// TestSyncGivesUpOnceIfNobodyReads proves that a log that nobody reads delays one caller for a bounded time, and then nobody.
func TestSyncGivesUpOnceIfNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		l := NewEventLog(w, LevelDebug)
		began := time.Now()
		l.Emit(numbered(1))
		l.Sync()
		assert.Equal(t, logPatience, time.Since(began))
		for i := range 100 {
			l.Emit(numbered(i))
			l.Sync()
		}
		assert.Equal(t, logPatience, time.Since(began))
		require.NoError(t, r.Close())
		l.Close(time.Second)
	})
}
