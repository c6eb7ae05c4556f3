package web_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
)

// provider is an OpenID provider with one key at a time.
type provider struct {
	*httptest.Server
	t    *testing.T
	id   string
	key  *ecdsa.PrivateKey
	down atomic.Bool
	huge atomic.Bool

	asked atomic.Int64 // requests so far
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{t: t}
	p.rotate("first")
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any
		p.asked.Add(1)
		switch {
		case p.down.Load():
			w.WriteHeader(http.StatusBadGateway)
			return
		case p.huge.Load():
			for range 64 {
				_, _ = w.Write([]byte(strings.Repeat(" ", 64<<10)))
			}
			return
		case r.URL.Path == "/.well-known/openid-configuration":
			answer = map[string]any{"issuer": p.URL, "jwks_uri": p.URL + "/keys", "authorization_endpoint": p.URL, "token_endpoint": p.URL}
		default:
			answer = map[string]any{"keys": []any{
				map[string]string{"kty": "OKP", "crv": "Ed448", "x": "AA"}, // of a kind that nobody here knows
				jose.JSONWebKey{Key: p.key.Public(), KeyID: p.id, Algorithm: "ES256", Use: "sig"},
			}}
		}
		assert.NoError(t, json.NewEncoder(w).Encode(answer))
	}))
	t.Cleanup(p.Close)
	return p
}

// rotate replaces the key.
func (p *provider) rotate(id string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(p.t, err)
	p.id, p.key = id, key
}

// token returns a good token, with some claims changed; nil removes one.
func (p *provider) token(change map[string]any) string {
	p.t.Helper()
	claims := map[string]any{
		"iss": p.URL, "sub": "alice", "aud": "https://mcp.example.com/mcp", "scope": "openid mcp",
		"exp": time.Now().Add(time.Minute).Unix(), "iat": time.Now().Unix(),
	}
	maps.Copy(claims, change)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	options := new(jose.SignerOptions)
	if typ, ok := claims["header typ"].(jose.ContentType); ok {
		options.WithType(typ)
		delete(claims, "header typ")
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: p.id}}, options)
	require.NoError(p.t, err)
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	require.NoError(p.t, err)
	return text
}

func (p *provider) method() *web.OIDC {
	return &web.OIDC{Issuer: p.URL, Audience: []string{"https://mcp.example.com/mcp"}, Scopes: []string{"mcp"}, Claim: "sub"}
}

// timed returns the provider's method with a clock of its own, and the function that lets time pass.
func (p *provider) timed() (m *web.OIDC, pass func(time.Duration)) {
	now := time.Now()
	m = p.method()
	m.Now = func() time.Time { return now }
	return m, func(d time.Duration) { now = now.Add(d) }
}

func TestTokensOfAProvider(t *testing.T) {
	p := newProvider(t)
	m := p.method()
	c, err := m.Check(t.Context(), p.token(nil))
	require.NoError(t, err)
	assert.Equal(t, "alice", c.Subject)
	assert.WithinDuration(t, time.Now().Add(time.Minute), c.Until, 2*time.Second)
	for what, change := range map[string]map[string]any{
		"another audience": {"aud": "https://other.example.com"}, "no audience": {"aud": nil}, "another issuer": {"iss": "https://evil.example.com"},
		"expired": {"exp": time.Now().Add(-time.Minute).Unix()}, "no expiry": {"exp": nil}, "not yet valid": {"nbf": time.Now().Add(time.Hour).Unix()},
		"no subject": {"sub": nil}, "the owner's name": {"sub": ""}, "a subject that is no text": {"sub": 7},
		"a subject that no database stores": {"sub": "al\x00ice"}, "one that no index holds": {"sub": strings.Repeat("alice", 600)},
	} {
		_, err := m.Check(t.Context(), p.token(change))
		assert.ErrorIs(t, err, web.ErrUnknownCaller, what)
	}
	for _, change := range []map[string]any{{"scope": "openid"}, {"scope": nil}, {"scope": "mcp2"}} {
		_, err := m.Check(t.Context(), p.token(change))
		assert.ErrorIs(t, err, web.ErrScope)
	}
	_, err = m.Check(t.Context(), p.token(map[string]any{"scope": nil, "scp": []string{"mcp"}, "aud": []string{"a", "https://mcp.example.com/mcp"}}))
	assert.NoError(t, err, "the forms of other providers")
}

// An ID token is for a client, which learns from it who its user is. What providers send as access tokens is accepted.
func TestIDTokensAreRefused(t *testing.T) {
	p := newProvider(t)
	m := p.method()
	const jwt, at = jose.ContentType("JWT"), jose.ContentType("at+jwt")
	for what, change := range map[string]map[string]any{
		"Okta": {"header typ": jwt, "at_hash": "x", "nonce": "n", "auth_time": 1}, "a code's": {"c_hash": "x"}, "Keycloak": {"typ": "ID", "azp": "app"},
		"Entra, Auth0": {"header typ": jwt, "nonce": "n", "scope": nil},
	} {
		m.Scopes = nil
		_, err := m.Check(t.Context(), p.token(change))
		assert.ErrorIs(t, err, web.ErrUnknownCaller, what)
	}
	for what, change := range map[string]map[string]any{
		"RFC 9068": {"header typ": at, "nonce": "n", "at_hash": "x"}, "its whole type": {"header typ": jose.ContentType("application/AT+JWT"), "at_hash": "x"},
		"Okta": {"scope": nil, "scp": []string{"openid", "mcp"}, "cid": "app", "uid": "u"}, "Auth0": {"header typ": jwt, "azp": "app", "gty": "password"},
		"Entra": {"header typ": jwt, "scope": nil, "scp": "other mcp", "azp": "app", "ver": "2.0"}, "an older Keycloak": {"header typ": jwt, "typ": "Bearer", "nonce": "n"},
	} {
		m.Scopes = []string{"mcp"}
		_, err := m.Check(t.Context(), p.token(change))
		assert.NoError(t, err, what)
	}
}

