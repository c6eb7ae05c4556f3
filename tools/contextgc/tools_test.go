package contextgc_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

var noon = time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)

func newStore(t *testing.T) contextgc.Segments {
	t.Helper()
	store, err := store.OpenLedger(store.LedgerFile{File: filepath.Join(t.TempDir(), "ledger.db"), Now: func() time.Time { return noon }})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return store
}

// callTool calls a tool as a client does. refused is true if the call failed or its
// arguments were invalid.
func callTool(t *testing.T, set contextgc.Toolset, name string, args map[string]any) (result map[string]any, refused bool) {
	t.Helper()
	out, err := runTool(t, set, name, args)
	if err != nil {
		return nil, true
	}
	data, err := json.Marshal(out.Structured(nil))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &result))
	return result, false
}

func runTool(t *testing.T, set contextgc.Toolset, name string, args map[string]any) (tools.Output, error) {
	t.Helper()
	i := slices.IndexFunc(set.Tools(), func(t tools.Tool) bool { return t.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	call, issues := set.Tools()[i].Check(args)
	if len(issues) > 0 {
		return nil, errors.New(fmt.Sprint(issues))
	}
	return call.Run(context.Background())
}

// world returns a project with a log, a message, old code, a decision and a pinned note.
func world(t *testing.T) contextgc.Toolset {
	t.Helper()
	store := newStore(t)
	add := func(id string, kind contextgc.Type, tokens int, age time.Duration, pinned bool) {
		_, err := store.Put(context.Background(), contextgc.Entry{Text: "the text of " + id + "\nline two\n", Segment: contextgc.Segment{
			ID: id, Project: "p", Type: kind, Tokens: tokens, Created: noon.Add(-age), Pinned: pinned,
		}})
		require.NoError(t, err)
	}
	add("a", contextgc.Log, 100, 2*time.Hour, false)
	add("b", contextgc.Message, 50, 0, false)
	add("c", contextgc.Code, 70, 30*time.Hour, false)
	add("d", contextgc.Decision, 20, 30*time.Minute, false)
	add("pin", contextgc.Note, 30, 90*time.Hour, true)
	return contextgc.Toolset{Store: store, Project: "p", Now: func() time.Time { return noon }}
}

// list returns a JSON array.
func list(items ...any) []any { return items }

// The eight scenarios of the design, by number.

func TestAnalyzeNamesCandidates(t *testing.T) { // 1
	got, _ := callTool(t, world(t), "context_gc_analyze", map[string]any{"project_id": "p"})
	assert.EqualValues(t, 4, got["total_candidates"])
	assert.EqualValues(t, 240, got["estimated_tokens_freed"])
	first := got["pruning_candidates"].([]any)[0].(map[string]any)
	assert.Equal(t, "c", first["segment_id"])
	assert.Equal(t, "old (30.0h), no references", first["reason"])
	assert.NotContains(t, got, "pruning_plan")
}

func TestAnalyzePlansForATarget(t *testing.T) { // 2
	got, _ := callTool(t, world(t), "context_gc_analyze", map[string]any{"project_id": "p", "target_tokens": 150.0, "why": true})
	plan := got["pruning_plan"].(map[string]any)
	assert.Equal(t, list("c", "a"), plan["stash_segments"])
	assert.Empty(t, plan["delete_segments"], "nobody asked for deleting")
	assert.Equal(t, "stash 2 segment(s) to target met", plan["reason"])
	assert.Contains(t, fmt.Sprint(got["explanation"]), "It pays after")
	// The 50 tokens of b, the 20 of d and the 30 of pin follow a: they are written at 1.25 instead of read at 0.1.
	same(t, map[string]any{"cost": 115.0, "saved_per_call": 17.0, "pays_after_calls": 7.0}, plan["break_even"], "break_even")

	got, _ = callTool(t, world(t), "context_gc_analyze", map[string]any{"project_id": "p", "target_tokens": 200.0})
	assert.Equal(t, list("target_tokens 200 cannot be met: 170 tokens score high enough to go"), got["warnings"])
	got, _ = callTool(t, world(t), "context_gc_analyze", map[string]any{"project_id": "p", "target_tokens": 241.0})
	assert.Equal(t, list("target_tokens 241 exceeds the 240 prunable tokens"), got["warnings"])
	got, _ = callTool(t, world(t), "context_gc_analyze", map[string]any{"project_id": "p", "target_tokens": 0.0})
	assert.NotContains(t, got["pruning_plan"], "break_even", "nothing is freed")
}

func TestStash(t *testing.T) { // 3
	set := world(t)
	got, _ := callTool(t, set, "context_gc_prune", map[string]any{"project_id": "p", "segment_ids": list("a", "nope", "a"), "action": "stash"})
	assert.Equal(t, list("a"), got["pruned_segments"])
	assert.EqualValues(t, 100, got["tokens_freed"])
	assert.Equal(t, "stashed", got["action"])
	assert.Equal(t, list("Segment nope not found"), got["errors"])
	out, err := runTool(t, set, "context_get", map[string]any{"segment_id": "a"})
	require.NoError(t, err)
	assert.Equal(t, "the text of a\nline two\n", out.Text(), "what is stashed can be read")
	got, _ = callTool(t, set, "context_gc_prune", map[string]any{"project_id": "p", "segment_ids": list("a"), "action": "stash"})
	assert.Equal(t, list("Segment a is stashed already"), got["errors"])
	got, _ = callTool(t, set, "context_gc_prune", map[string]any{"project_id": "p", "segment_ids": list("a"), "action": "delete", "confirm": true})
	assert.Equal(t, list("a"), got["pruned_segments"])
	assert.EqualValues(t, 0, got["tokens_freed"], "it was not in the context any more")
}

func TestDelete(t *testing.T) { // 4
	set := world(t)
	args := map[string]any{"project_id": "p", "segment_ids": list("a"), "action": "delete"}
	_, err := runTool(t, set, "context_gc_prune", args)
	assert.ErrorContains(t, err, "confirmation_required")
	args["confirm"] = true
	got, _ := callTool(t, set, "context_gc_prune", args)
	assert.Equal(t, "deleted", got["action"])
	_, err = runTool(t, set, "context_get", map[string]any{"segment_id": "a"})
	assert.ErrorContains(t, err, "not_found")
	found, _ := callTool(t, set, "context_search", map[string]any{"project_id": "p", "query": "text of a"})
	assert.EqualValues(t, 0, found["total_matches"])
}

func TestPinProtects(t *testing.T) { // 5
	set := world(t)
	got, _ := callTool(t, set, "context_gc_pin", map[string]any{"project_id": "p", "segment_ids": list("c", "nope")})
	assert.Equal(t, list("c"), got["pinned_segments"])
	assert.Equal(t, list("Segment nope not found"), got["errors"])
	assert.NotContains(t, got, "unpinned_segments")
	got, _ = callTool(t, set, "context_gc_analyze", map[string]any{"project_id": "p"})
	assert.EqualValues(t, 3, got["total_candidates"])
	got, _ = callTool(t, set, "context_gc_unpin", map[string]any{"project_id": "p", "segment_ids": list("c")})
	assert.Equal(t, list("c"), got["unpinned_segments"])
	got, _ = callTool(t, set, "context_gc_analyze", map[string]any{"project_id": "p"})
	assert.EqualValues(t, 4, got["total_candidates"])
}

func TestPinnedIsNotPruned(t *testing.T) { // 6
	set := world(t)
	for _, action := range []string{"stash", "delete"} {
		got, _ := callTool(t, set, "context_gc_prune",
			map[string]any{"project_id": "p", "segment_ids": list("pin", "b"), "action": action, "confirm": true})
		assert.Contains(t, got["errors"], "Segment pin is pinned and cannot be pruned")
		_, err := runTool(t, set, "context_gc_prune",
			map[string]any{"project_id": "p", "segment_ids": list("pin"), "action": action, "confirm": true})
		assert.ErrorContains(t, err, "pinned and cannot be pruned")
	}
}

func TestNoCandidates(t *testing.T) { // 7
	got, _ := callTool(t, world(t), "context_gc_analyze", map[string]any{"project_id": "none"})
	assert.Empty(t, got["pruning_candidates"])
	assert.NotNil(t, got["pruning_candidates"])
	assert.Equal(t, "no candidates", got["message"])
}

func TestAllPinned(t *testing.T) { // 8
	set := world(t)
	callTool(t, set, "context_gc_pin", map[string]any{"project_id": "p", "segment_ids": list("a", "b", "c", "d")})
	_, err := runTool(t, set, "context_gc_analyze", map[string]any{"project_id": "p"})
	assert.ErrorContains(t, err, "context_gc_unpin")
}

func TestRootsAreKept(t *testing.T) {
	set := world(t)
	got, _ := callTool(t, set, "context_gc_analyze", map[string]any{"project_id": "p", "context_descriptors": map[string]any{}})
	assert.EqualValues(t, 3, got["total_candidates"], "the decision of the last hour is kept")
	_, err := set.Store.Put(context.Background(), contextgc.Entry{Text: "m", Segment: contextgc.Segment{
		ID: "m", Project: "p", Type: contextgc.Message, Task: "t1", Tags: []string{"ref:a"}}}, contextgc.Entry{Text: "f", Segment: contextgc.Segment{
		ID: "f", Project: "p", Type: contextgc.Code, Path: "x.go"}})
	require.NoError(t, err)
	got, _ = callTool(t, set, "context_gc_analyze", map[string]any{"project_id": "p", "task_id": "t1",
		"context_descriptors": map[string]any{"current_file": map[string]any{"path": "x.go"}, "recent_messages": list()}})
	again, _ := callTool(t, set, "context_gc_analyze", map[string]any{"project_id": "p", "context_descriptors": map[string]any{
		"current_file": "x.go", "task_info": map[string]any{"task_id": "t1"}}})
	assert.Equal(t, got, again, "the file may be a text, and the task may be in the descriptors")
	var left []string
	for _, c := range got["pruning_candidates"].([]any) {
		left = append(left, c.(map[string]any)["segment_id"].(string))
	}
	assert.Equal(t, []string{"c", "b"}, left, "m is the task's, a is what m refers to, f is the current file")
}

func TestBadArguments(t *testing.T) {
	set := contextgc.Toolset{}
	for _, c := range []struct {
		tool, args, want string
	}{
		{"context_gc_analyze", `{}`, "[{project_id invalid_type}]"},
		{"context_gc_analyze", `{"project_id":"../x"}`, "[{project_id invalid_string}]"},
		{"context_gc_analyze", `{"project_id":"p","target_tokens":-1,"x":1}`, "[{ unrecognized_keys} {target_tokens too_small}]"},
		{"context_gc_prune", `{"project_id":"p","segment_ids":[],"action":"delet"}`, "[{action invalid_enum_value} {segment_ids too_small}]"},
		{"context_gc_prune", `{"project_id":"p","segment_ids":["a b"]}`, "[{action invalid_type} {segment_ids.0 invalid_string}]"},
		{"context_get", `{"segment_id":"s1","start_line":3,"end_line":2,"pattern":"("}`, "[{pattern invalid_string} {start_line custom}]"},
		{"context_search", `{"project_id":"p","limit":0.5,"type":"x"}`, "[{limit invalid_type} {type invalid_enum_value}]"},
	} {
		var args map[string]any
		require.NoError(t, json.Unmarshal([]byte(c.args), &args))
		i := slices.IndexFunc(set.Tools(), func(t tools.Tool) bool { return t.Name == c.tool })
		_, issues := set.Tools()[i].Check(args)
		slices.SortFunc(issues, func(a, b tools.Issue) int { return cmp.Compare(a.Path, b.Path) })
		assert.Equal(t, c.want, fmt.Sprint(issues), c.args)
	}
}

func TestGetLinesAndMatches(t *testing.T) {
	set := world(t)
	_, err := set.Store.Put(context.Background(), contextgc.Entry{Text: "one\r\ntwo\nthree", Segment: contextgc.Segment{ID: "t", Project: "p"}})
	require.NoError(t, err)
	get := func(args map[string]any) string {
		args["segment_id"] = "t"
		out, err := runTool(t, set, "context_get", args)
		require.NoError(t, err)
		return out.Text()
	}
	assert.Equal(t, "one\r\ntwo\nthree", get(map[string]any{}))
	assert.Equal(t, "two\nthree", get(map[string]any{"start_line": 2.0}))
	assert.Equal(t, "one\r\n", get(map[string]any{"end_line": 1.0}))
	assert.Equal(t, "2:two\n3:three", get(map[string]any{"pattern": "^t"}))
	out, err := runTool(t, set, "context_get", map[string]any{"segment_id": "t", "start_line": 9.0})
	require.NoError(t, err)
	assert.Equal(t, "nothing there: the segment has 3 lines", out.(tools.Noticer).Notice())
}

func TestSearch(t *testing.T) {
	set := world(t)
	got, _ := callTool(t, set, "context_search", map[string]any{"project_id": "p", "query": "LINE two", "limit": 1.0})
	assert.EqualValues(t, 5, got["total_matches"])
	first := got["segments"].([]any)[0].(map[string]any)
	assert.Equal(t, "b", first["segment_id"], "the newest")
	assert.EqualValues(t, 2, first["line"])
	assert.Equal(t, "line two", first["excerpt"])
	got, _ = callTool(t, set, "context_search", map[string]any{"project_id": "p", "query": `"two" OR (`, "type": "log"})
	assert.EqualValues(t, 0, got["total_matches"], "or is a word like any other")
}
