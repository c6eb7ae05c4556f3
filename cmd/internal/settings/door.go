package settings

import (
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
)

// Door says from where a program may be reached over the network, and which callers it admits.
type Door struct {
	Access web.Access
	Port   int // 0: any free port

	TokenFile string        // holds a bearer token that requests may carry; "": none
	APIKeys   bool          // keys of "mcp-pruner keys" are accepted
	KeysGrace time.Duration // how long a key is accepted after it was last confirmed, while the store cannot be asked
	OIDC      OIDC

	Drain time.Duration // for requests in progress when the program ends, if others than this machine reach it
}

// finishHere is how long requests in progress may go on where only this machine reaches the program: its user waits for its end.
const finishHere = 2 * time.Second

// FinishWithin returns how long requests in progress may go on after the signal that ends the program.
func (d Door) FinishWithin() time.Duration {
	if d.Access.Beyond() {
		return d.Drain
	}
	return finishHere
}

// OIDC says which tokens of an OpenID provider are accepted. Without an issuer none is.
type OIDC struct {
	Issuer   string
	Audience []string
	Scopes   []string // that a token needs
	Claim    string   // that names the subject
}

// Asks reports whether callers need a credential.
func (d Door) Asks() bool { return d.TokenFile != "" || d.APIKeys || d.OIDC.Issuer != "" }

// doors are the programs that may be reached over the network.
const doors = HTTP | Pruner | Proxy

// beyond says which settings an address needs that is not of this machine.
const beyond = "any other needs --tls-cert and --tls-key or --behind-proxy, and with these callers need credentials: --auth keys, --token-file or MCP_PRUNER_OIDC_ISSUER; see docs/TEAMS.md"

func doorRows() []Row {
	return append([]Row{
		{Name: "MCP_PRUNER_PROXY_HOST", For: Proxy, Flag: "host", Default: "127.0.0.1", After: true,
			Allowed: "a loopback address; " + beyond, Meaning: "The address to listen on.", Take: takeHost},
		{Name: "MCP_PRUNER_TLS_CERT", For: doors, Flag: "tls-cert", Allowed: "a file path",
			Meaning: "A TLS certificate with its chain, PEM. A new one is taken up when the file changes.",
			Take:    text(func(s *Settings) *string { return &s.Access.Cert })},
		{Name: "MCP_PRUNER_TLS_KEY", For: doors, Flag: "tls-key", Allowed: "a file path, together with --tls-cert", After: true,
			Meaning: "The key of the certificate, PEM.",
			Take: func(s *Settings, v string) bool {
				s.Access.Key = v
				return (v == "") == (s.Access.Cert == "")
			}},
		{Name: "MCP_PRUNER_BEHIND_PROXY", For: doors, Flag: "behind-proxy", Allowed: "addresses or ranges separated by commas, e.g. 10.1.0.0/16",
			Meaning: "The reverse proxies that have TLS for this server. Only their forwarded headers are believed, and without a certificate only they are answered.",
			Take: func(s *Settings, v string) bool {
				var ok bool
				s.Access.Proxies, ok = web.ParseProxies(list(v))
				return ok
			}},
		{Name: "MCP_PRUNER_PUBLIC_URL", For: doors, Allowed: "an https URL without a path, or http on loopback",
			Meaning: "The address under which clients reach the server, for OAuth and web pages.", Take: takePublic},
		{Name: "MCP_PRUNER_AUTH", For: doors, Flag: "auth", Allowed: "keys",
			Meaning: "`keys`: callers need a key of `mcp-pruner keys`. A token file and an issuer count beside it.",
			Take: func(s *Settings, v string) bool {
				s.APIKeys = v == "keys"
				return v == "" || s.APIKeys
			}},
		{Name: "MCP_PRUNER_KEYS_GRACE_S", For: doors, Default: "900", Allowed: "an integer from 10 to 86400",
			Meaning: "Seconds for which a key is accepted after it was last confirmed, while the store of keys cannot be asked. A warning says so. A key that was revoked meanwhile is accepted, too.",
			Take:    seconds(10, 86400, func(s *Settings) *time.Duration { return &s.KeysGrace })},
	}, oidcRows()...)
}

func oidcRows() []Row {
	return []Row{
		{Name: "MCP_PRUNER_OIDC_ISSUER", For: doors, Allowed: "an https URL, or http on loopback",
			Meaning: "The OpenID provider whose access tokens callers may send.",
			Take: func(s *Settings, v string) bool {
				s.OIDC.Issuer = v
				return v == "" || isSafeURL(v)
			}},
		{Name: "MCP_PRUNER_OIDC_AUDIENCE", For: doors, Allowed: "names separated by commas; with an issuer, this or MCP_PRUNER_PUBLIC_URL is needed", After: true,
			Meaning: "The audiences of which a token needs one. Unset, the public URL of the server with `/mcp`, as MCP asks for.",
			Take: func(s *Settings, v string) bool {
				s.OIDC.Audience = list(v)
				if v == "" && s.Access.Public != "" {
					s.OIDC.Audience = []string{s.Access.Public + "/mcp"}
				}
				return s.OIDC.Issuer == "" || len(s.OIDC.Audience) > 0
			}},
		{Name: "MCP_PRUNER_OIDC_SCOPES", For: doors, Allowed: "names separated by commas", Meaning: "The scopes that a token needs, all of them.",
			Take: items(func(s *Settings) *[]string { return &s.OIDC.Scopes })},
		{Name: "MCP_PRUNER_OIDC_SUBJECT", For: doors, Default: "sub", Allowed: "the name of a claim",
			Meaning: "The claim that is the subject. It must be one that users cannot change, such as `sub` or a verified `email`.",
			Take: func(s *Settings, v string) bool {
				s.OIDC.Claim = v
				return v != ""
			}},
		{Name: "MCP_PRUNER_DRAIN_S", For: doors, Default: "30", Allowed: "an integer from 1 to 3600",
			Meaning: "Seconds for which requests in progress may go on after SIGTERM where others than this machine reach the server; on loopback it is 2. A second signal ends them.",
			Take:    seconds(1, 3600, func(s *Settings) *time.Duration { return &s.Drain })},
	}
}

// takeHost takes an IP address. What others may reach needs a way that nobody can read, and callers' credentials.
func takeHost(s *Settings, v string) bool {
	s.Access.Host = v
	return net.ParseIP(v) != nil && s.reachable()
}

// takeName takes an IP address or the name localhost.
func takeName(s *Settings, v string) bool {
	s.Access.Host = strings.TrimSuffix(strings.TrimPrefix(v, "["), "]")
	return (web.IsLoopback(s.Access.Host) || net.ParseIP(v) != nil) && s.reachable()
}

func (s *Settings) reachable() bool {
	return !s.Access.Beyond() || s.Access.Private() && s.Asks()
}

func takePublic(s *Settings, v string) bool {
	s.Access.Public = strings.TrimSuffix(v, "/")
	if v == "" {
		return true
	}
	u, err := url.Parse(s.Access.Public)
	return err == nil && u.Path == "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil && isSafeURL(v)
}

// isSafeURL reports whether a value is an https URL, or an http URL of this machine.
func isSafeURL(v string) bool {
	u, err := url.Parse(v)
	return isHTTP(v) && err == nil && (u.Scheme == "https" || web.IsLoopback(u.Hostname()))
}
