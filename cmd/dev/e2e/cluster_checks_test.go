//go:build e2e

package e2e

import (
	"crypto/tls"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// until waits until a number has grown by n, and at most 15 s: clients need not succeed while something is broken.
func (l *load) until(t *testing.T, number *atomic.Int64, n int64) {
	t.Helper()
	from, end := number.Load(), time.Now().Add(15*time.Second)
	for number.Load() < from+n && time.Now().Before(end) {
		time.Sleep(20 * time.Millisecond)
	}
}

// serving waits until clients get answers, and ids, again.
func (l *load) serving(t *testing.T) {
	t.Helper()
	for _, r := range l.team.gateways {
		a := &agent{load: l.alone(), url: r.url, owner: "alice"}
		require.Eventually(t, func() bool {
			a.round("probe")
			return len(a.load.issued) > 0 && a.load.right.Load() > 1
		}, time.Minute, 100*time.Millisecond, "%s", r.log)
	}
	for _, r := range l.team.proxies {
		for n := 0; ; n++ {
			c := &conversation{load: l.alone(), url: r.url, owner: "alice", name: fmt.Sprintf("probe-%s-%d-%d", r.url[len(r.url)-5:], time.Now().UnixNano(), n), calls: 60, shown: map[string]string{}}
			if _, ok := c.post(); ok && c.load.cleared.Load() > 0 {
				break
			}
			require.Less(t, n, 100, "%s clears nothing: %v", r.log, c.load.problems)
			time.Sleep(200 * time.Millisecond)
		}
	}
	l.until(t, &l.right, teamClients) // requests that began before the end of the fault
}

// calm requires that every request is answered while nothing is broken.
func (l *load) calm(t *testing.T, when string) {
	t.Helper()
	refused, right := l.refused.Load(), l.right.Load()
	l.until(t, &l.right, 4*teamClients)
	t.Logf("%-40s %5d answers", when, l.right.Load()-right)
	assert.Equal(t, refused, l.refused.Load(), "%s: %v", when, l.problems)
	require.GreaterOrEqual(t, l.right.Load()-right, int64(2*teamClients), when)
}

// nothingLost asks each gateway for originals that any of them stored, for their owner and for another.
func (l *load) nothingLost(t *testing.T) {
	t.Helper()
	require.Greater(t, len(l.issued), 100)
	step := max(1, len(l.issued)/60)
	for n := 0; n < len(l.issued); n += step {
		i := l.issued[n]
		for _, r := range l.team.gateways {
			own := &agent{load: l, url: r.url, owner: i.owner, modern: true}
			assert.True(t, own.recovers(i), "%s at %s: %v", i.id, r.url, l.problems)
		}
		other := &agent{load: l, url: l.team.front, owner: map[bool]string{true: "bob", false: "alice"}[i.owner == "alice"], modern: true}
		assert.False(t, other.recovers(i))
	}
	assert.Empty(t, l.wrong)
}

// certificate returns the name in nginx's certificate.
func (c *team) certificate(t *testing.T) string {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(c.front, "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
}

// alone returns a load of one client, whose answers do not count among the others.
func (l *load) alone() *load { return &load{team: l.team, http: l.http, problems: map[string]int{}} }
