package replay

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// What the client itself has cleared is no item any more: the planner has nothing to clear, and the model that needs it did not lose it
// by us.
func TestWhatTheClientClearedIsGone(t *testing.T) {
	use := sessions.Step{Kind: sessions.Use, ID: "c1", Tool: "bash", Args: map[string]any{"command": "make"}}
	result := sessions.Step{Kind: sessions.Result, ID: "c1", Tool: "bash", Args: use.Args, Out: strings.Repeat("a line that a command printed\n", 200)}
	call := sessions.Step{Kind: sessions.Call}
	f := &Figures{trial: &trial{Bill: billed([]sessions.Step{call, use, result, call, {Kind: sessions.Drop, ID: "c1"}, call})}}
	by := &clearsAt{}
	b := f.tape(nil).Play(contextgc.DefaultPolicy(), by, false)
	require.Len(t, by.shown[1].Items, 1)
	assert.False(t, by.shown[1].Items[0].Cleared)
	require.Len(t, by.shown[2].Items, 1)
	assert.True(t, by.shown[2].Items[0].Cleared)
	assert.Less(t, by.shown[2].Tokens, by.shown[1].Tokens)
	assert.InDelta(t, b.Before, b.After, 1e-9)
}

// A file of some 400 tokens is written, an edit replaces one of its lines, and between them the arguments are cleared: the model
// lacks what it wrote. It does not where a result that still stands shows the line.
func TestArgumentsOfEditsAreItems(t *testing.T) {
	text := strings.Repeat("a line of the file that is written\n", 60) + "the line that is edited\n"
	write := sessions.Step{Kind: sessions.Use, Tool: "Write", Args: map[string]any{"file_path": "/r/a.go", "content": text}}
	edit := sessions.Step{Kind: sessions.Use, Tool: "Edit", Args: map[string]any{"file_path": "/r/a.go", "old_string": "the line that is edited", "new_string": "another line"}}
	shows := sessions.Step{Kind: sessions.Result, Tool: "Bash", Out: "    61→the line that is edited\n"}
	call := sessions.Step{Kind: sessions.Call}
	for name, c := range map[string]struct {
		before sessions.Step
		turns  int
	}{"the model wrote it": {sessions.Step{Kind: sessions.Say}, 1}, "a result shows it": {shows, 0}} {
		f := &Figures{trial: &trial{Bill: billed([]sessions.Step{call, write, call, c.before, call, edit, call})}}
		by := &clearsAt{which: map[int][]int{3: {0}}}
		b := f.tape(nil).Play(contextgc.DefaultPolicy(), by, false)
		require.Len(t, by.shown[1].Items, 1, name)
		item := by.shown[1].Items[0]
		assert.Equal(t, contextgc.KindWritten, item.Kind)
		assert.Equal(t, "/r/a.go", item.Path)
		assert.Equal(t, tokens.Claude(text), item.Tokens)
		assert.Equal(t, c.turns, b.Turns, name)
	}
	small := write
	small.Args = map[string]any{"file_path": "/r/a.go", "content": "short\n"}
	by := &clearsAt{}
	f := &Figures{trial: &trial{Bill: billed([]sessions.Step{call, small, call})}}
	f.tape(nil).Play(contextgc.DefaultPolicy(), by, false)
	assert.Empty(t, by.shown[1].Items)
}

// A planner knows of a lost cache only what can be seen; the bill knows all.
func TestWhatIsLostUnseen(t *testing.T) {
	for _, c := range []struct {
		model string
		read  int
		want  bool // the planner is told
	}{{"claude-opus-5", 2000, true}, {"gpt-5.4", 2000, false}} {
		call := func(read, written int) sessions.Step {
			return sessions.Step{Kind: sessions.Call, Model: c.model, Usage: &sessions.Usage{CacheRead: read, CacheWrite: written}}
		}
		s := sessions.Session{ID: "s", Source: "x", Steps: []sessions.Step{call(0, 10_000), call(c.read, 8500)}}
		by := &clearsAt{}
		f := &Figures{trial: &trial{Bill: sessions.Billed(s, nil)}}
		b := f.tape(nil).Play(contextgc.DefaultPolicy(), by, false)
		assert.Equal(t, c.want, 2*by.shown[1].Cached < by.shown[1].Tokens, c.model)
		assert.Greater(t, b.Before, 15_000.0)
	}
}
