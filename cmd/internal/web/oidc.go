package web

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Limits of the requests to a provider.
const (
	providerWithin   = 5 * time.Second
	maxProviderBytes = 1 << 20
	maxTokenBytes    = 16 << 10
)

// OIDC is the method of access tokens that an OpenID provider issued: JWTs that its published keys verify. The provider is
// asked when the first token comes, so that a program starts without it.
type OIDC struct {
	Issuer   string
	Audience []string // of which a token needs one
	Scopes   []string // that a token needs, all of them
	Claim    string   // that names the subject

	Client *http.Client // nil: one with the limits above
	Now    func() time.Time

	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier
	failed   time.Time // when the provider could last not be asked
	why      error
}

// algorithms are the signatures that are accepted: no secret that we would share, and not "none".
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}

// Check implements [AuthMethod].
func (o *OIDC) Check(ctx context.Context, credential string) (Caller, error) {
	if strings.Count(credential, ".") != 2 || len(credential) > maxTokenBytes {
		return Caller{}, ErrUnknownCaller
	}
	v, err := o.ask(ctx)
	if err != nil {
		return Caller{}, fmt.Errorf("ask the OpenID provider: %w", err)
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, o.client()), providerWithin)
	defer cancel()
	token, err := v.Verify(ctx, credential)
	switch {
	case err != nil && strings.Contains(err.Error(), errKeys.Error()): // the verifier keeps an error's text only
		return Caller{}, fmt.Errorf("ask the OpenID provider for its keys: %w", err)
	case err != nil:
		return Caller{}, ErrUnknownCaller
	}
	if header, _, _ := strings.Cut(credential, "."); isIDToken(header, token) {
		return Caller{}, ErrUnknownCaller
	}
	return o.callerOf(token)
}

// isIDToken reports whether a token tells a client who its user is, and is no access token. One that says it is an access token
// (RFC 9068, Keycloak's "Bearer") is believed; others of all providers have no hashes, and a nonce beside their scopes at most.
func isIDToken(header string, token *oidc.IDToken) bool {
	var h, c struct {
		Type   string `json:"typ"`
		Nonce  any    `json:"nonce"`
		Access any    `json:"at_hash"`
		Code   any    `json:"c_hash"`
		Scope  any    `json:"scope"`
		Scopes any    `json:"scp"`
	}
	raw, _ := base64.RawURLEncoding.DecodeString(header)
	_, _ = json.Unmarshal(raw, &h), token.Claims(&c) // what the verifier has read
	switch {
	case strings.HasSuffix(strings.ToLower(h.Type), "at+jwt"), c.Type == "Bearer":
		return false
	}
	return c.Type == "ID" || c.Access != nil || c.Code != nil || c.Nonce != nil && c.Scope == nil && c.Scopes == nil
}

// tokenClaims are the parts of a token that have several forms.
type tokenClaims struct {
	Scope  string `json:"scope"`
	Scopes any    `json:"scp"` // a list, or a text as scope is
}

// callerOf returns the caller of a token whose signature, issuer and expiry are good.
func (o *OIDC) callerOf(token *oidc.IDToken) (Caller, error) {
	if !slices.ContainsFunc(o.Audience, func(a string) bool { return slices.Contains(token.Audience, a) }) {
		return Caller{}, ErrUnknownCaller
	}
	var c tokenClaims
	all := map[string]any{}
	if token.Claims(&c) != nil || token.Claims(&all) != nil {
		return Caller{}, ErrUnknownCaller
	}
	named, _ := c.Scopes.(string)
	list, _ := c.Scopes.([]any)
	granted := strings.Fields(c.Scope + " " + named)
	for _, s := range o.Scopes {
		if !slices.Contains(granted, s) && !slices.Contains(list, any(s)) {
			return Caller{}, ErrScope
		}
	}
	subject, _ := all[o.Claim].(string)
	if strings.TrimSpace(subject) == "" || !Printable(subject) || o.Claim == "email" && all["email_verified"] != true {
		return Caller{}, ErrUnknownCaller // "" is the owner of the machine, no database stores any text, and anybody can enter any address
	}
	return Caller{Subject: subject, Until: token.Expiry}, nil
}

// Owns reports whether a text is a token that was issued for this program, whether it is good or not.
func (o *OIDC) Owns(text string) bool {
	if strings.Count(text, ".") != 2 || len(text) > maxTokenBytes {
		return false
	}
	unchecked := oidc.NewVerifier(o.Issuer, nil, &oidc.Config{
		SkipClientIDCheck: true, SkipExpiryCheck: true, InsecureSkipSignatureCheck: true, SupportedSigningAlgs: algorithms,
	})
	_, err := unchecked.Verify(context.Background(), text)
	return err == nil
}

// Ready returns an error if the provider was never reached.
func (o *OIDC) Ready(ctx context.Context) error {
	_, err := o.ask(ctx)
	return err
}

// ask returns what verifies tokens. It asks the provider for its address of keys, unless it has answered before.
func (o *OIDC) ask(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.verifier != nil:
		return o.verifier, nil
	case !o.failed.IsZero() && o.now().Sub(o.failed) < askAgainAfter:
		return nil, o.why
	}
	within, cancel := context.WithTimeout(oidc.ClientContext(context.WithoutCancel(ctx), o.client()), providerWithin)
	defer cancel()
	provider, err := oidc.NewProvider(within, o.Issuer)
	if err != nil {
		o.failed, o.why = o.now(), err
		return nil, err
	}
	var has struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&has); err != nil {
		return nil, err
	}
	keys := &keySet{url: has.Keys, client: o.client(), now: o.now}
	o.verifier = oidc.NewVerifier(o.Issuer, keys, &oidc.Config{SkipClientIDCheck: true, SupportedSigningAlgs: algorithms, Now: o.now})
	return o.verifier, nil
}

func (o *OIDC) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// client returns a client whose answers are of limited size.
func (o *OIDC) client() *http.Client {
	if o.Client != nil {
		return o.Client
	}
	o.Client = &http.Client{Timeout: providerWithin, Transport: limitedBody{http.DefaultTransport}}
	return o.Client
}

// limitedBody limits the size of answers.
type limitedBody struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l limitedBody) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	res.Body = http.MaxBytesReader(nil, res.Body, maxProviderBytes)
	return res, nil
}