// A signature is needed, by the provider's own key, whatever the token says of itself.
func TestForgedTokens(t *testing.T) {
	p, other := newProvider(t), newProvider(t)
	m, good := p.method(), p.token(nil)
	_, payload, _ := strings.Cut(good, ".")
	payload, signature, _ := strings.Cut(payload, ".")
	header, _, _ := strings.Cut(good, ".")
	forged := other.token(map[string]any{"iss": p.URL})
	for what, token := range map[string]string{
		"alg none":      "eyJhbGciOiJub25lIn0." + payload + ".",
		"alg none, but": "eyJhbGciOiJub25lIn0." + payload + "." + signature,
		"a shared key":  "eyJhbGciOiJIUzI1NiJ9." + payload + "." + signature,
		"no signature":  header + "." + payload + ".", "another key": forged, "garbage": "a.b.c", "much": good + strings.Repeat("x", 1<<20),
	} {
		_, err := m.Check(t.Context(), token)
		assert.Error(t, err, what)
		assert.False(t, web.Unavailable(err), "%s: %v", what, err)
	}
	assert.True(t, m.Owns(good) && m.Owns(p.token(map[string]any{"exp": 1})) && m.Owns(forged), "none of them may reach another server")
	assert.False(t, m.Owns(other.token(nil)), "a token of another issuer is not ours")
}

// A new key is fetched when a token has a signature by it. What is known goes on while the provider is away.
func TestKeysOfAProviderChange(t *testing.T) {
	p := newProvider(t)
	m, pass := p.timed()
	old := p.token(nil)
	_, err := m.Check(t.Context(), old)
	require.NoError(t, err)
	p.down.Store(true)
	_, err = m.Check(t.Context(), old)
	require.NoError(t, err, "its key is known")
	p.rotate("second")
	pass(6 * time.Second)
	_, err = m.Check(t.Context(), p.token(nil))
	assert.True(t, web.Unavailable(err), "the new key cannot be fetched: %v", err)
	p.down.Store(false)
	pass(6 * time.Second)
	_, err = m.Check(t.Context(), p.token(nil))
	assert.NoError(t, err, "the new key is fetched")
	_, err = m.Check(t.Context(), old)
	assert.ErrorIs(t, err, web.ErrUnknownCaller, "its key was taken back")
}

// A key that the provider withdraws is good for five minutes more, though tokens by it come all the time, and for an hour where the
// provider cannot be asked.
func TestAWithdrawnKeyIsGoodForAWhileOnly(t *testing.T) {
	p := newProvider(t)
	m, pass := p.timed()
	stolen := p.token(map[string]any{"exp": time.Now().Add(100 * time.Hour).Unix()})
	check := func() error {
		_, err := m.Check(t.Context(), stolen)
		return err
	}
	require.NoError(t, check())
	p.rotate("second")
	pass(4 * time.Minute)
	require.NoError(t, check())
	pass(time.Minute)
	assert.ErrorIs(t, check(), web.ErrUnknownCaller)

	p = newProvider(t)
	m, pass = p.timed()
	stolen = p.token(map[string]any{"exp": time.Now().Add(100 * time.Hour).Unix()})
	require.NoError(t, check())
	p.down.Store(true)
	for range 59 {
		pass(time.Minute)
		require.NoError(t, check())
	}
	pass(time.Minute)
	assert.True(t, web.Unavailable(check()))
	p.down.Store(false)
	pass(time.Minute)
	assert.NoError(t, check())
}

// However many forged tokens come, the provider is asked for its keys every few seconds at most, and by one request at a time.
func TestForgedTokensAskTheProviderSeldom(t *testing.T) {
	p, other := newProvider(t), newProvider(t)
	m, pass := p.timed()
	_, err := m.Check(t.Context(), p.token(nil))
	require.NoError(t, err)
	before := p.asked.Load()
	for range 3 {
		pass(6 * time.Second)
		var all sync.WaitGroup
		for range 20 {
			forged := other.token(map[string]any{"iss": p.URL})
			all.Go(func() {
				_, err := m.Check(t.Context(), forged)
				assert.ErrorIs(t, err, web.ErrUnknownCaller)
			})
		}
		all.Wait()
	}
	assert.EqualValues(t, 3, p.asked.Load()-before)

	pass(2 * time.Hour) // of silence: all wait for the keys
	var all sync.WaitGroup
	for range 20 {
		good := p.token(map[string]any{"exp": time.Now().Add(100 * time.Hour).Unix()})
		all.Go(func() {
			_, err := m.Check(t.Context(), good)
			assert.NoError(t, err)
		})
	}
	all.Wait()
}

// A provider that cannot be asked, or sends without end, admits nobody and stops nothing else.
func TestAProviderThatCannotBeAsked(t *testing.T) {
	p := newProvider(t)
	now := time.Now()
	m := p.method()
	m.Now = func() time.Time { return now }
	p.huge.Store(true)
	_, err := m.Check(t.Context(), p.token(nil))
	assert.True(t, web.Unavailable(err), "%v", err)
	assert.Error(t, m.Ready(t.Context()))
	p.huge.Store(false)
	_, err = m.Check(t.Context(), p.token(nil))
	assert.True(t, web.Unavailable(err), "it is not asked again at once")
	now = now.Add(time.Second)
	_, err = m.Check(t.Context(), p.token(nil))
	assert.NoError(t, err)
	assert.NoError(t, m.Ready(t.Context()))
}
