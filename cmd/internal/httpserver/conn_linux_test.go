package httpserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

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
		assert.True(t, listens(server), host)
		require.NoError(t, client.(*net.TCPConn).CloseWrite())
		assert.True(t, listens(server), host)
		require.NoError(t, client.Close())
		assert.False(t, listens(server), host)
		_ = server.Close()
		_ = l.Close()
	}
}
