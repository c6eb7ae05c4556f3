package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// kit is both tools over a store of their own.
type kit struct {
	store *recovery.Store
	tools map[string]tools.Tool
}

func newKit(t *testing.T) kit {
	t.Helper()
	store, err := recovery.Open(recovery.Settings{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	k := kit{store, map[string]tools.Tool{}}
	for _, tool := range mcpserver.TextTools(service.New(service.Settings{Store: store})) {
		k.tools[tool.Name] = tool
	}
	return k
}

// call runs a tool on arguments given as JSON.
func (k kit) call(t *testing.T, tool, args string) (tools.Output, error) {
	t.Helper()
	call, issues := k.tools[tool].Check(decode(t, args))
	require.Empty(t, issues)
	assert.Empty(t, call.FocusQuestion())
	return call.Run(t.Context())
}

func decode(t *testing.T, args string) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(args), &v))
	return v
}

// structured returns the structuredContent that a client finds.
func structured(t *testing.T, out tools.Output) map[string]any {
	t.Helper()
	raw, err := json.Marshal(out.Structured(map[string]any{"applied": false}))
	require.NoError(t, err)
	return decode(t, string(raw))
}

func TestTools(t *testing.T) {
	k := newKit(t)
	require.Len(t, k.tools, 2)
	for _, name := range []string{"prune_text", "recover_text"} {
		tool := k.tools[name]
		assert.True(t, tool.ReadOnly, name)
		assert.Less(t, len(tool.Description), 1000, name)
		var schema struct {
			Type                 string
			AdditionalProperties *bool
			Properties           map[string]struct{ Type, Description string }
		}
		require.NoError(t, json.Unmarshal(tool.InputSchema, &schema))
		assert.Equal(t, "object", schema.Type)
		assert.False(t, *schema.AdditionalProperties)
		for property, p := range schema.Properties {
			assert.NotEmpty(t, p.Type, property)
			assert.NotEmpty(t, p.Description, property)
		}
	}
}

func TestPruneThenRecover(t *testing.T) {
	k := newKit(t)
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "step %d of the build went well and <took> no time\n", i)
	}
	text.WriteString("the deploy of gateway was refused by the registry\n")
	args, err := json.Marshal(map[string]any{
		"text": text.String(), "goal_hint": "why was the deploy of gateway refused", "source_type": "docs",
		"options": map[string]any{"max_prune_ratio": 0.9, "min_keep_lines": 1, "timeout_ms": 5000, "annotate_lines": false, "include_markers": true},
	})
	require.NoError(t, err)
	out, err := k.call(t, "prune_text", string(args))
	require.NoError(t, err)

	got := decode(t, out.Text())
	assert.Contains(t, got["pruned_text"], "the deploy of gateway was refused by the registry")
	assert.Less(t, len(got["pruned_text"].(string)), text.Len()/2)
	assert.Contains(t, out.Text(), "<took>", "no HTML escapes")
	also := structured(t, out)
	assert.Equal(t, "prune_text", also["tool"])
	assert.Equal(t, map[string]any{"applied": false}, also["pruning"])
	for name, value := range got {
		assert.Equal(t, value, also[name], name)
	}

	out, err = k.call(t, "recover_text", fmt.Sprintf(
		`{"prune_id":%q,"ranges":[{"start_line":1,"end_line":9999}],"include_line_numbers":false}`, got["prune_id"]))
	require.NoError(t, err)
	assert.Equal(t, text.String(), out.Text())
	assert.Equal(t, text.String(), structured(t, out)["raw_text"])
	assert.NotContains(t, structured(t, out), "next_start_line")
}

// Pages, each asked for as the one before said, are the original.
func TestRecoverPages(t *testing.T) {
	k := newKit(t)
	original := strings.Repeat(strings.Repeat("x", 99)+"\n", 5000)
	id, err := k.store.Put(t.Context(), original)
	require.NoError(t, err)
	start, pages := 1, []string{}
	for start > 0 {
		out, err := k.call(t, "recover_text", fmt.Sprintf(
			`{"prune_id":%q,"ranges":[{"start_line":%d,"end_line":5000}],"include_line_numbers":false}`, id, start))
		require.NoError(t, err)
		got := structured(t, out)
		pages = append(pages, got["raw_text"].(string))
		assert.LessOrEqual(t, len(pages[len(pages)-1]), 200_000)
		next, _ := got["next_start_line"].(float64)
		if start = int(next); start > 0 {
			assert.True(t, strings.HasPrefix(out.Text(), fmt.Sprintf("[cut: ask next for start_line %d, end_line 5000]\nxxx", start)))
		}
	}
	assert.Len(t, pages, 3)
	assert.Equal(t, original, strings.Join(pages, "\n")+"\n")
}

