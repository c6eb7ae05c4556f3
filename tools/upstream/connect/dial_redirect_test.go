package connect

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A redirect goes neither to another host nor from TLS to plain text: the headers of the request have secrets.
func TestRedirectsKeepHostAndTLS(t *testing.T) {
	to := func(url string) *http.Request {
		r, err := http.NewRequest(http.MethodPost, url, http.NoBody)
		require.NoError(t, err)
		return r
	}
	first := []*http.Request{to("https://x.test/mcp")}
	assert.NoError(t, sameHost(to("https://x.test/mcp/"), first))
	assert.EqualError(t, sameHost(to("http://x.test/mcp/"), first), "it redirects to http://x.test; give that address")
	assert.Error(t, sameHost(to("https://y.test/mcp"), first))
	assert.NoError(t, sameHost(to("http://x.test/mcp/"), []*http.Request{to("http://x.test/mcp")}))
}
