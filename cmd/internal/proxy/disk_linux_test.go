package proxy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/smalldisk"
)

// If the disk of the ledger and the trace is full, requests pass through unchanged and the proxy says so.
// It clears again when there is space, and ends in order in any case.
func TestAFullDiskStopsNothing(t *testing.T) {
	up := newUpstream(t)
	dir, fill, free := smalldisk.New(t)
	p := startChild(t, up.URL, filepath.Join(dir, "ledger.db"))
	p.post(t, claudeHistory(2)) // the ledger and the trace have begun
	fill()
	for _, n := range []int{40, 41} {
		p.post(t, claudeHistory(n))
		assert.True(t, string(claudeHistory(n)) == string(up.last()), "%d calls: unchanged", n)
	}
	free()
	p.post(t, claudeHistory(42))
	assert.Contains(t, string(up.last()), "[cleared: ")
	fill()
	log := p.end(t)
	assert.Contains(t, log, `"proxy.passed_through"`)
	assert.Contains(t, log, "full")
}

// A trace that cannot be written costs no clearing.
func TestAFullDiskOfTheTraceStopsNothing(t *testing.T) {
	up := newUpstream(t)
	dir, fill, _ := smalldisk.New(t)
	p := startChild(t, up.URL, filepath.Join(t.TempDir(), "ledger.db"), "MCP_PRUNER_TRACE="+filepath.Join(dir, "trace.jsonl"))
	fill()
	p.post(t, claudeHistory(40))
	assert.Contains(t, string(up.last()), "[cleared: ")
	log := p.end(t)
	assert.Contains(t, log, `"mcp_pruner.trace_failed"`)
	assert.NotContains(t, log, `"proxy.passed_through"`)
	assert.Equal(t, 1, strings.Count(log, `"mcp_pruner.stopped"`))
}
