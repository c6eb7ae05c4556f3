package httpserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// halfClosed sends a call and closes the sending half of the connection.
func halfClosed(t *testing.T, address, body string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	_, err = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	require.NoError(t, err)
	require.NoError(t, c.(*net.TCPConn).CloseWrite())
	return c.(*net.TCPConn)
}

// A client that closes its sending half gets its answer. When it then closes the other half, too, it is
// gone, and its command is killed.
func TestAHalfClosedConnection(t *testing.T) {
	p := newPlace(t, nil)
	address := listening(t, p)
	c := halfClosed(t, address, bash("sleep 0.3; echo done"))
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"text":"done\n"`)
	_, err = c.Read(make([]byte, 1))
	assert.ErrorIs(t, err, io.EOF, "the connection is over then")
	_ = c.Close()

	c = halfClosed(t, address, bash("touch started; sleep 600"))
	p.waitFor("started")
	assert.False(t, p.logged("tool.internal_error", "cancelled"))
	_ = c.Close()
	p.eventually("tool.internal_error", "cancelled")
}

func TestWhoseSocketIsListed(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			continue // a machine without IPv6
		}
		client, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		server, err := l.Accept()
		require.NoError(t, err)
		assert.True(t, listens(server, time.Now()), host)
		require.NoError(t, client.(*net.TCPConn).CloseWrite())
		assert.True(t, listens(server, time.Now()), host)
		require.NoError(t, client.Close())
		gone := time.Now()
		assert.Eventually(t, func() bool { return !listens(server, gone) }, 10*time.Second, lookEvery/10, host)
		_ = server.Close()
		_ = l.Close()
	}
}

// TestOneLookIsForAllConnections proves that the kernel's table is read once for many connections.
func TestOneLookIsForAllConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "tcp")
		write := func(inode string) {
			line := "   0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 " + inode + " 1\n"
			require.NoError(t, os.WriteFile(file, []byte("  sl  local_address\n"+line), 0o600))
		}
		const pair = "0100007F:1F90 0100007F:C350"
		write("4711")
		table := socketTable{file: file}
		began := time.Now()
		for range 400 {
			require.True(t, table.holds(pair, began))
		}
		assert.Equal(t, 1, table.looks)
		write("0") // no process holds it any more
		require.True(t, table.holds(pair, began), "within the interval")
		time.Sleep(lookEvery + 1)
		require.False(t, table.holds(pair, began))
		for range 400 {
			require.False(t, table.holds("of another client", began))
		}
		assert.Equal(t, 2, table.looks)
		time.Sleep(time.Nanosecond)
		newer := time.Now()
		require.True(t, table.holds("of another client", newer), "a socket may be newer than the table")
		time.Sleep(lookEvery)
		require.False(t, table.holds("of another client", newer))
		assert.Equal(t, 3, table.looks)
	})
}
