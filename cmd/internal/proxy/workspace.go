package proxy

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
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

// answered is the reason of a request that was answered already.
const answered = "it was answered"

// toWorkspace sets the address of a request's workspace, for which the company is asked once, with the request's own login. If
// the company refuses the login, the client gets that answer, by which it knows that it has to renew the login.
func (s *server) toWorkspace(w http.ResponseWriter, r *http.Request, to *target) (why string) {
	account := r.Header.Get(to.workspaces.Account)
	place := s.workspaces.of(account + "\n" + r.Header.Get("Authorization"))
	place.mu.Lock()
	defer place.mu.Unlock()
	if !place.asked {
		res, body, err := s.askWorkspace(r, to.workspaces)
		switch {
		case err != nil, res.StatusCode >= http.StatusInternalServerError, res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusOK && !json.Valid(body):
			refuse(w, r, http.StatusBadGateway, "to which address the requests of this account go could not be asked at "+to.workspaces.Check.Host+"; try again")
			return answered
		case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
			maps.Copy(w.Header(), res.Header)
			w.WriteHeader(res.StatusCode)
			_, _ = w.Write(body) // the client is gone
			return answered
		case res.StatusCode == http.StatusOK:
			if place.found, err = to.workspaces.Parse(body, account); err != nil {
				place.why = err.Error()
			}
		}
		place.asked = true
	}
	if origin := place.found.Origin; origin != nil {
		to.url = &url.URL{Scheme: origin.Scheme, Host: origin.Host, Path: to.url.Path}
	}
	to.header = [2]string{to.workspaces.Override, place.found.Override}
	return place.why
}

// askWorkspace asks where an account's requests go.
func (s *server) askWorkspace(r *http.Request, of *wire.Workspaces) (res *http.Response, body []byte, err error) {
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, of.Check.String(), nil)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"Authorization", of.Account, "User-Agent", "Originator", "Version", "X-Openai-Fedramp"} {
		if v := r.Header.Values(name); len(v) > 0 {
			ask.Header[name] = v
		}
	}
	client := http.Client{Transport: s.proxy.Transport, Timeout: askWorkspaceWithin, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if res, err = client.Do(ask); err != nil {
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(res.Body, maxWorkspaceBytes))
	return res, body, err
}
