package proxy

import (
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A session of 1,000 new results is cleared by the proxy, as one decision with one record, and no request of it times out. Its time limit is
// the product's, or ten times that on a machine that is busy.
func TestAThousandNewResultsAreCleared(t *testing.T) {
	var idle atomic.Bool
	events := clearsAThousand(t, childWithin+"="+(10*productWithin).String(), &idle)
	assert.Equal(t, 1, strings.Count(events, `"event":"tool.request_received"`))
	assert.NotContains(t, events, "store_failed")
}

// At the product's own limit, beside other work, each request is answered and carries the whole decision or none: what there is no time for
// is left to a later request. With the race detector the limit is ten times that.
func TestAThousandNewResultsBesideOtherWork(t *testing.T) {
	within := productWithin
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		within *= 10
	}
	var idle atomic.Bool
	for range 4 {
		go func() {
			for !idle.Load() {
			}
		}()
	}
	clearsAThousand(t, childWithin+"="+within.String(), &idle)
}

// clearsAThousand sends a session of 1,000 new results until they are cleared, and returns the proxy's events. Other work ends after 12
// requests.
func clearsAThousand(t *testing.T, within string, idle *atomic.Bool) string {
	defer idle.Store(true)
	up := newUpstream(t)
	c := startChild(t, up.URL, database(t), within)
	log := make(chan string)
	go func() {
		text, _ := io.ReadAll(c.err)
		log <- string(text)
	}()
	most := 0
	for n := 1000; n < 1024 && most == 0; n++ {
		idle.CompareAndSwap(false, n >= 1012)
		c.post(t, claudeHistory(n))
		most = cleared(up.last())
	}
	health := c.health(t)
	assert.Equal(t, OK, health.Status)
	assert.GreaterOrEqual(t, most, 990)
	assert.EqualValues(t, most, health.Replaced)
	assert.NoError(t, c.Process.Kill())
	return <-log
}
