package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

// whoAsks is an MCP server over HTTP that answers each call, and describes its tool, with the credential that came with it.
func whoAsks(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	credential := strings.Join(r.Header.Values("Authorization"), ", ")
	result := map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"1"}}`,
		"tools/list": fmt.Sprintf(`{"tools":[{"name":"ask","description":%q,"inputSchema":{"type":"object"}}]}`, credential),
		"tools/call": fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, credential),
	}[m.Method]
	if m.ID == nil || result == "" {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// runVerb runs a verb to its end and returns what it prints.
func runVerb(t *testing.T, args ...string) string {
	t.Helper()
	var out, errors bytes.Buffer
	p := command.Process{Args: args, Env: os.Environ(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errors}
	require.Zero(t, command.Execute(t.Context(), verbs.Root(p), p), "%s", &errors)
	return strings.TrimSpace(out.String())
}

// TestASubjectsTokenIsItsOwn: servers get the token that the operator keeps for the subject of a call, and never its key for the
// gateway. A subject without a token is told so, and the others go on. No token is in the log and the trace, and what is kept for the
// next start is what the owner's token lists.
func TestASubjectsTokenIsItsOwn(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{
		"XDG_CACHE_HOME": dir, "HOME": dir, "MCP_PRUNER_STORE": "sqlite:" + filepath.Join(dir, "store.db"),
		"MCP_PRUNER_TRACE": filepath.Join(dir, "trace.jsonl"), "MCP_PRUNER_TRACE_DETAIL": "full",
	} {
		t.Setenv(name, value)
	}
	web := httptest.NewServer(http.HandlerFunc(whoAsks))
	defer web.Close()
	stdio := fakeEntry("whose")
	stdio["env"].(map[string]string)["SUBJECT_TOKEN"] = "${subject.token:shop}"
	stdio["stateless"] = true // no reason to share a connection between subjects
	config := serversFile(t, map[string]any{
		"shop": stdio, "web": map[string]any{"url": web.URL, "headers": map[string]string{"Authorization": "Bearer ${subject.token:web}"}},
	})
	tokens := filepath.Join(dir, "tokens.json")
	put := func(text string) { require.NoError(t, os.WriteFile(tokens, []byte(text), 0o600)) }
	put(`{"": {"shop": "owners-shop-token", "web": "owners-web-token"}, "ada": {"shop": "adas-shop-token", "web": "adas-web-token"}, "bob": {"web": "bobs-web-token"}}`)
	keys := map[string]string{}
	for _, name := range []string{"ada", "bob", "eve"} {
		keys[name] = runVerb(t, "keys", "add", name)
	}
	address, log := overHTTPWith(t, config, "--subject-tokens", tokens, "--auth", "keys")
	call := func(name, tool string) string {
		c := httpClient{t: t, address: address, headers: map[string]string{"Authorization": "Bearer " + keys[name]}}
		answer := c.post(callOf(1, tool, `{"id":1}`))
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return string(body)
	}
	require.Eventually(t, func() bool { // a server that starts slowly is listed later
		list := httpClient{t: t, address: address, headers: map[string]string{"Authorization": "Bearer " + keys["ada"]}}.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		defer list.Body.Close()
		body, err := io.ReadAll(list.Body)
		return err == nil && strings.Contains(string(body), "shop_get_item") && strings.Contains(string(body), "web_ask")
	}, time.Minute, 20*time.Millisecond)

	assert.Contains(t, call("ada", "shop_get_item"), "called with adas-shop-token")
	assert.Contains(t, call("ada", "web_ask"), `"Bearer adas-web-token"`)
	assert.Contains(t, call("bob", "web_ask"), `"Bearer bobs-web-token"`)
	assert.Contains(t, call("bob", "shop_get_item"), `there is no token \"shop\" for the subject \"bob\"; ask whoever runs the gateway for one`)
	assert.Contains(t, call("eve", "web_ask"), `there is no token \"web\" for the subject \"eve\"`)

	put(`{"eve": {"web": "eves-web-token"}}`)
	require.Eventually(t, func() bool { return strings.Contains(call("eve", "web_ask"), `"Bearer eves-web-token"`) }, 30*time.Second, 20*time.Millisecond, "a new token counts with the next connection")

	trace, err := os.ReadFile(filepath.Join(dir, "trace.jsonl"))
	require.NoError(t, err)
	assert.NotContains(t, string(trace), "-token")
	stored, err := filepath.Glob(filepath.Join(dir, "mcp-pruner", "tools", "*"))
	require.NoError(t, err)
	require.Len(t, stored, 2)
	for _, path := range stored {
		offer, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NotRegexp(t, "adas-|bobs-|eves-", string(offer))
	}
	for len(log) > 0 {
		line := <-log
		for _, secret := range []string{"owners-", "adas-", "bobs-", "eves-", keys["ada"]} {
			assert.NotContains(t, line, secret)
		}
	}
}
