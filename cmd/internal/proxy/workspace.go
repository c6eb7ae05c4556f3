package proxy

import (
	"crypto/sha256"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

const (
	askWorkspaceWithin = 10 * time.Second
	maxWorkspaceBytes  = 1 << 20
	maxWorkspaces      = 1000 // that are remembered
)

// workspaces remembers where the requests of each login go. The zero value is ready to use.
type workspaces struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]*workspace
}

// workspace is that of one login.
type workspace struct {
	mu    sync.Mutex // one request asks, and the others wait
	asked bool
	found wire.Workspace
	why   string // its requests go nowhere; "": they go to found
}

// of returns the workspace of a login: of an account with a credential, so that nobody learns of another's.
func (w *workspaces) of(login string) *workspace {
	key := sha256.Sum256([]byte(login))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known[key] == nil {
		if w.known == nil || len(w.known) >= maxWorkspaces {
			w.known = map[[sha256.Size]byte]*workspace{}
		}
		w.known[key] = &workspace{}
	}
	return w.known[key]
}

// askWorkspace asks where an account's requests go.
func askWorkspace(through http.RoundTripper, r *http.Request, of *wire.Workspaces) (res *http.Response, body []byte, err error) {
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, of.Check.String(), nil)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"Authorization", of.Account, "User-Agent", "Originator", "Version", "X-Openai-Fedramp"} {
		if v := r.Header.Values(name); len(v) > 0 {
			ask.Header[name] = v
		}
	}
	client := http.Client{Transport: through, Timeout: askWorkspaceWithin, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if res, err = client.Do(ask); err != nil {
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(res.Body, maxWorkspaceBytes))
	return res, body, err
}