func TestRecoverByPattern(t *testing.T) {
	k := newKit(t)
	id, err := k.store.Put(t.Context(), "a.b\nacb\nb")
	require.NoError(t, err)
	for args, want := range map[string]string{
		`"pattern":"a.b"`:                "1│ a.b",
		`"pattern":"a.b","regex":true`:   "1│ a.b\n2│ acb",
		`"pattern":"zzz"`:                "",
		`"pattern":"^b$","regex":true`:   "3│ b",
		`"pattern":"^b$","regex":false`:  "",
		`"pattern":"(?i)B","regex":true`: "1│ a.b\n2│ acb\n3│ b",
	} {
		out, err := k.call(t, "recover_text", fmt.Sprintf(`{"prune_id":%q,"ranges":[],"include_line_numbers":false,%s}`, id, args))
		require.NoError(t, err)
		assert.Equal(t, want, out.Text(), args)
		assert.Equal(t, want == "", out.(tools.Noticer).Notice() == "no matches", args)
	}
}

// Where the text is empty a reader is told why.
func TestRecoverNothing(t *testing.T) {
	k := newKit(t)
	id, err := k.store.Put(t.Context(), "a\n\nb")
	require.NoError(t, err)
	for ranges, want := range map[string]string{
		``:                              "no lines were asked for; the text has 3",
		`{"start_line":2,"end_line":2}`: "",
	} {
		out, err := k.call(t, "recover_text", fmt.Sprintf(`{"prune_id":%q,"ranges":[%s],"include_line_numbers":false}`, id, ranges))
		require.NoError(t, err)
		assert.Empty(t, out.Text())
		assert.Equal(t, want, out.(tools.Noticer).Notice())
	}
}

func TestToolErrors(t *testing.T) {
	k := newKit(t)
	id, err := k.store.Put(t.Context(), "a\nb")
	require.NoError(t, err)
	for name, tc := range map[string]struct{ id, ranges, code, message string }{
		"unknown id":         {"prn_x", `[{"start_line":0,"end_line":0}]`, "prune_id_not_found", "this prune_id is unknown or too old; run the original call again"},
		"bad range":          {id, `[{"start_line":2,"end_line":1}]`, "invalid_range", "lines 2-1: want 1 <= start_line <= end_line"},
		"too many ranges":    {id, "[" + strings.Repeat(`{"start_line":1,"end_line":2},`, 1000) + `{"start_line":1,"end_line":2}]`, "answer_too_large", "ask for fewer or smaller ranges at once"},
		"range past the end": {id, `[{"start_line":3,"end_line":3}]`, "invalid_range", "start_line 3 is past the end: the text has 2 lines"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := k.call(t, "recover_text", fmt.Sprintf(`{"prune_id":%q,"ranges":%s,"include_line_numbers":true}`, tc.id, tc.ranges))
			var failed *tools.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, tc.code, failed.Code)
			assert.Equal(t, tc.message, failed.Message)
		})
	}
}

func TestChecks(t *testing.T) {
	k := newKit(t)
	call, issues := k.tools["prune_text"].Check(decode(t, `{"text":1,"options":{}}`))
	assert.Nil(t, call)
	assert.Contains(t, issues, tools.Issue{Path: "text", Code: "invalid_type"})
	assert.Contains(t, issues, tools.Issue{Path: "options.timeout_ms", Code: "invalid_type"})
	call, issues = k.tools["recover_text"].Check(decode(t, `{"prune_id":"p","ranges":[],"include_line_numbers":true,"x":1}`))
	assert.Nil(t, call)
	assert.Equal(t, []tools.Issue{{Path: "", Code: "unrecognized_keys"}}, issues)
}

func TestPruneObeysCancellation(t *testing.T) {
	k := newKit(t)
	call, issues := k.tools["prune_text"].Check(decode(t, `{"text":"a","goal_hint":"g","source_type":"docs",
		"options":{"max_prune_ratio":1,"min_keep_lines":0,"timeout_ms":1000,"annotate_lines":false,"include_markers":false}}`))
	require.Empty(t, issues)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	cancel()
	_, err := call.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// In a trace, what is recovered is about what was pruned, and never the whole of it.
func TestRecoveringIsAboutTheOriginal(t *testing.T) {
	recovering, issues := newKit(t).tools["recover_text"].Check(decode(t, `{"prune_id":"prn_1","ranges":[],"include_line_numbers":false}`))
	require.Empty(t, issues)
	about, ok := recovering.(tools.Subjecter)
	require.True(t, ok)
	assert.Equal(t, tools.Subject{PruneID: "prn_1", Part: true}, about.Subject())
}
