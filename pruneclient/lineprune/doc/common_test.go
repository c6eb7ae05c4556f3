package doc

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/tuning"
)

func TestCommonWords(t *testing.T) {
	assert.Zero(t, BitsOf("the"))
	assert.Less(t, BitsOf("errors"), BitsOf("retries"))
	assert.InDelta(t, tuning.RareBits, BitsOf("websocket"), 0)
	for stem, bits := range common() {
		assert.True(t, bits >= 0 && bits <= tuning.RareBits, "%s: %v", stem, bits)
	}
}
