package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// client sends spans by OTLP over HTTP. The official client links gRPC, which would make the program 2.4 MB larger.
type client struct {
	endpoint string
	header   http.Header
	http     http.Client
	warn     func(error)
	failed   sync.Once
}

// sendWithin is the time limit for sending one batch of spans.
const sendWithin = 10 * time.Second

func newClient(endpoint string, header http.Header, warn func(error)) *client {
	header.Set("Content-Type", "application/x-protobuf")
	return &client{endpoint: endpoint, header: header, warn: warn, http: http.Client{
		Timeout:       sendWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the headers are for this host
	}}
}

// The names and values of headers that HTTP allows.
var (
	headerName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[0-9A-Za-z!#$%&'*+.^_`|~-]+$") })
	headerValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`) })
)

// parseHeaders reads name=value,name=value, with values in percent encoding. The error does not contain the text, which
// may be a key.
func parseHeaders(list string) (header http.Header, err error) {
	header = make(http.Header)
	n := 0
	for pair := range strings.SplitSeq(list, ",") {
		n++
		name, value, _ := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, invalid := url.PathUnescape(strings.TrimSpace(value))
		switch {
		case strings.TrimSpace(pair) == "":
		case !strings.Contains(pair, "="), invalid != nil, !headerName().MatchString(name), !headerValue().MatchString(value):
			err = fmt.Errorf("entry %d of the headers for spans is not sent: want name=value, the value in percent encoding", n)
		default:
			header.Set(name, value)
		}
	}
	return header, err
}

// Start implements otlptrace.Client.
func (c *client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. A refused batch is lost. Only the first is reported, because a collector that
// is down would otherwise fill the log.
func (c *client) UploadTraces(ctx context.Context, batch []*tracepb.ResourceSpans) error {
	if err := c.send(ctx, batch); err != nil {
		c.failed.Do(func() { c.warn(fmt.Errorf("spans cannot be sent: %w", err)) })
	}
	return nil
}

// send posts one batch. TracesData has the same encoding as the ExportTraceServiceRequest that receivers expect.
func (c *client) send(ctx context.Context, batch []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: batch})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = c.header.Clone()
	answer, err := c.http.Do(r)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // without the URL, which may contain a key
		}
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20)) // so that the connection can be reused
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	return nil
}
