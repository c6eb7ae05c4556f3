package process

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be a server, a command and what a command leaves running. All of them hold the pipe
// that the tests read, so its end means that all have ended.
func TestMain(m *testing.M) {
	start := func(role string) Process {
		return Process{Path: os.Args[0], Env: append(os.Environ(), "ROLE="+role), Stdout: os.Stdout, Watched: true}
	}
	command := func(leaves string) {
		child := exec.Command(os.Args[0])
		child.Env, child.Stdout = append(os.Environ(), "ROLE="+leaves), os.Stdout
		if err := child.Start(); err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString("started ")
	}
	switch os.Getenv("ROLE") {
	case "server of a command that ends":
		_, _ = start("ends").Run(context.Background())
		_, _ = os.Stdout.WriteString("returned ")
	case "server of a command that hangs":
		_, _ = start("hangs").Run(context.Background())
	case "ends together":
		if EndTogether() == nil {
			command("hour")
		}
		os.Exit(7)
	case "ends":
		command("moment")
	case "hangs":
		command("hour")
		time.Sleep(time.Hour)
	case "moment":
		time.Sleep(time.Second)
		_, _ = os.Stdout.WriteString("alive ")
	case "hour":
		time.Sleep(time.Hour)
	default:
		os.Exit(m.Run())
	}
}

func role(name string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ROLE="+name)
	return cmd
}

// What a process started ends with it.
func TestEndTogether(t *testing.T) {
	parent := role("ends together")
	out, _ := parent.Output()
	assert.Equal(t, "started ", string(out))
	assert.Equal(t, 7, parent.ProcessState.ExitCode())
}

// A killed server takes its commands with it.
func TestNothingOutlivesAKilledServer(t *testing.T) {
	server := role("server of a command that hangs")
	pipe, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	started := make([]byte, len("started "))
	_, err = io.ReadFull(pipe, started)
	require.NoError(t, err)
	require.NoError(t, server.Process.Kill())
	rest, err := io.ReadAll(pipe)
	require.NoError(t, err)
	assert.Empty(t, string(rest))
	_ = server.Wait()
}

// What a command that has ended left running goes on, also after its server has ended.
func TestABackgroundProgramGoesOn(t *testing.T) {
	out, err := role("server of a command that ends").Output()
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"started", "returned", "alive"}, strings.Fields(string(out)))
}

// A cancelled command is killed with all that it started.
func TestACancelEndsWhatACommandStarted(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Process{Path: os.Args[0], Env: append(os.Environ(), "ROLE=hangs"), Stdout: write, Watched: true}.Run(ctx)
		_ = write.Close()
		ended <- err
	}()
	started := make([]byte, len("started "))
	_, err = io.ReadFull(read, started)
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	rest, err := io.ReadAll(read)
	require.NoError(t, err)
	assert.Empty(t, string(rest))
}
