package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// patience is the time limit for an expected event. Only a failing test waits that long.
const patience = 30 * time.Second

// world is a gateway over fake servers, and its notes.
type world struct {
	*Gateway
	notes   chan string
	changes chan struct{}
}

func fakeServer(name, kind string) connect.Config {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return connect.Config{Name: name, Command: exe, Env: map[string]string{fakeVariable: kind, "SECRET_TOKEN": "hunter2hunter2"}}
}

// open starts a gateway with an empty cache.
func open(t *testing.T, o Options) *world {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	return reopen(t, o)
}

func reopen(t *testing.T, o Options) *world {
	t.Helper()
	w := &world{notes: make(chan string, 1000), changes: make(chan struct{}, 100)}
	o.Env = os.Environ()
	note := func(text string) { // the event log drops what it cannot keep, too: a note that waited would keep its server from ending
		select {
		case w.notes <- text:
		default:
		}
	}
	o.Note = func(event string, facts map[string]any) { note(event + " " + fmt.Sprint(facts)) }
	o.Stderr = func(server, line string) { note("stderr " + server + " " + line) }
	o.Changed = func(...string) { w.changes <- struct{}{} }
	if o.Mode == "" {
		o.Mode = Group
	}
	g, err := Open(o)
	require.NoError(t, err)
	w.Gateway = g
	t.Cleanup(g.Close)
	return w
}

func (w *world) call(t *testing.T, ctx context.Context, tool string, args map[string]any) (tools.Output, error) {
	t.Helper()
	for _, offered := range w.Tools("") {
		if offered.Name == tool {
			c, issues := offered.Check(args)
			require.Empty(t, issues)
			return c.Run(ctx)
		}
	}
	require.Failf(t, "no tool", "%s", tool)
	return nil, nil
}

func (w *world) waitFor(t *testing.T, note string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case n := <-w.notes:
			if strings.Contains(n, note) {
				return
			}
		case <-deadline:
			require.Failf(t, "not noted", "%s", note)
		}
	}
}

func item(action string, id int) map[string]any { return map[string]any{"action": action, "id": id} }

func TestResultsPassAsTheyAre(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}})
	w.Wait(t.Context(), patience, false)
	out, err := w.call(t, t.Context(), "shop_item", map[string]any{"action": "list"})
	require.NoError(t, err)
	o := out.(connect.Answer).Opaque()
	var want struct {
		Content    []json.RawMessage
		Structured json.RawMessage `json:"structuredContent"`
		Meta       map[string]json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(everyContent), &want))
	assert.Equal(t, want.Content, o.Content)
	assert.Equal(t, string(want.Structured), string(o.Structured))
	assert.Equal(t, `{"z":[1,2.0]}`, string(o.Meta["x/y"]))
	assert.Equal(t, "a <b> & c", out.Text())

	out, err = w.call(t, t.Context(), "shop_item", item("get", 1))
	require.NoError(t, err)
	assert.Equal(t, `get_item{"id":1}`, out.Text())
}

func TestFailuresOfAnUpstreamArrive(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}})
	w.Wait(t.Context(), patience, false)
	_, err := w.call(t, t.Context(), "shop_item", item("get", 2))
	var failed *tools.Error
	require.ErrorAs(t, err, &failed)
	assert.True(t, failed.Opaque.IsError)
	assert.Equal(t, "no such item", failed.Message)

	_, err = w.call(t, t.Context(), "shop_item", item("get", 3))
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, &tools.RPCError{Code: -32050, Message: "out of stock", Data: json.RawMessage(`{"left":0}`)}, failed.Opaque.RPC)

	_, err = w.call(t, t.Context(), "shop_item", item("get", 19))
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, &tools.RPCError{Code: -32603, Message: `out of stock (code "E_STOCK")`}, failed.Opaque.RPC)

	_, err = w.call(t, t.Context(), "shop_item", map[string]any{"action": "get"})
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "invalid_arguments", failed.Code)
	assert.Contains(t, failed.Message, "Usage: action=get, id")

	_, err = w.call(t, t.Context(), "shop_item", item("get", 15))
	require.ErrorAs(t, err, &failed)
	assert.Contains(t, failed.Message, "the MCP server shop asks for input by a result")

	out, err := w.call(t, t.Context(), "shop_item", map[string]any{"action": "help"})
	require.NoError(t, err)
	assert.Contains(t, out.Text(), "Deletes an item.")
}

