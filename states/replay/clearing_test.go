package replay

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The figures of single sessions stand beside those of all, for the planner and for the fixed rule.
func TestClearingPerSession(t *testing.T) {
	var c clearing
	c.add(cleared{input: 1000, change: -300, fixed: -100, reread: 10})
	c.add(cleared{input: 100, change: 2, fixed: 5})
	c.add(cleared{input: 900, change: -90})
	c.add(cleared{})
	assert.Equal(t, Clearing{Pruning: Pruning{Net: 3}, Input: -19.4, Reread: .5, Worst: 2, Fixed: -4.75, FixedWorst: 5}, c.finish(Pruning{Net: 3}))
}
