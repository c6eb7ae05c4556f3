package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/clearing"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An upstream that refuses a changed request and then says nothing more holds its client for seconds. If the request cannot be sent once
// more, the client gets the refusal as far as it came.
func TestARefusalThatStalls(t *testing.T) {
	for want, failed := range map[string]error{"second": nil, "half a rea": io.ErrUnexpectedEOF} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			from, to := io.Pipe()
			go func() { _, _ = io.WriteString(to, "half a rea") }()
			stalls := roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.ContentLength == 0 {
					return &http.Response{StatusCode: http.StatusBadRequest, Body: from}, nil
				}
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(want))}, failed
			})
			b := &received{body: []byte("{}"), sent: func(clearing.Refusal) {}}
			res, err := again{stalls}.RoundTrip(b.with(httptest.NewRequest(http.MethodPost, messagesPath, nil)))
			require.NoError(t, err)
			got, _ := io.ReadAll(res.Body)
			assert.Equal(t, want, string(got))
			assert.Equal(t, refusalWithin, time.Since(began))
		})
	}
}
