package settings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
)

// A door beyond loopback needs a way that nobody can read, and credentials; a reverse proxy makes even a loopback address
// one that others reach.
func TestWhatAnAddressNeeds(t *testing.T) {
	keys := map[string]string{"MCP_PRUNER_AUTH": "keys"}
	tls := map[string]string{"MCP_PRUNER_TLS_CERT": "c", "MCP_PRUNER_TLS_KEY": "k"}
	proxied := map[string]string{"MCP_PRUNER_BEHIND_PROXY": "10.0.0.0/8, 192.0.2.1"}
	issuer := map[string]string{"MCP_PRUNER_OIDC_ISSUER": "https://id.example.com", "MCP_PRUNER_PUBLIC_URL": "https://mcp.example.com/"}
	for what, c := range map[string]struct {
		host string
		with []map[string]string
		want string // in the error; "": it is allowed
	}{
		"loopback":                     {"127.0.0.1", nil, ""},
		"all addresses":                {"0.0.0.0", nil, "needs --tls-cert and --tls-key or --behind-proxy"},
		"keys without TLS":             {"0.0.0.0", []map[string]string{keys}, "needs --tls-cert"},
		"TLS without credentials":      {"0.0.0.0", []map[string]string{tls}, "callers need credentials"},
		"TLS and keys":                 {"0.0.0.0", []map[string]string{tls, keys}, ""},
		"TLS and an issuer":            {"::", []map[string]string{tls, issuer}, ""},
		"TLS and a token file":         {"192.0.2.7", []map[string]string{tls, {"MCP_PRUNER_TOKEN_FILE": "t"}}, ""},
		"a reverse proxy and keys":     {"0.0.0.0", []map[string]string{proxied, keys}, ""},
		"a reverse proxy beside it":    {"127.0.0.1", []map[string]string{proxied}, "callers need credentials"},
		"a name":                       {"example.com", []map[string]string{tls, keys}, "want a loopback address"},
		"half a certificate":           {"127.0.0.1", []map[string]string{{"MCP_PRUNER_TLS_KEY": "k"}}, "together with --tls-cert"},
		"no range":                     {"127.0.0.1", []map[string]string{keys, {"MCP_PRUNER_BEHIND_PROXY": "proxy"}}, "addresses or ranges"},
		"an issuer without audience":   {"127.0.0.1", []map[string]string{{"MCP_PRUNER_OIDC_ISSUER": "https://id.example.com"}}, "MCP_PRUNER_PUBLIC_URL is needed"},
		"an issuer that can be read":   {"127.0.0.1", []map[string]string{{"MCP_PRUNER_OIDC_ISSUER": "http://id.example.com"}}, "an https URL"},
		"a public URL that can be":     {"127.0.0.1", []map[string]string{{"MCP_PRUNER_PUBLIC_URL": "http://mcp.example.com"}}, "an https URL"},
		"a public URL with a password": {"127.0.0.1", []map[string]string{{"MCP_PRUNER_PUBLIC_URL": "https://a:b@mcp.example.com"}}, "an https URL"},
	} {
		for _, program := range []settings.Program{settings.HTTP, settings.Pruner, settings.Proxy} {
			env := map[string]string{"JEEVES_MCP_PRUNER_HOST": c.host, "MCP_PRUNER_HOST": c.host, "MCP_PRUNER_PROXY_HOST": c.host}
			for _, more := range c.with {
				for name, value := range more {
					env[name] = value
				}
			}
			_, _, err := settings.Load(program, nil, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
			if c.want == "" {
				assert.NoError(t, err, "%s, %d", what, program)
				continue
			}
			assert.ErrorContains(t, err, c.want, "%s, %d", what, program)
		}
	}
}

// Where only this machine reaches a server, its user waits for its end after Ctrl-C, and the drain of a team's server does not hold.
func TestOnlyATeamsServerDrains(t *testing.T) {
	for _, program := range []settings.Program{settings.HTTP, settings.Pruner, settings.Proxy} {
		env := map[string]string{"MCP_PRUNER_DRAIN_S": "40", "MCP_PRUNER_AUTH": "keys"}
		lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
		s, _, err := settings.Load(program, nil, lookup)
		require.NoError(t, err)
		assert.Equal(t, 2*time.Second, s.FinishWithin())
		env["MCP_PRUNER_BEHIND_PROXY"] = "10.0.0.0/8"
		s, _, err = settings.Load(program, nil, lookup)
		require.NoError(t, err)
		assert.Equal(t, 40*time.Second, s.FinishWithin())
	}
}

// The audience of tokens is the server itself, unless it is named.
func TestTheAudienceIsTheServer(t *testing.T) {
	env := map[string]string{"MCP_PRUNER_OIDC_ISSUER": "https://id.example.com", "MCP_PRUNER_PUBLIC_URL": "https://mcp.example.com/"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	s, _, err := settings.Load(settings.HTTP, nil, lookup)
	require.NoError(t, err)
	assert.Equal(t, []string{"https://mcp.example.com/mcp"}, s.OIDC.Audience)
	env["MCP_PRUNER_OIDC_AUDIENCE"] = "one, two"
	s, _, err = settings.Load(settings.HTTP, nil, lookup)
	require.NoError(t, err)
	assert.Equal(t, []string{"one", "two"}, s.OIDC.Audience)
}