func TestADeadUpstreamIsStartedAnew(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain"), fakeServer("other", "plain")}})
	w.Wait(t.Context(), patience, false)
	_, err := w.call(t, t.Context(), "shop_item", item("get", 4))
	var failed *tools.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "upstream_unavailable", failed.Code)
	assert.Contains(t, failed.Message, "the MCP server shop did not answer: it ended with exit code 3")
	out, err := w.call(t, t.Context(), "other_item", item("get", 1))
	require.NoError(t, err)
	assert.Equal(t, `get_item{"id":1}`, out.Text(), "the others go on")
	w.waitFor(t, "gateway.upstream_lost")
	out, err = w.call(t, t.Context(), "shop_item", item("get", 1))
	require.NoError(t, err)
	assert.Equal(t, `get_item{"id":1}`, out.Text())
}

func TestAServerThatCannotStartTakesNothingAway(t *testing.T) {
	missing := connect.Config{Name: "gone", Command: "no-such-command-anywhere", Env: map[string]string{"T": "hunter2hunter2"}}
	w := open(t, Options{Servers: []connect.Config{missing, fakeServer("shop", "plain")}})
	w.Wait(t.Context(), patience, false)
	require.Len(t, w.Tools(""), 1)
	var out strings.Builder
	require.NoError(t, w.WriteList(&out, upstream.Grouped))
	assert.Contains(t, out.String(), "gone: no tools: the command no-such-command-anywhere is not found: install it or give its whole path")
	assert.NotContains(t, out.String(), "hunter2")
}

// recorder is a client that records what it receives.
type recorder struct {
	mu    sync.Mutex
	told  []string
	asked string

	capabilities json.RawMessage // nil: everything that the fake servers ask for
}

func (c *recorder) ProgressToken() any { return "mine" }
func (c *recorder) Session() any       { return c }
func (c *recorder) Capabilities() json.RawMessage {
	if c.capabilities != nil {
		return c.capabilities
	}
	return json.RawMessage(`{"roots":{},"sampling":{},"elicitation":{}}`)
}
func (c *recorder) Modern() bool     { return false }
func (c *recorder) LogLevel() string { return "" }
func (c *recorder) Notify(method string, params any) {
	raw, _ := json.Marshal(params)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, method+" "+string(raw))
}
func (c *recorder) Ask(_ context.Context, method string, params json.RawMessage) (json.RawMessage, *tools.RPCError, error) {
	c.asked = method + " " + string(params)
	return json.RawMessage(`{"role":"assistant"}`), nil, nil
}

func TestProgressAndQuestionsReachTheCaller(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}})
	w.Wait(t.Context(), patience, false)
	c := &recorder{}
	s := w.server("shop")
	_, err := s.Call(t.Context(), "get_item", map[string]any{"id": 5}, map[string]any{"progressToken": "mine"}, nil, c)
	require.NoError(t, err)
	c.mu.Lock()
	assert.Equal(t, []string{`notifications/progress {"message":"half","progress":1,"progressToken":"mine","total":2}`}, c.told)
	c.mu.Unlock()
	result, err := s.Call(t.Context(), "get_item", map[string]any{"id": 6}, nil, nil, c)
	require.NoError(t, err)
	assert.Equal(t, `sampling/createMessage {"maxTokens":5,"messages":[]}`, c.asked)
	assert.Contains(t, result.Text(), `{"role":"assistant"}`)
}

