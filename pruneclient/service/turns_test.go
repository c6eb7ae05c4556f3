package service

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Many texts of one subject delay another's by the one that is being processed only.
func TestSubjectsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Settings{Concurrency: 1})
		var done []string
		for _, subject := range []string{"mallory", "mallory", "mallory", "mallory", "alice", "bob"} {
			go func() {
				_ = s.inSlot(agent.WithSubject(t.Context(), subject), func() error {
					time.Sleep(time.Second)
					done = append(done, subject)
					return nil
				})
			}()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"mallory", "alice", "bob", "mallory", "mallory", "mallory"}, done)
		assert.Empty(t, s.turns.of)
	})
}
