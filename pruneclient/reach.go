package pruneclient

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"
)

// ErrNoURL is returned by Reach for a string that is not a service's URL.
var ErrNoURL = errors.New("it is no URL")

// Reach returns a short reason why nothing can be sent to a service, or nil if something listens at its
// URL. It takes a second at most.
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
