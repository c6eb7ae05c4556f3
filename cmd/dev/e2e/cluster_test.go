//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const teamClients = 64

// TestATeamOutlivesItsFaults proves that 64 clients of three gateways and three proxies behind nginx, with one database, get no
// wrong answer while ten things break, that no original is lost, and that nobody sees another subject's.
func TestATeamOutlivesItsFaults(t *testing.T) {
	owners := []string{"alice", "bob", "carol", "dave"}
	c := newTeamWith(t, []string{"MCP_PRUNER_RECOVERY_MAX_BYTES=4294967296"}, append(owners, "eve")...) // a slow run stores more than 64 MiB for each
	l := newLoad(c)
	t.Cleanup(func() { t.Log(l.problems) })
	end := l.run(t, teamClients, owners)
	l.calm(t, "before anything breaks")
	for _, f := range l.faults() {
		refused, right := l.refused.Load(), l.right.Load()
		l.phase.Store(f.name)
		l.outage.Store(f.outage)
		begun := time.Now()
		f.breaks(t)
		c.allReady()
		l.serving(t)
		l.outage.Store(false)
		t.Logf("%-40s %5d answers, %3d requests without one, %s", f.name, l.right.Load()-right, l.refused.Load()-refused, time.Since(begun).Round(100*time.Millisecond))
	}
	l.calm(t, "after everything broke")
	end()
	t.Logf("%d answers, %d requests without one, %d histories sent before their decision was stored", l.right.Load(), l.refused.Load(), l.open.Load())
	assert.Empty(t, l.wrong)
	if l.whole.Load() > 0 { // no wrong answer, but one that breaks the cache: a proxy must have had a reason
		t.Logf("%d results were sent whole again", l.whole.Load())
		assert.True(t, slices.ContainsFunc(c.proxies, func(r *replica) bool {
			return strings.Contains(read(t, r.log), `"reason":"store_failed","message":"context deadline exceeded"`)
		}), "results were whole again, and no proxy waited too long for the database")
	}
	assert.Positive(t, l.cleared.Load(), "the proxies cleared nothing")
	assert.Zero(t, l.lost.Load(), "sessions that began anew")
	l.nothingLost(t)
}

type fault struct {
	name   string
	outage bool // of the database
	breaks func(t *testing.T)
}

func (l *load) faults() []fault {
	c := l.team
	return []fault{
		{"a gateway is killed", false, func(*testing.T) { c.gateways[0].again(syscall.SIGKILL) }},
		{"a proxy is killed before it answers", false, l.killProxy},
		{"a gateway drains", false, l.drain},
		{"the database crashes", true, func(t *testing.T) {
			c.db.Stop(t, "immediate")
			l.until(t, &l.right, 50)
			c.db.Start(t)
		}},
		{"the database is read-only", true, func(t *testing.T) {
			c.admin(t, "ALTER DATABASE %s SET default_transaction_read_only = on")
			l.until(t, &l.right, 50)
			c.admin(t, "ALTER DATABASE %s RESET default_transaction_read_only")
		}},
		{"the database ends all connections", true, func(t *testing.T) { c.admin(t, "SELECT 1") }},
		{"nginx takes up another certificate", false, func(t *testing.T) {
			c.certify("nginx two")
			require.NoError(t, syscall.Kill(c.nginxPID, syscall.SIGHUP))
			require.Eventually(t, func() bool { return c.certificate(t) == "nginx two" }, 20*time.Second, 50*time.Millisecond)
		}},
		{"200 clients send nothing further", false, c.slowClients},
		{"a gateway stands still", false, func(t *testing.T) {
			require.NoError(t, c.gateways[1].cmd.Process.Signal(syscall.SIGSTOP))
			l.until(t, &l.right, 50)
			require.NoError(t, c.gateways[1].cmd.Process.Signal(syscall.SIGCONT))
		}},
		{"a key is revoked", false, l.revoke},
	}
}

