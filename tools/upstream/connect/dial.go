package connect

import (
	"fmt"
	"log/slog"
	"net/http"

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

// dial connects to a server. It starts a process with the given environment; stderr gets each line of its standard error.
func dial(c Config, env []string, stderr func(line string)) (link, error) {
	if c.URL == "" {
		p, err := spawn(c, env, stderr)
		if err != nil {
			return link{}, err
		}
		return link{p.transport(), p.ended, p.why, p.close}, nil
	}
	t, err := transport.NewStreamableHTTP(c.URL, transport.WithHTTPHeaders(c.Headers), transport.WithHTTPLogger(silent),
		//lint:ignore SA1019 upstreams are spoken to in the protocol that has initialize, where changes come this way
		transport.WithContinuousListening(),
		transport.WithHTTPBasicClient(&http.Client{CheckRedirect: sameHost, Transport: readableHTTP{}}))
	if err != nil {
		return link{}, fmt.Errorf("the url is unusable: %w", redacted(err, c))
	}
	return link{transport: t, close: func() {}}, nil
}

// sameHost refuses a redirect to another host, or to the same one without TLS: either would show the headers to others, and the
// secrets in them.
func sameHost(next *http.Request, before []*http.Request) error {
	first := before[0].URL
	if next.URL.Host != first.Host || first.Scheme == "https" && next.URL.Scheme != "https" || len(before) > 5 {
		return fmt.Errorf("it redirects to %s://%s; give that address", next.URL.Scheme, next.URL.Host)
	}
	return nil
}
