package connect

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Messages to a server stay whole and in order on systems that write what fits at once (Unix), some of it, or nothing
// (Windows).
func TestMessagesStayInOrder(t *testing.T) {
	turn := 0
	for name, now := range map[string]func(*os.File, []byte) int{
		"at once": writeNow,
		"nothing": func(*os.File, []byte) int { return 0 },
		"some of it": func(pipe *os.File, b []byte) int {
			turn++
			n, _ := pipe.Write(b[:turn%3])
			return n
		},
	} {
		theirs, ours, err := os.Pipe()
		require.NoError(t, err)
		o := startOutbox(ours, now)
		var want strings.Builder
		for i := range 200 {
			line := fmt.Sprintf("message %d\n", i)
			want.WriteString(line)
			n, err := o.Write([]byte(line))
			require.NoError(t, err)
			require.Equal(t, len(line), n)
		}
		require.NoError(t, o.Close())
		got, err := io.ReadAll(theirs)
		require.NoError(t, err)
		assert.Equal(t, want.String(), string(got), name)
		require.NoError(t, theirs.Close())
	}
}

// TestALongMessagePasses: one alone has no limit. A further one is refused, or waits until there is room.
func TestALongMessagePasses(t *testing.T) {
	o := &outbox{now: func(*os.File, []byte) int { return 0 }} // nothing is written
	o.wake = sync.NewCond(&o.mu)
	_, err := o.Write(make([]byte, maxOutbox+1))
	require.NoError(t, err)
	_, err = o.Write([]byte("x"))
	require.ErrorIs(t, err, errOutboxFull)
	o.patient = true
	written := make(chan error)
	go func() {
		_, err := o.Write([]byte("x"))
		written <- err
	}()
	next, _ := o.next()
	assert.Len(t, next, maxOutbox+1)
	require.NoError(t, <-written)
	next, _ = o.next()
	assert.Equal(t, "x", string(next))
}
