package connect

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestAStormOfChangesIsListedSeldom announces changes without end, and after each list, and then a single one.
func TestAStormOfChangesIsListedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, end := context.WithCancel(t.Context())
		var lists, more atomic.Int64
		var c changes
		c.list = func(context.Context, *connection) {
			if lists.Add(1) < more.Load() {
				c.announce(life, nil)
			}
		}
		for range 100_000 {
			c.announce(life, nil)
		}
		synctest.Wait()
		assert.EqualValues(t, 1, lists.Load(), "at once")

		time.Sleep(calmAfter)
		synctest.Wait()
		lists.Store(0)
		more.Store(1_000_000)
		c.announce(life, nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Less(t, lists.Load(), int64(12), "it announces a change after each list")
		more.Store(0)
		time.Sleep(longestWait + calmAfter)
		synctest.Wait()
		lists.Store(0)
		c.announce(life, nil)
		synctest.Wait()
		assert.EqualValues(t, 1, lists.Load(), "it was calm: the change is seen at once")
		c.announce(life, nil)
		end()
		synctest.Wait()
		assert.EqualValues(t, 1, lists.Load(), "a server that ends is not listed again")
	})
}
