//go:build unix

package process

import (
	"context"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chunks is a writer whose chunks a test receives.
type chunks chan string

func (c chunks) Write(b []byte) (int, error) {
	c <- string(b)
	return len(b), nil
}

// withoutDeadlines returns a pump of a pipe that blocks, as every pipe on Windows does.
func withoutDeadlines(t *testing.T, to io.Writer) *pump {
	t.Helper()
	var fds [2]int
	require.NoError(t, syscall.Pipe(fds[:]))
	p := &pump{read: os.NewFile(uintptr(fds[0]), "read"), write: os.NewFile(uintptr(fds[1]), "write"), to: to, done: make(chan struct{})}
	require.ErrorIs(t, p.read.SetReadDeadline(time.Now()), os.ErrNoDeadline)
	return p
}

// Where pipes have no deadlines, a program that was left running neither holds up the call nor adds to its output, and
// its pipe stays open.
func TestABackgroundProgramOnAPipeWithoutDeadlines(t *testing.T) {
	got := make(chunks, 1)
	p := withoutDeadlines(t, got)
	fd, err := syscall.Dup(int(p.write.Fd()))
	require.NoError(t, err)
	background := os.NewFile(uintptr(fd), "background")
	go p.run(func(error) {})
	_, err = background.WriteString("in time")
	require.NoError(t, err)
	require.Equal(t, "in time", <-got)
	finish(p)
	for range 3 {
		_, err = background.WriteString("late") // would fail if the pipe were closed
		require.NoError(t, err)
	}
	require.NoError(t, background.Close())
	<-p.done
	require.Empty(t, got)
	assert.Equal(t, len("in time")+3*len("late"), p.count())
}

// A program that has ended is not waited for, and all that it printed is there.
func TestAnEndedProgramOnAPipeWithoutDeadlines(t *testing.T) {
	got := make(chunks, 1)
	p := withoutDeadlines(t, got)
	_, err := p.write.WriteString("all of it")
	require.NoError(t, err)
	go p.run(context.CancelCauseFunc(func(error) {}))
	finish(p)
	assert.Equal(t, "all of it", <-got)
	require.ErrorIs(t, p.read.Close(), os.ErrClosed)
}
