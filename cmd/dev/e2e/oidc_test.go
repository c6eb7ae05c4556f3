//go:build e2e && all

package e2e

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTokensOfACertifiedProvider proves with a real OpenID provider that its tokens for the gateway are accepted, also after
// it has changed its key, and that those for others, without the scope, without a signature, of another issuer and expired
// ones are refused, with the metadata that leads a client to the provider.
func TestTokensOfACertifiedProvider(t *testing.T) {
	if missing != nil {
		t.Skip("the program was not built: see the top")
	}
	dir, err := installFrom("clients/oidc/package.json", "mcp-pruner-e2e-oidc")
	if err != nil {
		t.Skip(err)
	}
	c := &team{t: t, dir: t.TempDir()}
	servers := c.file("servers.json")
	self, err := os.Executable()
	require.NoError(t, err)
	c.put(servers, fmt.Sprintf(`{"mcpServers":{"far":{"command":%q,"args":["fake-server","team"],"stateless":true}}}`, self))
	port := freePort(t)
	issuer, public := fmt.Sprintf("http://127.0.0.1:%d", port), fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	end := startProvider(t, dir, port, 600)
	c.env = []string{"PATH=/usr/bin:/bin", "HOME=" + c.dir, "PRUNER_URL=embedded", "MCP_PRUNER_OIDC_SCOPES=mcp"}
	gateway := &replica{team: c, url: public, log: c.file("gateway.log"), args: []string{
		"gateway", "--http", "--port", public[strings.LastIndex(public, ":")+1:], "--behind-proxy", "127.0.0.1", "--oidc-issuer", issuer, "--public-url", public, servers,
	}}
	gateway.start()
	t.Cleanup(func() { gateway.end(syscall.SIGKILL) })

	good := token(t, issuer, public+"/mcp", "mcp")
	refused := map[string]string{
		"": "", "for another": token(t, issuer, "http://127.0.0.1:1/mcp", "mcp"), "without the scope": token(t, issuer, public+"/mcp", ""),
		"without a signature": unsigned(t, good), "of another issuer": token(t, elsewhere(t, dir), public+"/mcp", "mcp"),
	}
	assert.Equal(t, http.StatusOK, ask(t, public, good).StatusCode)
	for name, sent := range refused {
		answer := ask(t, public, sent)
		want := map[bool]int{true: http.StatusForbidden, false: http.StatusUnauthorized}[name == "without the scope"]
		assert.Equal(t, want, answer.StatusCode, name)
		assert.Contains(t, answer.Header.Get("WWW-Authenticate"), `resource_metadata="`+public+`/.well-known/oauth-protected-resource/mcp"`, name)
	}
	response, err := http.Get(public + "/.well-known/oauth-protected-resource/mcp")
	require.NoError(t, err)
	var metadata struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&metadata))
	_ = response.Body.Close()
	assert.Equal(t, public+"/mcp", metadata.Resource)
	assert.Equal(t, []string{issuer}, metadata.Servers)

	end()
	assert.Equal(t, http.StatusOK, ask(t, public, good).StatusCode, "the provider is away; its key is known")
	startProvider(t, dir, port, 2)
	short := token(t, issuer, public+"/mcp", "mcp")
	assert.Equal(t, http.StatusOK, ask(t, public, short).StatusCode, "of the new key")
	require.Eventually(t, func() bool { return ask(t, public, short).StatusCode == http.StatusUnauthorized }, 20*time.Second, 200*time.Millisecond, "it expires")
	log := read(t, gateway.log)
	for _, sent := range append([]string{good, short}, refused["for another"]) {
		assert.NotContains(t, log, sent[strings.LastIndex(sent, "."):], "the log has a signature")
	}
}

// startProvider starts the provider, whose tokens are valid for some seconds.
func startProvider(t *testing.T, dir string, port, seconds int) (end func()) {
	t.Helper()
	script, err := filepath.Abs("clients/oidc/provider.mjs")
	require.NoError(t, err)
	cmd := exec.Command("node", script, dir, fmt.Sprint(port), fmt.Sprint(seconds))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	end = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(end)
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "listening" {
	}
	require.NoError(t, lines.Err())
	go io.Copy(io.Discard, out) //nolint:errcheck // until it ends
	return end
}

// elsewhere starts another provider and returns its address.
func elsewhere(t *testing.T, dir string) string {
	t.Helper()
	port := freePort(t)
	startProvider(t, dir, port, 600)
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

// token gets a token for a resource from a provider.
func token(t *testing.T, issuer, resource, scope string) string {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "resource": {resource}}
	if scope != "" {
		form.Set("scope", scope)
	}
	r, err := http.NewRequest(http.MethodPost, issuer+"/token", strings.NewReader(form.Encode()))
	require.NoError(t, err)
	r.SetBasicAuth("agent", "secret")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	var got struct {
		Token string `json:"access_token"`
	}
	require.NoError(t, json.Unmarshal(body, &got))
	require.Equal(t, 2, strings.Count(got.Token, "."), "%s", body)
	return got.Token
}

// unsigned returns a token with the same claims that says it needs no signature.
func unsigned(t *testing.T, token string) string {
	t.Helper()
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"at+jwt"}`)) + "." + parts[1] + "."
}

func ask(t *testing.T, door, token string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, door+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	_ = response.Body.Close()
	return response
}
