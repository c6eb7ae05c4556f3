// Package web is the HTTP server of every door, and says which requests it may serve on this machine: those of
// its own programs, and none that a web page could have sent. Beyond this machine it says who calls, by the credential that
// a request carries. It fails closed: what cannot be found out admits nobody.
package web

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Foreign says why a request is not one from this machine's own programs; "" when
// it may be. Anybody who reaches the server has a shell, and a browser lets every
// page on the web send requests to this machine. A page's requests carry its
// origin; a page whose name was made to point here (DNS rebinding) carries that
// name in Host.
func Foreign(r *http.Request) string {
	if !IsLoopback(hostOf(r.Host)) {
		return "Host is not a loopback address"
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || !IsLoopback(u.Hostname()) { // "null" has no host
			return "Origin is not a loopback address"
		}
	}
	return ""
}

// hostOf takes the port off, and the brackets of IPv6.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}

// IsLoopback knows only names that cannot lead anywhere else.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
