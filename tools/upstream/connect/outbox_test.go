package connect

import (
	"fmt"
	"io"
	"os"
	"strings"
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
