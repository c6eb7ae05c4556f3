package verbs

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// runGC runs the verb over a store with one segment.
func runGC(t *testing.T, file string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runGCWith(t, nil, file, args...)
}

func runGCWith(t *testing.T, env []string, file string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	verb := func(p command.Process) *cobra.Command { return gcCommand(p, "test") }
	return runVerb(t, verb, env, "", append(args, "--store", file)...)
}

// Looking into a ledger that is not there creates none.
func TestGCCreatesNothing(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"get", "s99"}, {"search", "x"}, {"analyze"}, {"pin", "--segment-ids", "s1"}, {"clean"}, {"stats"}} {
		_, out, errs := runGC(t, filepath.Join(dir, "state", "ledger.db"), args...)
		require.NotEmpty(t, out+errs)
		require.NoDirExists(t, filepath.Join(dir, "state"), args)
	}
}

func gcWorld(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ledger.db")
	store, err := store.OpenLedger(store.LedgerFile{File: file})
	require.NoError(t, err)
	_, err = store.Put(context.Background(), contextgc.Entry{Text: "first line\nconnection refused\n", Segment: contextgc.Segment{Project: "p", Tokens: 900}})
	require.NoError(t, err)
	require.NoError(t, store.Close())
	return file
}

func TestGCVerbs(t *testing.T) {
	file := gcWorld(t)
	code, out, _ := runGC(t, file, "search", "refused", "--project-id", "p")
	assert.Zero(t, code)
	assert.Contains(t, out, "s1 working  900 tokens, line 2: connection refused\n1 of 1\n")

	code, out, _ = runGC(t, file, "analyze", "--project-id", "p", "--target-tokens", "500", "--why")
	assert.Zero(t, code)
	assert.Contains(t, out, "plan: stash 1 segment(s) to target met")
	assert.Contains(t, out, "s1 scores 0.53 = ")
	assert.Contains(t, out, "  frees 900 tokens; costs 0 fresh tokens once, saves 90 with each call, pays after 0 calls\n")

	code, out, _ = runGC(t, file, "pin", "--project-id", "p", "--segment-ids", "s1,s9")
	assert.Zero(t, code)
	assert.Equal(t, "pinned: [s1]\nSegment s9 not found\n", out)
	code, _, errs := runGC(t, file, "prune", "--project-id", "p", "--segment-ids", "s1", "--action", "stash")
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "context_gc_unpin")
	code, _, _ = runGC(t, file, "unpin", "--project-id", "p", "--segment-ids", "s1")
	assert.Zero(t, code)
	code, out, _ = runGC(t, file, "prune", "--project-id", "p", "--segment-ids", "s1", "--action", "stash", "--json")
	assert.Zero(t, code)
	var pruned map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &pruned))
	assert.Equal(t, "stashed", pruned["action"])

	code, out, _ = runGC(t, file, "get", "s1")
	assert.Zero(t, code)
	assert.Equal(t, "first line\nconnection refused\n", out)
	code, out, _ = runGC(t, file, "get", "s1", "--pattern", "ref")
	assert.Zero(t, code)
	assert.Equal(t, "2:connection refused\n", out)
	code, out, _ = runGC(t, file, "stats", "--json")
	assert.Zero(t, code)
	assert.Equal(t, "[]\n", out)
}

// The heads of a verb's trace go to the standard error, as a server's do: with them the
// trace is proved to be whole.
func TestTheTraceOfAVerbIsInItsHeads(t *testing.T) {
	file, path := gcWorld(t), filepath.Join(t.TempDir(), "trace.jsonl")
	var log string
	for range 2 {
		code, _, errs := runGCWith(t, []string{"MCP_PRUNER_TRACE=" + path}, file, "get", "s1")
		require.Zero(t, code, errs)
		log += errs
	}
	heads, err := audit.ReadHeads(strings.NewReader(log))
	require.NoError(t, err)
	var verdict audit.Verdict
	require.NoError(t, audit.Open([]string{path}, nil, func(sources []*audit.Source) error {
		trace, err := audit.Verify(sources, audit.Options{All: true, Heads: heads})
		verdict = trace.Verdict()
		return err
	}))
	assert.True(t, verdict.OK, verdict.Problems)
	assert.Equal(t, []int{2, 2}, []int{verdict.Records, verdict.Writers})
}

// A record has what a call was about only where the settings ask for it.
func TestGCRecordsDetailOnlyWhenAskedFor(t *testing.T) {
	file := gcWorld(t)
	for value, want := range map[string]bool{"metadata": false, "full": true} {
		path := filepath.Join(t.TempDir(), "trace.jsonl")
		code, _, errs := runGCWith(t, []string{"MCP_PRUNER_TRACE=" + path, "MCP_PRUNER_TRACE_DETAIL=" + value}, file, "get", "s1")
		require.Zero(t, code, errs)
		line, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(line), `"subject":"`)
		assert.Equal(t, want, strings.Contains(string(line), `"detail":`), "%s", line)
	}
}

func TestWrongUsageOfGC(t *testing.T) {
	file := gcWorld(t)
	code, _, errs := runGC(t, file, "prune", "--project-id", "p", "--segment-ids", "s1", "--action", "delet")
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "--action: invalid enum value")
	code, _, errs = runGC(t, file, "analyze", "--project-id", "../p")
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "--project-id: invalid string")
	code, _, errs = runGC(t, file, "prune", "--project-id", "p", "--segment-ids", "s1", "--action", "delete")
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "confirm")
	code, _, errs = runGC(t, file, "get", "s77")
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "gc get: there is no such segment; mcp-pruner gc search finds those there are")
}

func TestSettingsForOpencode(t *testing.T) {
	code, out, _ := runGC(t, filepath.Join(t.TempDir(), "x"), "settings", "--for", "opencode")
	assert.Zero(t, code)
	assert.Contains(t, out, "experimental.chat.messages.transform")
	assert.NotContains(t, out, `program = "mcp-pruner"`, "the plugin has the path of the program")
}

func TestSettingsForTheAPI(t *testing.T) {
	code, out, _ := runGC(t, filepath.Join(t.TempDir(), "x"), "settings", "--for", "claude-api")
	assert.Zero(t, code)
	var got struct {
		ContextManagement struct {
			Edits []clearToolUses `json:"edits"`
		} `json:"context_management"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got.ContextManagement.Edits, 1)
	assert.Equal(t, clearToolUses{"clear_tool_uses_20250919", tokenAmount{"input_tokens", 40_000}, tokenAmount{"tool_uses", 5}, tokenAmount{"input_tokens", 20_000}},
		got.ContextManagement.Edits[0])
}
