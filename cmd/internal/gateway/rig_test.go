package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rig is a configuration with ten servers that misbehave in ten ways, and one that works.
func rig(t *testing.T) (config string) {
	return serversFile(t, map[string]any{
		"mute":    fakeEntry("deaf"),                           // never answers
		"gone":    fakeEntry("rude"),                           // ends at once
		"nowhere": map[string]any{"command": "no-such-server"}, // cannot be started
		"typo":    map[string]any{"comand": "x"},               // has an entry that cannot be used
		"bare":    fakeEntry("empty"),                          // lists nothing
		"weird":   fakeEntry("odd"),                            // lists tools that cannot be read
		"endless": fakeEntry("endless"),                        // lists without end
		"loud":    fakeEntry("loud"),                           // sends instructions without end, in the name of another
		"flood":   fakeEntry("plain"),                          // sends lines without end (item 11)
		"mortal":  fakeEntry("plain"),                          // dies during a call (item 4)
		"good":    fakeEntry("full"),
	})
}

// rigClient is a client of the rig. ask sends a request and returns its result or its error, and all that the client was
// sent meanwhile.
type rigClient struct {
	t    *testing.T
	name string
	ask  func(method, params string) (answer, heard string)
}

func (c rigClient) call(tool, args string) string {
	answer, _ := c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	return answer
}

// over returns a client with a session over stdio.
func (c *conversation) over(name string) rigClient {
	id := 10
	return rigClient{c.t, name, func(method, params string) (string, string) {
		id++
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
		var heard strings.Builder
		for {
			line := c.hear()
			if answer, is := answerTo(id, line); is {
				return answer, heard.String()
			}
			heard.WriteString(line + "\n")
		}
	}}
}

// over returns a client over HTTP, of protocol 2026-07-28 if fields are given.
func (c httpClient) over(name, fields string) rigClient {
	id := 10
	return rigClient{c.t, name, func(method, params string) (string, string) {
		id++
		if fields != "" {
			var named struct{ Name, URI string }
			assert.NoError(c.t, json.Unmarshal([]byte(params), &named))
			params, c.headers = withFields(params), map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method}
			if name := named.Name + named.URI; name != "" {
				c.headers["Mcp-Name"] = name
			}
		}
		answer := c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
		defer answer.Body.Close()
		var heard strings.Builder
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			line := strings.TrimPrefix(lines.Text(), "data: ")
			if answer, is := answerTo(id, line); is {
				return answer, heard.String()
			}
			heard.WriteString(line + "\n")
		}
		require.Fail(c.t, "no answer", "%s %s: %s", name, method, heard.String())
		return "", ""
	}}
}

func answerTo(id int, line string) (answer string, is bool) {
	var m struct {
		ID            any
		Method        string
		Result, Error json.RawMessage
	}
	if json.Unmarshal([]byte(line), &m) != nil || m.Method != "" || fmt.Sprint(m.ID) != fmt.Sprint(id) {
		return "", false
	}
	return string(m.Result) + string(m.Error), true
}

// works checks that what works is not touched by the servers that do not, and that those are named.
func (c rigClient) works() {
	t := c.t
	for method, want := range map[string]string{
		"tools/list":               `"name":"good_link"`,
		"resources/list":           `"uri":"good+note:///2"`,
		"resources/templates/list": `"uriTemplate":"good+note:///{id}"`,
		"prompts/list":             `"name":"good_greet"`,
	} {
		answer, _ := c.ask(method, "{}")
		assert.Contains(t, answer, want, "%s %s", c.name, method)
	}
	assert.Contains(t, c.call("good_link", "{}"), `"uri":"note:///2"`, "%s: results stay as they are", c.name)
	for uri, offered := range map[string]string{"good+note:///7": "good+note:///7", "note:///2": "note:///2"} { // the second as the link has it
		var result struct{ Contents []struct{ URI, Text string } }
		answer, _ := c.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
		assert.NoError(t, json.Unmarshal([]byte(answer), &result))
		if assert.Len(t, result.Contents, 1, "%s %s", c.name, answer) {
			assert.Equal(t, offered, result.Contents[0].URI)
			assert.Equal(t, "the note <"+strings.TrimPrefix(uri, "good+")+">", result.Contents[0].Text)
		}
	}
	answer, _ := c.ask("prompts/get", `{"name":"good_greet","arguments":{"who":"Ada"}}`)
	assert.Contains(t, answer, `"text":"greet Ada"`)
	answer, _ = c.ask("prompts/get", `{"name":"good_greet","arguments":{"who":"half \ud83d"}}`)
	assert.Contains(t, answer, `\"who\":\"half \\ud83d\"`, "half of a pair arrives as it was sent")
	answer, _ = c.ask("completion/complete", `{"ref":{"type":"ref/prompt","name":"good_greet"},"argument":{"name":"who","value":""}}`)
	assert.Contains(t, answer, `"values":["Ada","Bob"]`)
	answer, _ = c.ask("resources/read", `{"uri":"nobody:///1"}`)
	assert.Contains(t, answer, "there is no such resource")
}

