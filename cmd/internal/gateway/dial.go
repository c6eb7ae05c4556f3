package gateway

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"
)

// silent drops the transports' logs. Standard error is reserved for events, and errors are returned.
var silent = slog.New(slog.DiscardHandler)

// link is a transport to a server.
type link struct {
	transport transport.Interface
	ended     <-chan struct{} // closed when the link is lost; nil: only a request can detect that
	why       func() error    // returns the reason for the loss
	close     func()
}

// dialer opens connections. It starts processes with the given environment and passes on their standard
// error line by line.
type dialer struct {
	env    []string // of upstream processes; their own variables are added
	stderr func(server, line string)
}

func (d dialer) dial(c ServerConfig) (link, error) {
	if c.URL == "" {
		p, err := spawn(c, d.env, func(line string) { d.stderr(c.Name, withoutSecrets(line, c)) })
		if err != nil {
			return link{}, err
		}
		return link{p.transport(), p.ended, func() error { return p.err }, p.close}, nil
	}
	t, err := transport.NewStreamableHTTP(c.URL, transport.WithHTTPHeaders(c.Headers), transport.WithHTTPLogger(silent),
		//lint:ignore SA1019 upstreams are spoken to in the protocol that has initialize, where changes come this way
		transport.WithContinuousListening(),
		transport.WithHTTPBasicClient(&http.Client{CheckRedirect: sameHost}))
	if err != nil {
		return link{}, fmt.Errorf("the url is unusable: %w", redacted(err, c))
	}
	return link{transport: t, close: func() {}}, nil
}

// sameHost refuses a redirect to another host, which would receive the headers and the secrets in them.
func sameHost(next *http.Request, before []*http.Request) error {
	if next.URL.Host != before[0].URL.Host || len(before) > 5 {
		return fmt.Errorf("it redirects to %s; give that address", next.URL.Host)
	}
	return nil
}

// minSecret is the length in bytes from which a value is treated as a secret. Shorter values are numbers
// and switches, which occur in many other texts.
const minSecret = 6

// withoutSecrets removes from a text the values of a server's headers and environment, and the part of its
// address after the path.
func withoutSecrets(text string, c ServerConfig) string {
	var secrets []string
	for _, value := range c.Env {
		secrets = append(secrets, value)
	}
	for _, value := range c.Headers {
		_, token, _ := strings.Cut(value, " ") // Bearer TOKEN
		secrets = append(secrets, value, token)
	}
	_, query, _ := strings.Cut(c.URL, "?")
	secrets = append(secrets, query)
	if u, err := url.Parse(c.URL); err == nil && u.User != nil {
		secrets = append(secrets, u.User.String())
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // longest first, because one may be part of another
	for _, secret := range secrets {
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, "[hidden]")
		}
	}
	return text
}

// redacted returns an error without a server's secrets.
func redacted(err error, c ServerConfig) error {
	if text := withoutSecrets(err.Error(), c); text != err.Error() {
		return errors.New(text)
	}
	return err
}
