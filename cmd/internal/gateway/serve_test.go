package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// conversation is a client of the gateway over stdio.
type conversation struct {
	t   *testing.T
	in  *io.PipeWriter
	out chan string // lines
	end chan int
}

func converse(t *testing.T, args ...string) *conversation {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	return converseWith(t, serversFile(t, map[string]any{"shop": fakeEntry("plain")}), args...)
}

// fakeEntry is the entry of a fake server.
func fakeEntry(kind string) map[string]any {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return map[string]any{"command": exe, "env": map[string]string{"GATEWAY_TEST_SERVER": kind, "SHOP_TOKEN": "hunter2hunter2"}}
}

func serversFile(t *testing.T, entries map[string]any) (path string) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"mcpServers": entries})
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), "servers.json")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return path
}

func converseWith(t *testing.T, config string, args ...string) *conversation {
	t.Helper()
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	var log strings.Builder
	p := command.Process{Args: slices.Concat([]string{"gateway"}, args, []string{config}), Env: os.Environ(), Stdin: stdin, Stdout: stdout, Stderr: &log}
	c := &conversation{t: t, in: in, out: make(chan string, 10_000), end: make(chan int, 1)}
	go c.read(out)
	go func() {
		c.end <- command.Execute(t.Context(), verbs.Root(p), p)
		stdout.Close()
	}()
	t.Cleanup(func() {
		in.Close()
		assert.Equal(t, 0, <-c.end)
		assert.NotContains(t, log.String(), "hunter2")
	})
	return c
}

func (c *conversation) say(line string) {
	c.t.Helper()
	_, err := io.WriteString(c.in, line+"\n")
	require.NoError(c.t, err)
}

func (c *conversation) hear() string {
	c.t.Helper()
	line, ok := <-c.out
	require.True(c.t, ok, "it has ended")
	return line
}

// read reads all lines, also while the client says something, as clients do.
func (c *conversation) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		c.out <- lines.Text()
	}
	close(c.out)
}

func (c *conversation) result(request string) string {
	c.t.Helper()
	c.say(request)
	var answer struct{ Result, Error json.RawMessage }
	require.NoError(c.t, json.Unmarshal([]byte(c.hear()), &answer))
	return string(answer.Result) + string(answer.Error)
}

func hello(client, capabilities string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":%s,"clientInfo":{"name":%q,"version":"1"}}}`, capabilities, client)
}

