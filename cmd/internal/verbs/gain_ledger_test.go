package verbs

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// TestGainOfASubject: the figures of a subject in a database are those of a file with the same calls.
func TestGainOfASubject(t *testing.T) {
	name := storetest.Start(t).Database(t)
	file := filepath.Join(t.TempDir(), "ledger.db")
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { at = at.Add(time.Minute); return at }
	own, err := store.OpenLedger(store.LedgerFile{File: file, Now: clock})
	require.NoError(t, err)
	db, err := store.Open(store.Database{Name: name})
	require.NoError(t, err)
	shared := store.LedgerIn(db, clock)
	defer func() { assert.NoError(t, shared.Close()) }()
	calls := []contextgc.Usage{
		{Session: "one", API: "anthropic", Input: 1000, Read: 9000, Written: 2000, Output: 300, Before: 5000, After: 4000, Cleared: 3},
		{Session: "two", API: "openai", Input: 700, Read: 100, Before: 800, After: 900, Cleared: 1},
		{Session: "one", API: "anthropic", Input: 10, Read: 11_000, Written: 50, Output: 20, Before: 7000, After: 4500, Cleared: 4},
	}
	add := func(whose string, to contextgc.Sessions, list []contextgc.Usage) {
		for _, u := range list {
			require.NoError(t, to.AddUsage(agent.WithSubject(t.Context(), whose), u))
		}
	}
	add("", own, calls)
	require.NoError(t, own.Close())
	add("alice", shared, calls)
	add("bob", shared, calls[:1])
	add("", shared, calls[1:2])

	run := func(store string, args ...string) (code int, stdout, stderr string) {
		code, stdout, stderr = runVerb(t, gainCommand, []string{"MCP_PRUNER_STORE=" + store}, "", args...)
		require.True(t, code != 0 || stderr == "", stderr)
		return code, stdout, stderr
	}
	_, alice, _ := run(name, "--subject", "alice")
	assert.True(t, strings.HasPrefix(alice, "Net +2.4k fresh input tokens (+23.3 %) in 2 sessions.\n5 results cleared by the proxy, worth +2400 with all that was read again charged.\n"), alice)
	_, inFile, _ := run("", "--store", file)
	assert.Equal(t, inFile, alice)
	_, asJSON, _ := run(name, "--subject", "alice", "--json")
	_, fileJSON, _ := run("", "--store", file, "--json")
	assert.NotContains(t, fileJSON, "0001-01-01", "the day is that of the latest request")
	assert.Equal(t, fileJSON, asJSON)
	_, owner, _ := run("", "--store", name)
	assert.Contains(t, owner, "in 1 session.\n1 result cleared")
	code, _, nobody := run(name, "--subject", "nobody")
	assert.Equal(t, 1, code)
	assert.Contains(t, nobody, "nothing has been cut or cleared yet")
	code, _, hint := runVerb(t, gainCommand, []string{"MCP_PRUNER_STORE=" + name, "HOME=" + t.TempDir()}, "")
	assert.Zero(t, code)
	assert.Contains(t, hint, "mcp-pruner gain --subject NAME", "an operator is told whose sessions these are")
	code, _, stderr := run("", "--store", file, "--subject", "alice")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "a ledger in a file has no subjects")
}