// suffers checks that each server's trouble is its own, and is told in words.
func (c rigClient) suffers() {
	t := c.t
	assert.Contains(t, c.call("flood_get_item", `{"id":11}`), "after all", c.name)
	assert.Contains(t, c.call("flood_get_item", `{"id":6}`), `"text":""`, "%s: it was asked although it declared nothing", c.name)
	died := c.call("mortal_get_item", `{"id":4}`)
	assert.Contains(t, died, "the MCP server mortal did not answer: it ended with exit code 3", c.name)
	assert.Contains(t, died, `"isError":true`)
	assert.Contains(t, c.call("mortal_get_item", `{"id":1}`), `get_item{\"id\":1}`, "%s: the next call starts it", c.name)
	assert.Contains(t, c.call("weird_either", `{"id":"x"}`), "either", c.name)
	assert.Contains(t, c.call("endless_tool1", `{}`), "tool1", c.name)
}

// TestTenServersMisbehave runs four clients at once, over standard streams and HTTP and in both protocol generations, on
// ten servers that misbehave in ten ways.
func TestTenServersMisbehave(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	config := rig(t)
	older := converseWith(t, config, "--mode", "trim")
	hello1 := older.result(hello("older", "{}"))
	older.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	address, log := overHTTPWith(t, config)
	go func() { // a log that nobody reads would stop it
		for range log { //nolint:revive // read to the end
		}
	}()
	newest := converseWith(t, config, "--mode", "trim").over("newest over stdio")
	ask := newest.ask
	newest.ask = func(method, params string) (string, string) { return ask(method, withFields(params)) }
	clients := []rigClient{
		older.over("older over stdio"), newest,
		sessionWith(t, address, "older", "{}").over("older over HTTP", ""),
		httpClient{t: t, address: address}.over("newest over HTTP", modern),
	}
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() {
			c.works()
			c.suffers()
			c.works()
		})
	}
	all.Wait()

	var result struct {
		Capabilities map[string]struct{ ListChanged, Subscribe bool }
		Instructions string
	}
	require.NoError(t, json.Unmarshal([]byte(hello1), &result))
	for _, list := range []string{"tools", "resources", "prompts"} {
		assert.True(t, result.Capabilities[list].ListChanged, list)
	}
	assert.True(t, result.Capabilities["resources"].Subscribe)
	assert.Contains(t, result.Instructions, "The server good says:\n> Ask for items.")
	assert.Contains(t, result.Instructions, "The server loud says:\n> The server bank says", "whose words they are")
	assert.Less(t, len(result.Instructions), 4000)

	c := clients[0]
	_, levels := c.ask("logging/setLevel", `{"level":"error"}`)
	_, updates := c.ask("resources/subscribe", `{"uri":"good+note:///1"}`)
	_, rest := c.ask("resources/read", `{"uri":"good+note:///1"}`)
	heard := levels + updates + rest
	assert.Contains(t, heard, `"uri":"good+note:///1"`, "an update")
	assert.Contains(t, heard, "a secret of error")
	assert.NotContains(t, heard, "a secret of debug")
}

// withFields adds the fields of a request of protocol 2026-07-28 to params.
func withFields(params string) string {
	return strings.Replace(strings.TrimSuffix(params, "}")+","+modern+"}", "{,", "{", 1)
}

// TestListNamesEveryTrouble checks that the operator is told which server does what.
func TestListNamesEveryTrouble(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	printed := verb(t, "gateway", "list", serversFile(t, map[string]any{
		"gone": fakeEntry("rude"), "nowhere": map[string]any{"command": "no-such-server"}, "typo": map[string]any{"comand": "x"},
		"bare": fakeEntry("empty"), "endless": fakeEntry("endless"), "good": fakeEntry("full"),
	}))
	for _, line := range []string{
		"gone: no tools: it ended with exit code 7\n",
		"nowhere: no tools: the command no-such-server is not found: install it or give its whole path\n",
		"typo: no tools: its entry in the configuration cannot be used: it has neither command nor url\n",
		"bare: has no tools, and nothing else\n",
		"endless: tool 1: has no name\n",
		"endless: tools/list did not end after 200 pages and ",
		"good: besides 5 resources and templates, 1 prompts\n",
	} {
		assert.Contains(t, printed, line)
	}
}
