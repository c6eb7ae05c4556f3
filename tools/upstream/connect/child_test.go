package connect

import (
	"os"
	"testing"

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
