package eventlog

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinesArriveWholeAndInOrder(t *testing.T) {
	var out bytes.Buffer
	l := New(&out)
	var want strings.Builder
	for i := range 1000 {
		fmt.Fprintf(l, "line %d\n", i)
		fmt.Fprintf(&want, "line %d\n", i)
	}
	l.Close(10 * time.Second)
	assert.Equal(t, want.String(), out.String())
}

// A client that does not read its end must not stop us; when it reads again it
// learns how much it missed.
func TestAReaderThatStopsBlocksNobody(t *testing.T) {
	r, w := io.Pipe()
	l := New(w)
	l.Dropped = func(n int) []byte { return fmt.Appendf(nil, "dropped %d\n", n) }
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for range 2 * capacity / len(line) {
		n, err := l.Write(line)
		require.NoError(t, err)
		require.Equal(t, len(line), n)
	}
	go l.Close(10 * time.Second)
	all, err := io.ReadAll(io.LimitReader(r, int64(capacity)))
	require.NoError(t, err)
	rest := make([]byte, 1<<20)
	n, err := r.Read(rest)
	require.NoError(t, err)
	assert.Regexp(t, `dropped \d+\n`, string(all)+string(rest[:n]))
}

func TestCloseDoesNotWaitForever(t *testing.T) {
	_, w := io.Pipe()
	l := New(w)
	_, _ = l.Write([]byte("nobody reads this\n"))
	done := make(chan struct{})
	go func() { l.Close(time.Millisecond); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("Close hangs")
	}
}
