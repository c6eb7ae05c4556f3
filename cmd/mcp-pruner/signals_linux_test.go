package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server under nohup, or in a script's background, stays as deaf to the signals
// it was started to ignore as its user wants it.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	for _, verb := range []string{"", "serve", "pruner"} {
		t.Run("verb "+verb, func(t *testing.T) {
			cmd, _ := program(t, "MCP_PRUNER_PORT=0")
			cmd.Args = []string{"/bin/sh", "-c", `trap '' HUP INT; exec "$0" $VERB`, cmd.Path}
			cmd.Path, cmd.Env = "/bin/sh", append(cmd.Env, "VERB="+verb)
			_, err := cmd.StdinPipe() // stays open: the server serves
			require.NoError(t, err)
			stderr, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			_, err = stderr.Read(make([]byte, 1)) // it is up when it says so
			require.NoError(t, err)
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			require.NoError(t, err)
			assert.Equal(t, uint64(0b11), signalMask(t, string(status), "SigIgn")&0b11)
		})
	}
}

// signalMask is one of the masks of /proc/PID/status.
func signalMask(t *testing.T, status, name string) (mask uint64) {
	t.Helper()
	for line := range strings.Lines(status) {
		if rest, found := strings.CutPrefix(line, name+":"); found {
			_, err := fmt.Sscanf(rest, "%x", &mask)
			require.NoError(t, err)
		}
	}
	return mask
}
