package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// Access says from where a door may be reached.
type Access struct {
	Host      string         // "": loopback
	Cert, Key string         // files of the TLS certificate; "": no TLS
	Proxies   []netip.Prefix // reverse proxies whose forwarded headers are believed; none: there is no reverse proxy
	Public    string         // the URL under which clients reach the door; "": not known
}

// Beyond reports whether others than the programs of this machine may reach the door. They need a credential then.
func (a Access) Beyond() bool { return !a.loopback() || len(a.Proxies) > 0 }

// Private reports whether nobody on the way can read what is sent to the door: it is on loopback, has TLS, or answers only
// to a reverse proxy, which has TLS.
func (a Access) Private() bool { return a.loopback() || a.Cert != "" || len(a.Proxies) > 0 }

func (a Access) loopback() bool { return a.Host == "" || IsLoopback(a.Host) }

// Listen opens the door. failed gets the reason why a new certificate cannot be used.
func (a Access) Listen(ctx context.Context, port int, failed func(error)) (net.Listener, error) {
	var config *tls.Config
	if a.Cert != "" {
		var err error
		if config, err = certified(a.Cert, a.Key, failed); err != nil {
			return nil, err
		}
	}
	l, err := Listen(ctx, a.Host, port)
	if err != nil || config == nil {
		return l, err
	}
	return tls.NewListener(l, config), nil
}

// Scheme returns the scheme of the door's own address.
func (a Access) Scheme() string {
	if a.Cert != "" {
		return "https"
	}
	return "http"
}

// Foreign says why a request must not be answered, whoever sends it; "" if it may be. On loopback that is [Foreign].
// Beyond it the credential decides who may call, but a web page is refused unless it comes from the door's own host, and
// without TLS nobody is answered but the reverse proxy.
func (a Access) Foreign(r *http.Request) string {
	if !a.Beyond() {
		return Foreign(r)
	}
	if a.Cert == "" && !a.trusts(r) {
		return "this server answers its reverse proxy only"
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !a.isOwn(r, u.Host) {
			return "Origin is another site"
		}
	}
	return ""
}

// isOwn reports whether a host with its port is the door's, as clients know it.
func (a Access) isOwn(r *http.Request, host string) bool {
	if u, err := url.Parse(a.Public); err == nil && a.Public != "" {
		return strings.EqualFold(u.Host, host)
	}
	own := r.Host
	if a.trusts(r) {
		own = cmp.Or(r.Header.Get("X-Forwarded-Host"), own)
	}
	return strings.EqualFold(own, host)
}

// trusts reports whether a request comes directly from a reverse proxy whose headers are believed.
func (a Access) trusts(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(a.Proxies, func(p netip.Prefix) bool { return p.Contains(peer.Addr().Unmap()) })
}

// MaxName is the longest name of a user or a subject, in bytes.
const MaxName = 256

// forwarded lists the headers that only the reverse proxy may set.
var forwarded = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-User"}

// TakeUser removes the headers of reverse proxies from a request and returns the user that one of them named. It is ""
// unless the door's own reverse proxy sent it: anybody can write a header.
func (a Access) TakeUser(r *http.Request) string {
	user := ""
	if a.trusts(r) {
		user = r.Header.Get("X-Forwarded-User")
	}
	for _, name := range forwarded {
		r.Header.Del(name)
	}
	if !Printable(user) {
		return ""
	}
	return user
}

// Printable reports whether a text can be the name of a user or a subject, which is shown and stored.
func Printable(text string) bool {
	return len(text) <= MaxName && !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) })
}

// ParseProxies parses addresses and ranges of addresses.
func ParseProxies(list []string) (proxies []netip.Prefix, ok bool) {
	for _, text := range list {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			one, err := netip.ParseAddr(text)
			if err != nil {
				return nil, false
			}
			p = netip.PrefixFrom(one, one.BitLen())
		}
		proxies = append(proxies, p.Masked())
	}
	return proxies, true
}