// again ends a replica with a signal and starts it.
func (r *replica) again(with syscall.Signal) {
	r.end(with)
	r.start()
}

// killProxy kills a proxy while the model's answer is awaited: what it decided stands.
func (l *load) killProxy(t *testing.T) {
	c := &conversation{load: l, url: l.team.model, owner: "alice", name: "linger", calls: 60, shown: map[string]string{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		alone := conversation{load: l.alone(), url: l.team.proxies[0].url, owner: c.owner, name: c.name, calls: c.calls, shown: map[string]string{}}
		_, _ = alone.post()
	}()
	time.Sleep(300 * time.Millisecond) // within the 500 ms of the model; if it is not, the request was answered
	l.team.proxies[0].again(syscall.SIGKILL)
	<-done
	require.Eventually(t, func() bool {
		first, ok := c.post()
		second, again := c.post()
		return ok && again && bytes.Equal(first, second)
	}, time.Minute, 10*time.Millisecond)
}

// drain ends a gateway with SIGTERM during a call of 9 s, which is answered.
func (l *load) drain(t *testing.T) {
	c := l.team
	r := c.gateways[2]
	file := c.file("drain")
	a := &agent{load: l, url: r.url, owner: "alice"}
	require.True(t, a.open())
	got := make(chan mcpAnswer, 1)
	begun := time.Now()
	go func() { got <- a.call("far_wait", map[string]any{"seconds": 9, "file": file}) }()
	require.Eventually(t, func() bool { return read(t, file) == "begun" }, 20*time.Second, 20*time.Millisecond)
	require.NoError(t, r.cmd.Process.Signal(syscall.SIGTERM))
	answer := <-got
	assert.Equal(t, "waited", answer.text, "%+v", answer)
	assert.GreaterOrEqual(t, time.Since(begun), 9*time.Second)
	require.NoError(t, r.cmd.Wait(), "a drained gateway ends with 0")
	r.start()
}

// admin executes a statement about the team's database and ends all its connections.
func (c *team) admin(t *testing.T, statement string) {
	t.Helper()
	name := c.name[len("postgres:///"):strings.Index(c.name, "?")]
	if strings.Contains(statement, "%s") {
		statement = fmt.Sprintf(statement, name)
	}
	c.db.SQL(t, c.db.Name("postgres"), statement)
	c.db.SQL(t, c.db.Name("postgres"), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"'")
}

// slowClients open connections to nginx and to a gateway, begin a request, and leave it.
func (c *team) slowClients(t *testing.T) {
	for i := range 200 {
		address := c.gateways[i%replicas].url[len("http://"):]
		if i%2 == 0 {
			address = c.front[len("https://"):]
		}
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\nAuthorization: Bearer %s\r\n\r\n{", c.keys["alice"])
		require.NoError(t, err)
	}
}

// revoke revokes a key. It is refused within a minute, at every replica, and the others' are not.
func (l *load) revoke(t *testing.T) {
	for _, r := range l.team.gateways {
		require.True(t, (&agent{load: l, url: r.url, owner: "eve"}).open())
	}
	var list struct {
		Keys []struct{ ID, Subject string }
	}
	require.NoError(t, json.Unmarshal([]byte(l.team.run("keys", "list", "--json")), &list))
	for _, k := range list.Keys {
		if k.Subject == "eve" {
			l.team.run("keys", "revoke", k.ID)
		}
	}
	for _, r := range l.team.gateways {
		require.Eventually(t, func() bool {
			a := &agent{load: l, url: r.url, owner: "eve"}
			return a.send("ping", "", map[string]any{}).status == http.StatusUnauthorized
		}, time.Minute, 200*time.Millisecond)
	}
}

func (c *team) allReady() {
	for _, r := range append(append([]*replica{}, c.gateways...), c.proxies...) {
		require.Eventually(c.t, r.ready, time.Minute, 50*time.Millisecond, "%v", r.args)
	}
}
