package storetest

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Counted returns a name of a database of this server under which round trips to it are counted: how often a client sends
// something after the server has.
func (s *Server) Counted(t testing.TB, name string) (counted string, trips func() int64) {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	const socket = ".s.PGSQL.5432"
	l, err := net.Listen("unix", filepath.Join(dir, socket))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	var n atomic.Int64
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", filepath.Join(s.socket, socket))
			if err != nil {
				_ = client.Close()
				continue
			}
			var answered atomic.Bool
			go pass(server, client, func() {
				if answered.Swap(false) {
					n.Add(1)
				}
			})
			go pass(client, server, func() { answered.Store(true) })
		}
	}()
	return strings.Replace(name, "host="+s.socket, "host="+dir, 1), n.Load
}

// pass copies until one side ends, and tells of each piece before it is sent on.
func pass(to io.WriteCloser, from io.Reader, before func()) {
	piece := make([]byte, 1<<20)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			before()
			_, _ = to.Write(piece[:n]) // the next read says that the connection ended
		}
		if err != nil {
			_ = to.Close()
			return
		}
	}
}
