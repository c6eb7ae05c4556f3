package proxy

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

// If the disk of the ledger and the trace is full, requests pass through unchanged and the proxy says so.
// It clears again when there is space, and ends in order in any case.
func TestAFullDiskStopsNothing(t *testing.T) {
	up := newUpstream(t)
	dir, fill, free := tooltest.SmallDisk(t)
	p := startChild(t, up.URL, filepath.Join(dir, "ledger.db"))
	p.post(t, full(claudeHistory(2))) // the ledger and the trace have begun
	fill()
	for _, n := range []int{40, 41} {
		p.post(t, full(claudeHistory(n)))
		assert.True(t, string(full(claudeHistory(n))) == string(up.last()), "%d calls: unchanged", n)
	}
	was := p.health(t)
	assert.Equal(t, Passing, was.Status)
	assert.Contains(t, was.Message, "full")
	free()
	require.Eventually(t, func() bool {
		p.post(t, claudeHistory(42))
		return cleared(up.last()) > 0
	}, time.Minute, 10*time.Millisecond, "it heals")
	require.Eventually(t, func() bool { return p.health(t).Status == OK }, time.Minute, 10*time.Millisecond)
	fill()
	log := p.end(t)
	assert.Contains(t, log, `"ledger.failed"`)
	assert.Contains(t, log, `"ledger.restored"`)
}

// A trace that cannot be written costs no clearing.
func TestAFullDiskOfTheTraceStopsNothing(t *testing.T) {
	up := newUpstream(t)
	dir, fill, _ := tooltest.SmallDisk(t)
	p := startChild(t, up.URL, filepath.Join(t.TempDir(), "ledger.db"), "MCP_PRUNER_TRACE="+filepath.Join(dir, "trace.jsonl"))
	fill()
	p.post(t, claudeHistory(40))
	assert.Contains(t, string(up.last()), "[cleared ")
	log := p.end(t)
	assert.Contains(t, log, `"mcp_pruner.trace_failed"`)
	assert.NotContains(t, log, `"proxy.passed_through"`)
	assert.Equal(t, 1, strings.Count(log, `"mcp_pruner.stopped"`))
}
