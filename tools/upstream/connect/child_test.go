package connect

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server ends although nobody takes the lines of its standard error.
func TestAReaderThatHangsHoldsUpNoEnd(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	hang := make(chan struct{})
	reading := make(chan struct{}, 1000)
	p, err := spawn(Config{Command: exe, Args: []string{"-no-such-flag"}}, os.Environ(), func(string) { // it prints its usage
		reading <- struct{}{}
		<-hang
	})
	require.NoError(t, err)
	p.within = 0
	<-reading
	p.close()
	select {
	case <-p.ended:
		assert.Fail(t, "the reader still hangs")
	default:
	}
	close(hang)
	<-p.ended
}

// What a server writes to its standard error without end does not fill the gateway's log, which says so once a minute.
func TestLinesOfStandardErrorAreSpared(t *testing.T) {
	now, bytes := time.Unix(1e9, 0), 0
	var lines []string
	w := lineWriter{take: sparing(func(line string) {
		lines, bytes = append(lines, line), bytes+len(line)
	}, func() time.Time { return now })}
	for range 2 {
		lines, bytes = nil, 0
		for n := range 100_000 {
			_, err := fmt.Fprintf(&w, "line %d\n\n", n)
			require.NoError(t, err)
		}
		assert.Equal(t, "line 0", lines[0])
		assert.Less(t, bytes+200*len(lines), maxStderr+2*maxLine)
		assert.Equal(t, "its further lines are left out for up to a minute: it writes more than the log takes", lines[len(lines)-1])
		assert.Len(t, slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "its further") }), 1)
		now = now.Add(time.Minute)
	}
}

// TestAServerThatEndsNoMessageIsEnded: it has the memory of one message, and its callers hear why.
func TestAServerThatEndsNoMessageIsEnded(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	s := New(Config{Name: "endless", Command: "sh", Args: []string{"-c", `yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | tr -d '\n'`}},
		Options{Env: os.Environ(), Stderr: func(_, _ string) {}, Note: func(string, map[string]any) {}, Changed: func(_, _ Offer) {}})
	defer s.Close()
	_, err := s.Call(t.Context(), "any", nil, nil, nil, nil)
	require.ErrorContains(t, err, "the MCP server endless did not answer: it sent a message of more than 128 MiB")
}
