package doc

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCommonWords(t *testing.T) {
	assert.Zero(t, BitsOf("the"))
	assert.Less(t, BitsOf("errors"), BitsOf("retries"))
	assert.InDelta(t, RareBits, BitsOf("websocket"), 0)
	for stem, bits := range common() {
		assert.True(t, bits >= 0 && bits <= RareBits, "%s: %v", stem, bits)
	}
}
