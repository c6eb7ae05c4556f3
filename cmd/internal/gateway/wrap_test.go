package gateway_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/gateway"
)

// wrapped starts a client of a fake server that the gateway wraps, which gets the client's whole environment.
func wrapped(t *testing.T, args ...string) *conversation {
	t.Helper()
	return wrappedAs(t, "plain", args...)
}

func wrappedAs(t *testing.T, kind string, args ...string) *conversation {
	t.Helper()
	t.Setenv("GATEWAY_TEST_SERVER", kind)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	exe, err := os.Executable()
	require.NoError(t, err)
	return converseWith(t, exe, append(append([]string{"--wrap"}, args...), "--")...)
}

// TestAWrappedServerIsTheSame: its tools keep their names, its instructions are its own, and calls, results and errors pass as they
// are. It checks the arguments itself; slips that the schema explains are put right.
func TestAWrappedServerIsTheSame(t *testing.T) {
	c := wrapped(t)
	greeting := c.result(hello("some-client", "{}"))
	assert.Contains(t, greeting, `Ask for items.`)
	assert.NotContains(t, greeting, "The server")
	list := c.result(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	assert.Contains(t, list, `"name":"get_item"`)
	assert.Contains(t, list, `"name":"list_items"`)
	for _, ours := range []string{"recover_text", "context_focus_question", `"find"`} {
		assert.NotContains(t, list, ours)
	}
	for args, want := range map[string]string{
		`{"id":1}`:            `{"content":[{"type":"text","text":"get_item{\"id\":1}"}]}`,
		`{"id":"1"}`:          `{"content":[{"type":"text","text":"get_item{\"id\":1}"}]}`,
		`{"id":2}`:            `{"content":[{"type":"text","text":"no such item"}],"isError":true}`,
		`{"id":3}`:            `{"code":-32050,"message":"out of stock","data":{"left":0}}`,
		`{"id":1,"more":"x"}`: `{"content":[{"type":"text","text":"get_item{\"id\":1,\"more\":\"x\"}"}]}`,
	} {
		assert.Equal(t, want, c.result(callOf(4, "get_item", args)), args)
	}
}

// TestAWrapRelays: every byte passes that is not about a list of tools: members that nobody here knows, and a result
// of 30 MB. The full text of a tool comes without the server, and an argument that is put right leaves the others
// as the client spelled them. The wrap ends with its server's code.
func TestAWrapRelays(t *testing.T) {
	c := wrapped(t)
	c.say(`{"jsonrpc":"2.0","id":"two","method":"tools/list"}`)
	list := c.hear()
	assert.Contains(t, list, `{"jsonrpc":"2.0","id":"two","result":{"tools":[`)
	assert.Contains(t, list, `"x-unknown":{"kept":1.50}`)
	help := c.result(callOf(3, "get_item", `{"action":"help"}`))
	assert.Contains(t, help, `Input schema of get_item: {`)
	came := c.result(callOf(4, "get_item", `{"note":"half \ud83d","big":12345678901234567890,"id":"20"}`))
	assert.Contains(t, came, `\"id\":20`)
	assert.Contains(t, came, `\"note\":\"half \\ud83d\"`)
	assert.Contains(t, came, `\"big\":12345678901234567890`)
	assert.Len(t, c.result(callOf(5, "get_item", `{"id":9}`)), 30<<20+len(`{"content":[{"type":"text","text":""}]}`))
	c.say(callOf(6, "get_item", `{"id":4}`))
	assert.Equal(t, 3, <-c.end)
	c.end <- 0
}

// TestAWrappedServersLongResultsAreCut: with --prune-over the way back is listed, and no tool takes a question.
func TestAWrappedServersLongResultsAreCut(t *testing.T) {
	c := wrapped(t, "--prune-over", "2000")
	c.result(hello("some-client", "{}"))
	list := c.result(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	assert.Contains(t, list, `"recover_text"`)
	assert.NotContains(t, list, "context_focus_question")
	cut := c.result(callOf(3, "get_item", `{"id":14}`))
	assert.Contains(t, cut, "ERROR payment of order 77 was refused: card expired")
	assert.Less(t, len(cut), 6000, "%.300s ... %s", cut, cut[len(cut)-300:])
	_, id, _ := strings.Cut(cut, `"jeeves/prune_id":"`)
	id, _, _ = strings.Cut(id, `"`)
	assert.Contains(t, c.result(callOf(4, "recover_text", `{"prune_id":"`+id+`","ranges":[{"start_line":601,"end_line":601}],"include_line_numbers":false}`)), "INFO request served in 4 ms")
	whole := c.result(callOf(5, "recover_text", `{"prune_id":"`+id+`"}`))
	assert.Contains(t, whole, "INFO request served in 4 ms", "the id alone, as the line in the place of a result names it")
	assert.Contains(t, whole, "ERROR payment of order 77 was refused")
	assert.Equal(t, whole, c.result(callOf(6, "recover_text", `{"prune_id":"`+id+`","ranges":[]}`)))
}

// TestAWrapCutsToHeadTailAndRecords: a long list of JSON on one line is cut to its first and last items, each of them whole.
func TestAWrapCutsToHeadTailAndRecords(t *testing.T) {
	c := wrapped(t, "--prune-over", "2000")
	c.result(hello("some-client", "{}"))
	var cut struct{ Content []struct{ Text string } }
	require.NoError(t, json.Unmarshal([]byte(c.result(callOf(3, "get_item", `{"id":21}`))), &cut))
	text := cut.Content[0].Text
	assert.Less(t, len(text), 2300)
	assert.Contains(t, text, "\n"+`{"n":0,"name":"item 0","state":"open"},`+"\n"+`{"n":1,"name":"item 1","state":"open"},`)
	assert.Contains(t, text, `{"n":198,"name":"item 198","state":"open"},`+"\n"+`{"n":199,"name":"item 199","state":"open"}]}`)
	assert.Contains(t, text, "records")
}

// TestAServersOwnRecoverTextStays: the server's tool keeps its name, nothing is cut, and the log says why, once.
func TestAServersOwnRecoverTextStays(t *testing.T) {
	c := wrappedAs(t, "evil", "--prune-over", "100")
	c.result(hello("some-client", "{}"))
	list := c.result(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	assert.Equal(t, 1, strings.Count(list, `"recover_text"`))
	long := strings.Repeat("words without an end ", 100)
	assert.Equal(t, `{"content":[{"type":"text","text":"recover_text{\"x\":\"`+long+`\"}"}]}`, c.result(callOf(3, "recover_text", `{"x":"`+long+`"}`)))
}

func TestAServerIsNamedByItsCommand(t *testing.T) {
	for line, want := range map[string]string{
		"npx -y @playwright/mcp": "mcp", "/opt/bin/files-server --x": "files-server", "docker run -i --rm mcp/git": "git",
		"uvx mcp-server-git": "mcp-server-git", "npx": "npx", "node.exe /srv/shop.js": "shop.js",
	} {
		assert.Equal(t, want, gateway.NameOf(strings.Fields(line)), line)
	}
}
