package proxy

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// Another user of the machine is refused, even with the secret.
func TestAnotherUserIsRefused(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || os.Getuid() != 0 {
		t.Skip("needs bash, and root to become another user")
	}
	up := newUpstream(t)
	p := startChild(t, up.URL, database(t))
	u, err := url.Parse(p.url)
	require.NoError(t, err)
	ask := func(uid uint32) string {
		script := `exec 3<>/dev/tcp/127.0.0.1/` + u.Port() + `; printf 'GET ` + u.Path + `/v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3; cat <&3`
		c := exec.Command(bash, "-c", script)
		c.Dir = "/"
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	assert.Contains(t, ask(0), "200 OK")
	refused := ask(65534)
	assert.Contains(t, refused, "403 Forbidden")
	assert.Contains(t, refused, "belongs to another user")
	assert.Len(t, up.bodies, 1)
	assert.Contains(t, p.end(t), "other_user")
}

// Neither a connection alone nor a request without the secret makes the proxy read the table of all connections.
func TestStrangersAreNotLookedUp(t *testing.T) {
	s, w := newServer(nil, nil, func(fsm.Event) {}), httptest.NewRecorder()
	s.secret = secret.New()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/v1/models", nil)
	s.ServeHTTP(w, r.WithContext(withPeer(t.Context(), struct{ net.Conn }{}))) // which panics when it is asked anything
	assert.Equal(t, http.StatusForbidden, w.Code)
	assert.Contains(t, w.Body.String(), "the secret is missing")
}

func TestTheOwnerOfASocket(t *testing.T) {
	const v4 = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2253 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 100 1
   1: 0100007F:C350 0100007F:2253 01 00000000:00000000 00:00000000 00000000  1001        0 101 1
   2: 0100007F:2253 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 102 1
`
	const v6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid
   0: 0000000000000000FFFF00000100007F:C351 0000000000000000FFFF00000100007F:2253 01 00000000:00000000 00:00000000 00000000  1002        0 103
`
	own := netip.MustParseAddrPort("127.0.0.1:8787")
	for text, want := range map[string]int{v4 + "|127.0.0.1:50000": 1001, v6 + "|127.0.0.1:50001": 1002} {
		table, peer, _ := strings.Cut(text, "|")
		from := netip.MustParseAddrPort(peer)
		uid, ok := userIn(strings.NewReader(table), func(s socket) bool { return isAddress(s.local, from) && isAddress(s.remote, own) })
		assert.True(t, ok)
		assert.Equal(t, want, uid)
	}
	_, ok := userIn(strings.NewReader(v4), func(s socket) bool { return isAddress(s.local, netip.MustParseAddrPort("127.0.0.1:50002")) })
	assert.False(t, ok)
}

// What another user runs in the proxy's place is sent nothing at all.
func TestAnotherUsersListener(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user")
	}
	opened, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, opened.Close())
	listening := make(chan net.Listener)
	go func() { // the thread ends with the goroutine, as it is not unlocked
		runtime.LockOSThread()
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0)
		l, err := net.Listen("tcp", opened.Addr().String())
		assert.NoError(t, err)
		listening <- l
	}()
	l := <-listening
	defer func() { _ = l.Close() }()
	sent := make(chan string)
	go func() {
		c, err := l.Accept()
		assert.NoError(t, err)
		text, _ := io.ReadAll(c)
		_ = c.Close()
		sent <- string(text)
	}()
	_, err = Ask(t.Context(), "http://"+l.Addr().String(), secret.Proof(secret.New()))
	assert.ErrorContains(t, err, "is not a proxy of yours (its program belongs to another user; user id 65534)")
	assert.True(t, Taken(err))
	assert.Empty(t, <-sent)
}