func TestACancelReachesTheUpstream(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}})
	w.Wait(t.Context(), patience, false)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := w.server("shop").Call(ctx, "get_item", map[string]any{"id": 8}, nil, nil, nil)
		ended <- err
	}()
	w.waitFor(t, "stderr shop at work")
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	w.waitFor(t, "stderr shop cancelled")
}

func TestAChangedListIsTold(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}})
	w.Wait(t.Context(), patience, false)
	require.NotContains(t, string(w.Tools("")[0].InputSchema), "rename")
	_, err := w.call(t, t.Context(), "shop_item", item("get", 7))
	require.NoError(t, err)
	select {
	case <-w.changes:
	case <-time.After(patience):
		require.Fail(t, "nothing told of the change")
	}
	assert.Contains(t, string(w.Tools("")[0].InputSchema), "rename")
}

// TestAListIsMadeOnce checks that requests wait for one making of the first list, and get the list before while the next is made.
func TestAListIsMadeOnce(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}})
	w.Wait(t.Context(), patience, false)
	var asked sync.WaitGroup
	lists := make([]*shown, 8)
	for i := range lists {
		asked.Go(func() { lists[i] = w.show(w.ModeFor("")) })
	}
	asked.Wait()
	for _, l := range lists {
		require.Same(t, lists[0], l)
	}
	w.mu.Lock()
	w.version, w.making = w.version+1, make(chan struct{}) // this takes long
	w.mu.Unlock()
	require.Same(t, lists[0], w.show(w.ModeFor("")))
	w.makeLists()
	require.NotSame(t, lists[0], w.show(w.ModeFor("")))
}

func TestAListIsKeptForTheNextStart(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}})
	w.Wait(t.Context(), patience, false)
	before := w.Tools("")
	w.Close()
	deaf := fakeServer("shop", "deaf") // the same command, which now never answers
	again := reopen(t, Options{Servers: []connect.Config{deaf}})
	again.Wait(t.Context(), patience, true)
	after := again.Tools("")
	require.Len(t, after, len(before))
	assert.Equal(t, before[0].InputSchema, after[0].InputSchema)
}

func TestClientsThatSearchToolsGetThemTrimmed(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}, Mode: Auto})
	w.Wait(t.Context(), patience, false)
	assert.Len(t, w.Tools("claude-code"), 3)
	assert.Len(t, w.Tools("opencode"), 1)
}

func TestALargeResultPasses(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}})
	w.Wait(t.Context(), patience, false)
	out, err := w.call(t, t.Context(), "shop_item", item("get", 9))
	require.NoError(t, err)
	assert.Len(t, out.Text(), 30<<20)
}

func TestAMappingOfAnUnknownToolIsRefused(t *testing.T) {
	maps := upstream.Mappings{"shop": {Namespace: "shop", Hide: []string{"sell_item"}}}
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}, Maps: maps})
	w.waitFor(t, `gateway.upstream_tool_skipped map[message:its mapping names what it does not have: hide: no tool "sell_item" upstream:shop]`)
	w.Wait(t.Context(), patience, false)
	assert.EqualError(t, w.Check(), `mapping of server shop: hide: no tool "sell_item"`)
}

// TestTheReportHasEveryMode checks that each row has the servers' own list and the modes, and that a server without an
// answer is named.
func TestTheReportHasEveryMode(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain"), fakeServer("gone", "rude")}, Mode: Auto, Target: upstream.DefaultTarget})
	w.Wait(t.Context(), patience, false)
	rows := w.Report(func(text string) int { return len(text) })
	require.Len(t, rows, 5) // shop and all, in two modes, and gone
	for _, r := range rows[:4] {
		assert.Equal(t, 3, r.Tools)
		assert.Positive(t, r.Before)
		assert.Positive(t, r.WireBefore)
		assert.Positive(t, r.Wire)
	}
	var table strings.Builder
	require.NoError(t, WriteReport(&table, rows))
	assert.Contains(t, table.String(), "gone is left out: it ended with exit code 7")
}
