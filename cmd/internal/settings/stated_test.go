package settings

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state of settings' defaults are those of the table.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/AUDIT.md")
	page.Says("`MCP_PRUNER_TRACE_MAX_BYTES` (%s MiB)", "the default", byDefault(t, Stdio, "MCP_PRUNER_TRACE_MAX_BYTES")>>20)
	page.Says("`MCP_PRUNER_TRACE_MAX_AGE_S` (%s days)", "the default", byDefault(t, Stdio, "MCP_PRUNER_TRACE_MAX_AGE_S")/86400)
	page.Says("`MCP_PRUNER_TRACE_KEEP` (%s)", "the default", byDefault(t, Stdio, "MCP_PRUNER_TRACE_KEEP"))
	page = stated.On(t, "docs/GC.md")
	page.Says("was not used for %s days leaves", "MCP_PRUNER_GC_KEEP_DAYS", byDefault(t, Stdio, "MCP_PRUNER_GC_KEEP_DAYS"))
	page.Says("Above %s GiB the sessions", "MCP_PRUNER_GC_MAX_BYTES", byDefault(t, Stdio, "MCP_PRUNER_GC_MAX_BYTES")>>30)
	page = stated.On(t, "docs/clients/codex.md")
	page.Says("may take %s s (`tool_timeout_sec`), as long as the longest command", "MCP_PRUNER_BASH_MAX_TIMEOUT_MS", byDefault(t, Stdio, "MCP_PRUNER_BASH_MAX_TIMEOUT_MS")/1000)
	page = stated.On(t, "docs/decisions/020-originals-live-for-a-day.md")
	page.Says("uses the specified %s s.", "the default of the service", byDefault(t, Pruner, "MCP_PRUNER_PRUNE_ID_TTL_S"))
	page = stated.On(t, "docs/decisions/034-slots-are-shared-fairly.md")
	page.Says("`MCP_PRUNER_MAX_CALLS` (%s) limits", "the default", byDefault(t, Stdio, "MCP_PRUNER_MAX_CALLS"))
}

// byDefault returns the default of a program's setting.
func byDefault(t *testing.T, program Program, name string) int64 {
	t.Helper()
	for _, r := range table() {
		if r.Name == name && r.For&program != 0 {
			n, err := strconv.ParseInt(r.Default, 10, 64)
			require.NoError(t, err)
			return n
		}
	}
	t.Fatalf("no setting %s", name)
	return 0
}

// A setting takes the ends of the range that the pages state, and nothing outside of it.
func TestRangesAreAsStated(t *testing.T) {
	ranges := regexp.MustCompile(`from (\d+) to (\d+)`)
	for _, r := range table() {
		ends := ranges.FindStringSubmatch(r.Allowed)
		if ends == nil {
			continue
		}
		takes := func(value string) bool {
			if r.Take != nil {
				return r.Take(new(Settings), value)
			}
			s, _ := LoadPruner(nil, func(name string) (string, bool) {
				value, ok := map[string]string{"KIMI_PRUNING_BACKEND": "deepinfra", r.Name: value}[name]
				return value, ok
			})
			return len(s.Notes) == 0
		}
		least, _ := strconv.ParseInt(ends[1], 10, 64)
		most, _ := strconv.ParseInt(ends[2], 10, 64)
		for value, want := range map[int64]bool{least - 1: false, least: true, most: true, most + 1: false} {
			assert.Equal(t, want, takes(fmt.Sprint(value)), "%s=%d: want %s", r.Name, value, r.Allowed)
		}
	}
}
