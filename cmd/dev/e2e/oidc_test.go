//go:build e2e

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

// provider is an OpenID provider of somebody else.
type provider struct {
	command func(port int, resource string, seconds int) *exec.Cmd
	tokens  string // path of the tokens' endpoint
	user    string
	secret  string
	scopes  bool // its tokens name their scopes
}

// TestTokensOfACertifiedProvider proves with npm's oidc-provider what tokensOf says.
func TestTokensOfACertifiedProvider(t *testing.T) {
	dir, err := installFrom("clients/oidc/package.json", "mcp-pruner-e2e-oidc")
	if err != nil {
		t.Skip(err)
	}
	script, err := filepath.Abs("clients/oidc/provider.mjs")
	require.NoError(t, err)
	tokensOf(t, provider{
		command: func(port int, _ string, seconds int) *exec.Cmd {
			return exec.Command("node", script, dir, fmt.Sprint(port), fmt.Sprint(seconds))
		},
		tokens: "/token", user: "agent", secret: "secret", scopes: true,
	})
}

// TestTokensOfZitadelsProvider proves with the example provider of zitadel/oidc what tokensOf says.
func TestTokensOfZitadelsProvider(t *testing.T) {
	program := filepath.Join(t.TempDir(), "provider")
	if err := command(5*time.Minute, "clients/zitadel", "go", "build", "-o", program, "."); err != nil {
		t.Skip(err)
	}
	tokensOf(t, provider{
		command: func(port int, resource string, seconds int) *exec.Cmd {
			return exec.Command(program, fmt.Sprint(port), resource, fmt.Sprint(seconds))
		},
		tokens: "/oauth/token", user: "sid1", secret: "verysecret",
	})
}

// tokensOf proves that the gateway accepts a provider's tokens for it, also after the provider has changed its key, and refuses
// those for others, without a needed scope, without a signature, of another issuer and expired ones, with the metadata that
// leads a client to the provider.
func tokensOf(t *testing.T, p provider) {
	if missing != nil {
		t.Skip("the program was not built: see the top")
	}
	c := &team{t: t, dir: t.TempDir()}
	servers := c.file("servers.json")
	self, err := os.Executable()
	require.NoError(t, err)
	c.put(servers, fmt.Sprintf(`{"mcpServers":{"far":{"command":%q,"args":["fake-server","team"],"stateless":true}}}`, self))
	port := freePort(t)
	issuer, public := fmt.Sprintf("http://127.0.0.1:%d", port), fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	resource := public + "/mcp"
	end := p.start(t, port, resource, 600)
	c.env = []string{"PATH=/usr/bin:/bin", "HOME=" + c.dir, "PRUNER_URL=embedded"}
	c.env = append(c.env, "MCP_PRUNER_OIDC_ISSUER="+issuer, "MCP_PRUNER_PUBLIC_URL="+public)
	if p.scopes {
		c.env = append(c.env, "MCP_PRUNER_OIDC_SCOPES=mcp")
	}
	gateway := &replica{team: c, url: public, log: c.file("gateway.log"), args: []string{
		"gateway", "--http", "--port", public[strings.LastIndex(public, ":")+1:], "--behind-proxy", "127.0.0.1", servers,
	}}
	gateway.start()
	t.Cleanup(func() { gateway.end(syscall.SIGKILL) })

	good := p.token(t, issuer, resource, "mcp")
	another := freePort(t)
	p.start(t, another, resource, 600)
	refused := map[string]string{
		"": "", "for another": p.token(t, issuer, "http://127.0.0.1:1/mcp", "mcp elsewhere"), "without a signature": unsigned(t, good),
		"of another issuer": p.token(t, fmt.Sprintf("http://127.0.0.1:%d", another), resource, "mcp"),
	}
	if p.scopes {
		refused["without the scope"] = p.token(t, issuer, resource, "")
	}
	assert.Equal(t, http.StatusOK, ask(t, public, good).StatusCode)
	for name, sent := range refused {
		answer := ask(t, public, sent)
		want := map[bool]int{true: http.StatusForbidden, false: http.StatusUnauthorized}[name == "without the scope"]
		assert.Equal(t, want, answer.StatusCode, name)
		assert.Contains(t, answer.Header.Get("WWW-Authenticate"), `resource_metadata="`+public+`/.well-known/oauth-protected-resource/mcp"`, name)
	}
	leadsTo(t, public, issuer)

	end()
	assert.Equal(t, http.StatusOK, ask(t, public, good).StatusCode, "the provider is away; its key is known")
	p.start(t, port, resource, 2)
	var short string
	require.Eventually(t, func() bool {
		short = p.token(t, issuer, resource, "mcp")
		return ask(t, public, short).StatusCode == http.StatusOK
	}, 20*time.Second, 200*time.Millisecond, "of the new key")
	require.Eventually(t, func() bool { return ask(t, public, short).StatusCode == http.StatusUnauthorized }, 20*time.Second, 200*time.Millisecond, "it expires")
	log := read(t, gateway.log)
	for _, sent := range append([]string{good, short}, refused["for another"]) {
		assert.NotContains(t, log, sent[strings.LastIndex(sent, "."):], "the log has a signature")
	}
}

// leadsTo checks that a gateway's metadata name the provider.
func leadsTo(t *testing.T, public, issuer string) {
	t.Helper()
	response, err := http.Get(public + "/.well-known/oauth-protected-resource/mcp")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var metadata struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&metadata))
	assert.Equal(t, public+"/mcp", metadata.Resource)
	assert.Equal(t, []string{issuer}, metadata.Servers)
}

// start starts the provider, whose tokens are valid for some seconds.
func (p provider) start(t *testing.T, port int, resource string, seconds int) (end func()) {
	t.Helper()
	cmd := p.command(port, resource, seconds)
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

// token gets a token for a resource from a provider.
func (p provider) token(t *testing.T, issuer, resource, scope string) string {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "resource": {resource}}
	if scope != "" {
		form.Set("scope", scope)
	}
	r, err := http.NewRequest(http.MethodPost, issuer+p.tokens, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	r.SetBasicAuth(p.user, p.secret)
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
