package process

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A3: what does not end by SIGTERM is killed 500 ms later.
func TestTheTimeBetweenSIGTERMAndSIGKILL(t *testing.T) {
	assert.Equal(t, 500*time.Millisecond, killAfter)
}
