package process

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A child that would run for an hour ends with the process that started it. The child holds the pipe that is read here.
func TestEndTogether(t *testing.T) {
	switch os.Getenv("TOGETHER") {
	case "child":
		time.Sleep(time.Hour)
		return
	case "parent":
		require.NoError(t, EndTogether())
		child := exec.Command(os.Args[0], "-test.run=^TestEndTogether$")
		child.Env = append(os.Environ(), "TOGETHER=child")
		child.Stdout = os.Stdout
		require.NoError(t, child.Start())
		_, _ = os.Stdout.WriteString("started")
		os.Exit(7)
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestEndTogether$")
	parent.Env = append(os.Environ(), "TOGETHER=parent")
	out, _ := parent.Output()
	assert.Equal(t, "started", string(out))
	assert.Equal(t, 7, parent.ProcessState.ExitCode())
}
