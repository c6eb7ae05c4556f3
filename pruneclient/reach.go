package pruneclient

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"
)

// ErrNoURL is Reach's answer to what can be no service's address.
var ErrNoURL = errors.New("it is no URL")

// Reach says why nothing can be sent to a service, as shortly as a person wants
// it, or nil when something listens at its URL. It waits for a second at most.
func Reach(ctx context.Context, service string) error {
	u, err := url.Parse(service)
	if err != nil || u.Host == "" {
		return ErrNoURL
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		parts := strings.Split(err.Error(), ": ")
		return errors.New(parts[len(parts)-1])
	}
	return conn.Close()
}
