package audit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHeadsAreReadFromATextLog(t *testing.T) {
	h, ok := headOf(`2026-01-01T00:00:00.000000Z INFO  mcp_pruner.trace_head writer=00112233445566ff seq=0 link="" key=abc+/ final=false`)
	require.True(t, ok)
	assert.Equal(t, Head{Writer: "00112233445566ff", Key: "abc+/"}, h)
	h, ok = headOf(`2026-01-01T00:00:00.000000Z INFO  mcp_pruner.trace_head writer=00112233445566ff seq=7 link=0a1b key=abc final=true`)
	require.True(t, ok)
	assert.Equal(t, Head{"00112233445566ff", 7, "0a1b", "abc", true}, h)
	_, ok = headOf("hello")
	require.False(t, ok)
}
