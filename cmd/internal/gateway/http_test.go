package gateway_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

// overHTTP serves a gateway over HTTP in front of one server and returns its address and the lines of its log.
func overHTTP(t *testing.T) (address string, log <-chan string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	return overHTTPWith(t, serversFile(t, map[string]any{"shop": fakeEntry("plain")}))
}

func overHTTPWith(t *testing.T, config string, more ...string) (address string, log <-chan string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	end := make(chan int, 1)
	p := command.Process{Args: append([]string{"gateway", "--http", "--port", "0", "--mode", "trim", config}, more...), Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: write,
		Env: append(os.Environ(), "MCP_PRUNER_LOG_LEVEL=debug")}
	go func() {
		end <- command.Execute(ctx, verbs.Root(p), p)
		write.Close()
	}()
	lines := make(chan string, 1000)
	go func() {
		for s := bufio.NewScanner(read); s.Scan(); {
			lines <- s.Text()
		}
		close(lines)
	}()
	t.Cleanup(func() {
		cancel()
		assert.Equal(t, 0, <-end)
	})
	for line := range lines {
		if at := regexp.MustCompile(`http://127\.0\.0\.1:\d+/mcp`).FindString(line); at != "" {
			return at, lines
		}
	}
	require.Fail(t, "it does not listen")
	return "", nil
}

// httpClient is a client of the gateway over HTTP with a session of its own.
type httpClient struct {
	t                *testing.T
	address, session string
	answers          string // the address for answers to questions; "": the same
	headers          map[string]string
}

func session(t *testing.T, address, name string) httpClient {
	t.Helper()
	return sessionWith(t, address, name, `{"elicitation":{},"sampling":{}}`)
}

func sessionWith(t *testing.T, address, name, capabilities string) httpClient {
	t.Helper()
	c := httpClient{t: t, address: address}
	answer := c.post(hello(name, capabilities))
	defer answer.Body.Close()
	c.session = answer.Header.Get("Mcp-Session-Id")
	require.NotEmpty(t, c.session)
	return c
}

func (c httpClient) post(body string) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.address, strings.NewReader(body))
	require.NoError(c.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	return answer
}

// call makes a call and returns all that the client is sent until its answer. A question gets an answer with a secret.
func (c httpClient) call(id int) <-chan string {
	heard := make(chan string, 1)
	go func() {
		answer := c.post(callOf(id, "shop_get_item", fmt.Sprintf(`{"id":%d}`, id)))
		defer answer.Body.Close()
		var all strings.Builder
		lines := bufio.NewScanner(answer.Body)
		for lines.Scan() {
			all.WriteString(lines.Text() + "\n")
			var m struct{ ID, Method string }
			_ = json.Unmarshal([]byte(strings.TrimPrefix(lines.Text(), "data: ")), &m)
			if m.Method == "elicitation/create" {
				c.address = cmp.Or(c.answers, c.address)
				c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"password":"hunter2"}}}`, m.ID)).Body.Close()
			}
		}
		heard <- all.String()
	}()
	return heard
}

// TestOneSessionsQuestionIsNotAnothers plays two clients over HTTP on one server, which asks for a password while both
// call it. Each has a connection of its own, so the one that it means is asked, and no client sees the other's log.
func TestOneSessionsQuestionIsNotAnothers(t *testing.T) {
	address, log := overHTTP(t)
	alice, bob := session(t, address, "alice"), session(t, address, "bob")
	waiting := alice.call(16)
	for line := range log {
		if strings.Contains(line, "holding") {
			break
		}
	}
	heard := <-bob.call(17)
	assert.Contains(t, heard, `"shop: Your password?"`)
	assert.Contains(t, heard, `"logger":"shop"`)
	assert.Contains(t, heard, "your order")
	assert.Contains(t, heard, `\"password\":\"hunter2\"`)

	heard = <-alice.call(17) // ends the call that waits
	assert.Contains(t, heard+<-waiting, "Your password?", "in the stream of either call")
}

// TestAClientEndsItsSession checks that a DELETE closes the session's connections and that its id names no session any more.
func TestAClientEndsItsSession(t *testing.T) {
	address, log := overHTTP(t)
	c := session(t, address, "alice")
	c.over("alice", "").call("shop_get_item", `{"id":1}`)
	assert.Equal(t, http.StatusNoContent, c.end())
	for line := range log {
		if strings.Contains(line, "its input ended") {
			break
		}
	}
	answer := c.post(callOf(2, "shop_get_item", `{"id":1}`))
	answer.Body.Close()
	assert.Equal(t, http.StatusNotFound, answer.StatusCode)
	assert.Equal(t, http.StatusNotFound, c.end())
	c.session = ""
	assert.Equal(t, http.StatusBadRequest, c.end(), "it names none")
}

// end ends the session and returns the status of the answer.
func (c httpClient) end() int {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodDelete, c.address, nil)
	require.NoError(c.t, err)
	r.Header.Set("Mcp-Session-Id", c.session)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	answer.Body.Close()
	return answer.StatusCode
}

// TestManyClientsWithoutSessionsAreOne checks that clients of protocol 2026-07-28 without keys share one process of a server, however
// many connections they make.
func TestManyClientsWithoutSessionsAreOne(t *testing.T) {
	address, log := overHTTP(t)
	for id := range 300 {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"shop_get_item","arguments":{"id":1},%s}}`, id, modern)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
		require.NoError(t, err)
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "shop_get_item"} {
			r.Header.Set(name, value)
		}
		r.Close = true
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		require.NoError(t, err)
		require.Contains(t, string(text), `get_item{\"id\":1}`)
	}
	started := 0
	for len(log) > 0 {
		if strings.Contains(<-log, "fake server of kind") {
			started++
		}
	}
	assert.LessOrEqual(t, started, 2, "one lists the tools, one answers all calls")
}

// listen returns what the session's client is sent outside of requests.
func (c httpClient) listen() <-chan string {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.address, nil)
	require.NoError(c.t, err)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", c.session)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	require.Equal(c.t, http.StatusOK, answer.StatusCode)
	lines := bufio.NewScanner(answer.Body)
	require.True(c.t, lines.Scan(), "the stream begins")
	heard := make(chan string, 100)
	go func() {
		defer answer.Body.Close()
		for lines.Scan() {
			if line, is := strings.CutPrefix(lines.Text(), "data: "); is {
				heard <- line
			}
		}
	}()
	return heard
}

// TestUpdatesReachTheSessionThatSubscribed checks that each of two sessions hears of its own resource, and of no other.
func TestUpdatesReachTheSessionThatSubscribed(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	address, _ := overHTTPWith(t, serversFile(t, map[string]any{"good": fakeEntry("full")}))
	alice, bob := session(t, address, "alice"), session(t, address, "bob")
	toAlice, toBob := alice.listen(), bob.listen()
	updated := func(heard <-chan string) string {
		for line := range heard {
			if strings.Contains(line, "resources/updated") {
				return line
			}
		}
		return ""
	}
	alice.over("alice", "").ask("resources/subscribe", `{"uri":"good+note:///1"}`)
	assert.Contains(t, updated(toAlice), `"uri":"good+note:///1"`)
	bob.over("bob", "").ask("resources/subscribe", `{"uri":"note:///2"}`)
	assert.Contains(t, updated(toBob), `"uri":"note:///2"`, "the first that he hears of, under the URI that he gave")
}