func callOf(id int, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

func TestTheGatewayServes(t *testing.T) {
	c := converse(t)
	assert.Contains(t, c.result(hello("some-client", "{}")), `"listChanged":true`)
	list := c.result(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	assert.Contains(t, list, `"name":"shop_item"`)
	assert.NotContains(t, list, `"name":"get_item"`)
	assert.Equal(t, list, c.result(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`), "the same bytes every time")
	for args, want := range map[string]string{
		`{"action":"list"}`: `{"content":[{"type":"text","text":"a <b> & c"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"},` +
			`{"type":"resource","resource":{"uri":"x://y","text":"z"}},{"type":"resource_link","uri":"x://y","name":"y","annotations":{"priority":0.5}}],` +
			`"structuredContent":{"n":12345678901234567890,"m":1.50},"_meta":{"x/y":{"z":[1,2.0]}}}`,
		`{"action":"get","id":1}`: `{"content":[{"type":"text","text":"get_item{\"id\":1}"}]}`,
		`{"action":"get","id":2}`: `{"content":[{"type":"text","text":"no such item"}],"isError":true}`,
		`{"action":"get","id":3}`: `{"code":-32050,"message":"out of stock","data":{"left":0}}`,
	} {
		assert.Equal(t, want, c.result(callOf(4, "shop_item", args)), args)
	}
	var came struct{ Content []struct{ Text string } }
	sent := `"note":["half \ud83d or \uDE00","whole \ud83d\ude00"]`
	require.NoError(t, json.Unmarshal([]byte(c.result(callOf(6, "shop_item", `{"action":"get","id":20,`+sent+`,"other":"\u00e9"}`))), &came))
	assert.Contains(t, came.Content[0].Text, `"arguments":{"id":20,`+sent+`,"other":"é"}`, "half of a pair arrives as it was sent")
	assert.Contains(t, c.result(callOf(5, "shop_item", `{"action":"gett","id":1}`)), `did you mean \"get\"?`)
}

// TestLongResultsArePruned checks that a long text is pruned to the question if the mapping enables it,
// that the rest of the result stays, and that recover_text returns the omitted lines.
func TestLongResultsArePruned(t *testing.T) {
	mapping := filepath.Join(t.TempDir(), "map.json")
	require.NoError(t, os.WriteFile(mapping, []byte(`{"servers":{"shop":{"prune_over":2000}}}`), 0o600))
	c := converse(t, "--map", mapping)
	c.result(hello("some-client", "{}"))
	list := c.result(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	assert.Contains(t, list, `"context_focus_question"`)
	assert.Contains(t, list, `"recover_text"`)
	var result struct {
		Content []struct {
			Type, Text  string
			Annotations map[string]int
		}
		StructuredContent any
		Meta              map[string]json.RawMessage `json:"_meta"`
	}
	question := `"context_focus_question":"why was the payment of order 77 refused?"`
	require.NoError(t, json.Unmarshal([]byte(c.result(callOf(3, "shop_item", `{"action":"get","id":14,`+question+`}`))), &result))
	require.Len(t, result.Content, 3)
	text := result.Content[0].Text
	assert.Contains(t, text, "ERROR payment of order 77 was refused: card expired")
	assert.Less(t, len(text), 4000)
	assert.NotContains(t, text, "file_path=")
	assert.Equal(t, 1, result.Content[0].Annotations["priority"])
	assert.Equal(t, "resource_link", result.Content[1].Type)
	assert.Nil(t, result.StructuredContent)
	id := string(result.Meta["jeeves/prune_id"])
	assert.Contains(t, result.Content[2].Text, strings.Trim(id, `"`))
	whole := c.result(callOf(4, "recover_text", `{"prune_id":`+id+`,"ranges":[{"start_line":601,"end_line":601}],"include_line_numbers":false}`))
	assert.Contains(t, whole, "INFO request served in 4 ms")
	short := c.result(callOf(5, "shop_item", `{"action":"get","id":1,`+question+`}`))
	assert.Equal(t, `{"content":[{"type":"text","text":"get_item{\"id\":1}"}]}`, short, "a short result passes as it is")
}

// TestAGatewayWithAStoreCutsLongResults: nobody has to write a mapping file for that, nor the model a question.
func TestAGatewayWithAStoreCutsLongResults(t *testing.T) {
	t.Setenv("MCP_PRUNER_STORE", "sqlite:"+filepath.Join(t.TempDir(), "state.db"))
	mapping := filepath.Join(t.TempDir(), "map.json")
	require.NoError(t, os.WriteFile(mapping, []byte(`{"servers":{"shop":{"prune_over":-1}}}`), 0o600))
	for _, never := range [][]string{nil, {"--prune-over", "0"}, {"--map", mapping}} {
		c := converse(t, never...)
		c.result(hello("some-client", "{}"))
		list, got := c.result(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), c.result(callOf(3, "shop_item", `{"action":"get","id":14}`))
		if never != nil {
			assert.NotContains(t, list, `"recover_text"`, never)
			assert.Greater(t, len(got), 16_000, never)
			continue
		}
		assert.Contains(t, list, `"recover_text"`)
		assert.Contains(t, got, "ERROR payment of order 77 was refused: card expired")
		assert.Less(t, len(got), 4000)
	}
}

// TestANoteSaysWhyAResultCameWhole checks that the note is beside a text that was to be pruned, that nothing else of the
// result changes, and that there is no note where no pruning was tried.
func TestANoteSaysWhyAResultCameWhole(t *testing.T) {
	const maxNoteTokens = 30
	type result struct {
		Content           []struct{ Type, Text string }
		StructuredContent struct{ Patch string }
	}
	mapping := filepath.Join(t.TempDir(), "map.json")
	require.NoError(t, os.WriteFile(mapping, []byte(`{"servers":{"shop":{"prune_over":2000}}}`), 0o600))
	patch := callOf(2, "shop_item", `{"action":"get","id":18,"context_focus_question":"what is new in the ninth file?"}`)
	asked := func(args ...string) (r result) {
		c := converse(t, args...)
		c.result(hello("some-client", "{}"))
		require.NoError(t, json.Unmarshal([]byte(c.result(patch)), &r))
		return r
	}
	whole := asked("--map", mapping)
	require.Len(t, whole.Content, 2)
	assert.Equal(t, whole.StructuredContent.Patch, whole.Content[0].Text)
	note := whole.Content[1].Text
	assert.Equal(t, "[not pruned: every line of a diff counts]", note)
	assert.LessOrEqual(t, tokens.EstimateAll(note), maxNoteTokens)

	t.Setenv("PRUNER_URL", "http://127.0.0.1:9/prune") // nobody listens there
	failed := asked("--map", mapping)
	require.Len(t, failed.Content, 2)
	assert.Equal(t, whole.Content[0], failed.Content[0])
	assert.Equal(t, "[not pruned: the pruner failed]", failed.Content[1].Text)

	passed := asked()
	assert.Equal(t, whole.Content[:1], passed.Content)
}

func TestACallOfAServerThatIsNotThereNamesIt(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	c := converseWith(t, serversFile(t, map[string]any{"trouble": fakeEntry("rude")}))
	c.result(hello("some-client", "{}"))
	assert.Equal(t, `{"code":-32603,"message":"the MCP server trouble, which would have the tool trouble_item, cannot be asked: it ended with exit code 7"}`,
		c.result(callOf(2, "trouble_item", "{}")))
	assert.Contains(t, c.result(callOf(3, "other_item", "{}")), `"code":-32602`)
}

func TestAServersQuestionReachesTheClient(t *testing.T) {
	c := converse(t)
	c.result(hello("some-client", `{"sampling":{}}`))
	c.say(callOf(2, "shop_item", `{"action":"get","id":6}`))
	var question struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(c.hear()), &question))
	assert.Equal(t, "sampling/createMessage", question.Method)
	assert.JSONEq(t, `{"messages":[],"maxTokens":5,"_meta":{"mcp-pruner/server":"shop"}}`, string(question.Params))
	c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"role":"assistant","model":"m"}}`, question.ID))
	assert.Contains(t, c.hear(), `{\"role\":\"assistant\",\"model\":\"m\"}`)
}

func TestAClientThatSearchesToolsKeepsTheirNames(t *testing.T) {
	c := converse(t)
	c.result(hello("claude-code", "{}"))
	list := c.result(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	for _, name := range []string{"get_item", "list_items", "delete_item"} {
		assert.Contains(t, list, `"name":"shop_`+name+`"`)
	}
	assert.NotContains(t, list, "alwaysLoad")
	assert.Equal(t, `{"content":[{"type":"text","text":"get_item{\"id\":1}"}]}`, c.result(callOf(3, "shop_get_item", `{"id":1}`)))
}

// verb runs a verb of the program and returns its output.
func verb(t *testing.T, args ...string) string {
	t.Helper()
	var out, log strings.Builder
	p := command.Process{Args: args, Env: os.Environ(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &log}
	require.Equal(t, 0, command.Execute(t.Context(), verbs.Root(p), p), log.String())
	return out.String()
}

// TestCallsOfUpstreamsAreInTheTrace checks that each call has run through the request machine: a
// result, a tool error, a JSON-RPC error and a refusal, all of them in order.
func TestCallsOfUpstreamsAreInTheTrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	t.Setenv("MCP_PRUNER_TRACE", file)
	t.Run("calls", func(t *testing.T) { // ends with the gateway
		c := converse(t)
		c.result(hello("some-client", "{}"))
		for i, args := range []string{`{"action":"get","id":1}`, `{"action":"get","id":2}`, `{"action":"get","id":3}`, `{"action":"gett"}`} {
			c.result(callOf(2+i, "shop_item", args))
		}
	})
	verb(t, "trace", "verify", file)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "hunter2")
	calls := 0
	for line := range strings.Lines(string(raw)) {
		if strings.Contains(line, `"shop_item"`) {
			calls++
			assert.Contains(t, line, "req:validating")
			assert.Contains(t, line, "req:executing")
		}
	}
	assert.Equal(t, 4, calls)
}

// TestAPrunedResultIsInTheLedger checks that the ledger lists an upstream's pruned result and
// returns exactly what the client was shown, and that recover_text returns all of the original.
func TestAPrunedResultIsInTheLedger(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("MCP_PRUNER_GC_STORE", filepath.Join(dir, "ledger.db"))
	mapping := filepath.Join(dir, "map.json")
	require.NoError(t, os.WriteFile(mapping, []byte(`{"servers":{"shop":{"prune_over":2000}}}`), 0o600))
	type result struct {
		Content []struct{ Text string }
		Meta    map[string]json.RawMessage `json:"_meta"`
	}
	var shown, whole result
	t.Run("calls", func(t *testing.T) { // ends with the gateway, which has then stored all
		c := converse(t, "--map", mapping)
		c.result(hello("some-client", "{}"))
		require.NoError(t, json.Unmarshal([]byte(c.result(callOf(2, "shop_item", `{"action":"get","id":14,"context_focus_question":"why was the payment of order 77 refused?"}`))), &shown))
		all := fmt.Sprintf(`{"prune_id":%s,"ranges":[{"start_line":1,"end_line":601}],"include_line_numbers":false}`, shown.Meta["jeeves/prune_id"])
		require.NoError(t, json.Unmarshal([]byte(c.result(callOf(3, "recover_text", all))), &whole))
	})
	log := strings.Repeat("INFO request served in 3 ms\n", 300) + "ERROR payment of order 77 was refused: card expired\n" + strings.Repeat("INFO request served in 4 ms\n", 300)
	assert.Contains(t, whole.Content[0].Text, log)

	var found struct {
		Segments []struct {
			ID   string `json:"segment_id"`
			Tool string `json:"source_tool"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(verb(t, "gc", "search", "--json", "refused")), &found))
	require.Len(t, found.Segments, 1)
	assert.Equal(t, "shop_item", found.Segments[0].Tool)
	assert.Equal(t, shown.Content[0].Text, verb(t, "gc", "get", found.Segments[0].ID))
}

// modern are the fields of every request of protocol 2026-07-28.
const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"some-client","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// TestTheNewestProtocolListsTheSame checks that the list says how long it may be kept, and that
// every connection gets the same bytes, whatever came before.
func TestTheNewestProtocolListsTheSame(t *testing.T) {
	ask := `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + modern + `}}`
	first := converse(t)
	list := first.result(ask)
	for _, part := range []string{`"resultType":"complete"`, `"ttlMs":0`, `"cacheScope":"private"`, `"name":"shop_item"`} {
		assert.Contains(t, list, part)
	}
	first.result(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"shop_item","arguments":{"action":"get","id":1},%s}}`, modern))
	assert.Equal(t, list, first.result(ask))
	second := converse(t)
	second.result(hello("some-client", "{}"))
	legacy := second.result(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	assert.Equal(t, list, converse(t).result(ask), "another connection")
	assert.Equal(t, toolsOf(t, list), toolsOf(t, legacy), "another protocol")
}

func toolsOf(t *testing.T, list string) string {
	t.Helper()
	var result struct{ Tools json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(list), &result))
	return string(result.Tools)
}

// TestAChangedListIsToldToTheClient checks this in the protocol with sessions and in the newest,
// where a client subscribes.
func TestAChangedListIsToldToTheClient(t *testing.T) {
	const changed = "notifications/tools/list_changed"
	c := converse(t)
	c.result(hello("some-client", "{}"))
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.result(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	c.say(callOf(3, "shop_item", `{"action":"get","id":7}`))
	heard := c.hear() + c.hear() // the answer and the notification, in either order
	assert.Contains(t, heard, changed)
	assert.Contains(t, c.result(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`), `"rename"`)

	c = converse(t)
	c.result(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + modern + `}}`)
	c.say(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modern + `}}`)
	require.Contains(t, c.hear(), "notifications/subscriptions/acknowledged")
	c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"shop_item","arguments":{"action":"get","id":7},%s}}`, modern))
	heard = c.hear() + c.hear()
	assert.Contains(t, heard, changed)
}

// TestOurNamesAreReserved compares the reserved names with the tools that the program serves.
func TestOurNamesAreReserved(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	var out, log strings.Builder
	env := append(os.Environ(), "MCP_PRUNER_TOOLSETS=core,text,gc", "PRUNER_URL=embedded", "MCP_PRUNER_GC_STORE="+t.TempDir()+"/gc.db")
	p := command.Process{Env: env, Stdout: &out, Stderr: &log,
		Stdin: strings.NewReader(hello("c", "{}") + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n")}
	require.Equal(t, 0, command.Execute(t.Context(), verbs.Root(p), p), log.String())
	names := 0
	for line := range strings.Lines(out.String()) {
		var answer struct {
			Result struct{ Tools []struct{ Name string } }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &answer))
		for _, tool := range answer.Result.Tools {
			names++
			assert.True(t, upstream.Reserved[tool.Name], tool.Name)
		}
	}
	assert.Equal(t, 11, names)
}

// able are the fields of a request of protocol 2026-07-28 of a client that can be asked for a sample.
const able = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"some-client","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}`

// TestAQuestionIsAResultInTheNewestProtocol checks that a server's question becomes a result that asks, that the next call
// brings the server the answer, that its state counts once and only for the same call, and that a client which did not
// declare the capability is not asked.
func TestAQuestionIsAResultInTheNewestProtocol(t *testing.T) {
	c := converse(t)
	call := func(id int, meta, more string) string {
		return c.result(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"shop_item","arguments":{"action":"get","id":6}%s,%s}}`, id, more, meta))
	}
	var result struct {
		Type     string                     `json:"resultType"`
		Requests map[string]json.RawMessage `json:"inputRequests"`
		State    string                     `json:"requestState"`
		Content  *json.RawMessage           `json:"content"`
	}
	require.NoError(t, json.Unmarshal([]byte(call(1, able, "")), &result))
	assert.Equal(t, "input_required", result.Type)
	assert.Nil(t, result.Content)
	require.Len(t, result.Requests, 1)
	assert.JSONEq(t, `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5,"_meta":{"mcp-pruner/server":"shop"}}}`, string(result.Requests["q1"]))

	answers := fmt.Sprintf(`,"inputResponses":{"q1":{"role":"assistant","model":"m"}},"requestState":%q`, result.State)
	done := call(2, able, answers)
	assert.Contains(t, done, `{\"model\":\"m\",\"role\":\"assistant\"}`)
	assert.Contains(t, done, `"resultType":"complete"`)
	assert.Contains(t, call(3, able, answers), "requestState belongs to no call that waits for an answer")

	require.NoError(t, json.Unmarshal([]byte(call(4, able, "")), &result))
	other := fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"shop_item","arguments":{"action":"get","id":1},"requestState":%q,%s}}`, result.State, able)
	assert.Contains(t, c.result(other), "requestState belongs to no call that waits for an answer", "another call")

	assert.Contains(t, call(6, modern, ""), `{"type":"text","text":""}`, "the server's question was refused")
}
