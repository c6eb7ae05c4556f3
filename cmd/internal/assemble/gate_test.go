package assemble_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/states/store"
)

// A server with a shell starts for exactly one credential, and one that is added later does not open it.
func TestAShellIsNeverShared(t *testing.T) {
	dir := t.TempDir()
	lookup := func(name string) (string, bool) { return dir, name == "XDG_STATE_HOME" }
	all, err := assemble.OpenKeys("", lookup, func(m string) { t.Error(m) })
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, all.Close()) })
	add := func(id string, scopes ...string) (key string) {
		key = web.NewKey()
		require.NoError(t, all.Add(t.Context(), store.Key{ID: id, Subject: id, Scopes: scopes}, store.Hash(web.HashKey(key))))
		return key
	}
	shell := assemble.Entry{Program: "serve", Door: settings.Door{APIKeys: true}, Shell: true, Failed: func(m string) { t.Error(m) }}
	_, _, err = shell.Open(t.Context(), lookup)
	require.ErrorContains(t, err, `make one with "mcp-pruner keys add SUBJECT" first`)

	first := add("k1")
	add("k2", "proxy")
	gate, closing, err := shell.Open(t.Context(), lookup)
	require.NoError(t, err, "a key of the proxy opens nothing here")
	defer closing()
	second := add("k3")
	c, err := gate.Check(t.Context(), first)
	require.NoError(t, err)
	assert.Equal(t, "k1", c.Subject)
	_, err = gate.Check(t.Context(), second)
	assert.ErrorIs(t, err, web.ErrUnknownCaller)

	_, _, err = shell.Open(t.Context(), lookup)
	require.ErrorContains(t, err, "2 credentials open this server: bash is never shared")
	shell.Door = settings.Door{OIDC: settings.OIDC{Issuer: "https://id.example.com"}}
	_, _, err = shell.Open(t.Context(), lookup)
	require.ErrorContains(t, err, "bash is never shared")
}

// Callers need no credential where none is configured.
func TestNoGateOnLoopback(t *testing.T) {
	gate, closing, err := assemble.Entry{}.Open(t.Context(), nil)
	require.NoError(t, err)
	defer closing()
	assert.Nil(t, gate)
}
