//go:build e2e

package e2e

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReplicasAgree proves with three gateways behind nginx, whose configuration rewrites no Host, that a session goes on and
// an id recovers at each of them, that a cancel which reaches any of them ends its call, and that trace and log name the
// subject and nginx's user.
func TestReplicasAgree(t *testing.T) {
	c := newTeam(t, "alice", "bob")
	l := newLoad(c)
	first := &agent{load: l, url: c.front, owner: "alice"}
	require.True(t, first.open())
	first.round("job")
	require.Len(t, l.issued, 1, "%v", l.problems)
	for _, r := range c.gateways {
		here := &agent{load: l, url: r.url, owner: "alice", session: first.session}
		assert.True(t, here.recovers(l.issued[0]), r.url)
		for name, session := range map[string]string{"forged": "0" + first.session[1:], "another's": first.session} {
			other := &agent{load: l, url: r.url, owner: map[bool]string{true: "bob", false: "alice"}[name == "another's"], session: session}
			want := http.StatusNotFound
			if session[0] == first.session[0] && name == "forged" {
				want = http.StatusOK // the first digit was 0 already
			}
			assert.Equal(t, want, other.send("ping", "", map[string]any{}).status, name)
		}
	}
	for n := range 10 {
		c.cancels(l, c.gateways[n%replicas], c.gateways[(n+1+n/5)%replicas], n)
	}
	var traces, logs string
	for _, r := range c.gateways {
		traces, logs = traces+read(t, r.log+".jsonl"), logs+read(t, r.log)
	}
	for name, text := range map[string]string{"trace": traces, "log": logs} {
		assert.True(t, strings.Contains(text, "carol@nginx"), name)
		assert.True(t, strings.Contains(text, `"alice"`), name)
		assert.False(t, strings.Contains(text, "mallory"), name)
		assert.False(t, strings.Contains(text, c.keys["alice"]), name)
	}
	assert.Empty(t, l.wrong)
}

// cancels begins a call at one gateway and cancels it at another.
func (c *team) cancels(l *load, at, from *replica, n int) {
	t := c.t
	t.Helper()
	a := &agent{load: l, url: at.url, owner: "alice"}
	require.True(t, a.open())
	file := c.file(fmt.Sprint("cancel", n))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.call("far_wait", map[string]any{"seconds": 60, "file": file})
	}()
	require.Eventually(t, func() bool { return read(t, file) == "begun" }, 20*time.Second, 10*time.Millisecond)
	b := &agent{load: l, url: from.url, owner: "alice", session: a.session}
	got := b.send("notifications/cancelled", "", map[string]any{"requestId": 2})
	require.Equal(t, http.StatusAccepted, got.status, got.failed)
	require.Eventually(t, func() bool { return read(t, file) == "cancelled" }, 5*time.Second, 10*time.Millisecond, "cancel %d", n)
	<-ended
}

// TestNoRequestIsSmuggled proves that a request whose end nginx and a gateway could see at different places is one request or
// none, and that a gateway answers nobody but its reverse proxy, whatever the headers say.
func TestNoRequestIsSmuggled(t *testing.T) {
	c := newTeam(t, "alice")
	hidden := "GET /hidden HTTP/1.1\r\nHost: x\r\nX-Forwarded-User: mallory\r\n\r\n"
	for name, headers := range map[string]string{
		"both lengths":        fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n", len("0\r\n\r\n"+hidden)),
		"an unknown encoding": fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: xchunked\r\n", len("0\r\n\r\n"+hidden)),
		"a space":             fmt.Sprintf("Content-Length : 5\r\nTransfer-Encoding: chunked\r\nContent-Length: %d\r\n", len("0\r\n\r\n"+hidden)),
		"two lengths":         "Content-Length: 5\r\nContent-Length: 50\r\n",
		"a folded line":       fmt.Sprintf("Content-Length: %d\r\nX: a\r\n Transfer-Encoding: chunked\r\n", len("0\r\n\r\n"+hidden)),
	} {
		request := "POST /mcp HTTP/1.1\r\nHost: mcp.example.com\r\nContent-Type: application/json\r\nAuthorization: Bearer " + c.keys["alice"] + "\r\n" + headers + "\r\n0\r\n\r\n" + hidden
		for place, address := range map[string]string{"nginx": c.front, "a gateway": c.gateways[0].url} {
			statuses := raw(t, address, request)
			require.NotEmpty(t, statuses, "%s at %s", name, place)
			for _, s := range statuses {
				assert.NotContains(t, s, " 404", "%s at %s: %v", name, place, statuses) // the hidden request was answered
			}
		}
	}
	for _, r := range append(c.gateways, c.proxies...) { // another address of this machine is not nginx's
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}}
		client := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
		request, err := http.NewRequest(http.MethodPost, r.url+"/mcp", strings.NewReader("{}"))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+c.keys["alice"])
		request.Header.Set("X-Mcp-Pruner-Key", c.keys["alice"])
		request.Header.Set("X-Forwarded-For", "127.0.0.1")
		response, err := client.Do(request)
		require.NoError(t, err)
		_ = response.Body.Close()
		assert.Equal(t, http.StatusForbidden, response.StatusCode, r.args)
	}
}

// raw sends bytes and returns the status lines of all answers.
func raw(t *testing.T, url, request string) (statuses []string) {
	t.Helper()
	scheme, address, _ := strings.Cut(url, "://")
	var conn net.Conn
	var err error
	if scheme == "https" {
		conn, err = tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	} else {
		conn, err = net.Dial("tcp", address)
	}
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	_ = conn.SetReadDeadline(time.Now().Add(3 * time.Second))
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "HTTP/") {
			statuses = append(statuses, lines.Text())
		}
	}
	return statuses
}
