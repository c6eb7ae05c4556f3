package verbs

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// openTerminal returns both ends of a terminal: what is written to the one that a program has can be read from the other.
func openTerminal(t *testing.T) (ours, programs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals here: ", err)
	}
	require.NoError(t, unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	programs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, ours.Close()) })
	return ours, programs
}

// A flag of HTTP without --http is refused: the gateway would serve its standard input, where nobody asks.
func TestAFlagOfHTTPNeedsHTTP(t *testing.T) {
	code, _, stderr := runVerb(t, gatewayCommand, []string{"HOME=" + t.TempDir()}, "", "--port", "8010", "servers.json")
	assert.Equal(t, command.Usage, code)
	assert.Contains(t, stderr, "--port is for a server over HTTP; add --http")
}

// A server that cannot start says why: in words on a terminal, as one event elsewhere.
func TestAFailedStartIsSaidInWords(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	config := t.TempDir() + "/servers.json"
	require.NoError(t, os.WriteFile(config, []byte(`{"mcpServers":{"none":{"url":"http://127.0.0.1:1/mcp"}}}`), 0o600))
	for name, c := range map[string]struct {
		verb func(command.Process) *cobra.Command
		args []string
		want string
	}{
		"serve, a port":   {httpCommand, []string{"--port", port}, "address already in use"},
		"serve, a flag":   {httpCommand, []string{"--host", "192.168.0.1"}, "invalid_host: "},
		"gateway, a port": {gatewayCommand, []string{"--http", "--port", port, config}, "address already in use"},
		"gateway, a file": {gatewayCommand, []string{"no-such-file.json"}, "the configuration cannot be read"},
	} {
		said := func(stderr io.Writer) {
			p := command.Process{Args: c.args, Env: []string{"HOME=" + t.TempDir()}, Stdout: io.Discard, Stderr: stderr}
			assert.Equal(t, command.Usage, command.Verb(t.Context(), c.verb(p), p), name)
		}
		ours, programs := openTerminal(t)
		said(programs)
		require.NoError(t, programs.Close())
		text, _ := io.ReadAll(ours) // ends with an error of the closed terminal
		assert.Regexp(t, "(?m)^mcp-pruner: .*"+c.want, string(text), name)
		assert.NotContains(t, string(text), "start_failed", name)

		r, w, err := os.Pipe()
		require.NoError(t, err)
		said(w)
		require.NoError(t, w.Close())
		var e struct {
			Event string
			Data  struct{ Message string }
		}
		for events := json.NewDecoder(r); e.Event != "mcp_pruner.start_failed"; { // a gateway's servers may say something, too
			require.NoError(t, events.Decode(&e), name)
		}
		require.NoError(t, r.Close())
		assert.Contains(t, e.Data.Message, c.want, name)
	}
}
