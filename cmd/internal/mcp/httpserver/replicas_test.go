//go:build unix

package httpserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// newReplica is a place that shares a database with others.
func newReplica(t *testing.T, name string) *place {
	t.Helper()
	db, err := store.Open(store.Database{Name: name})
	require.NoError(t, err)
	var h *Handler
	p := newPlace(t, func(c *Config) { c.Replicas = db })
	h = p.web.Config.Handler.(*Handler)
	ctx, stop := context.WithCancel(t.Context())
	var hearing sync.WaitGroup
	hearing.Go(func() { h.hear(ctx) })
	t.Cleanup(func() {
		stop()
		hearing.Wait()
		assert.NoError(t, db.Close())
	})
	return p
}

// TestACancelFindsItsReplica: a cancel that reaches another replica than its call ends the call before it is acknowledged. A
// session goes on at every replica, and one whose id nobody gave out begins anew.
func TestACancelFindsItsReplica(t *testing.T) {
	name := storetest.Start(t).Database(t)
	here, there := newReplica(t, name), newReplica(t, name)
	session := here.open("test")
	pid, end := here.waiting(t.Context(), session)
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	_, _ = there.post(cancel, there.open("other"))
	require.NoError(t, syscall.Kill(pid, 0), "another session's call was cancelled")

	response, _ := there.post(cancel, session)
	assert.Equal(t, http.StatusAccepted, response.StatusCode)
	status, err := end()
	require.NoError(t, err)
	assert.Equal(t, http.StatusAccepted, status, "there is no answer")
	here.dead(pid)

	forged := session[:len(session)-1] + map[bool]string{true: "A", false: "B"}[!strings.HasSuffix(session, "A")]
	for _, id := range []string{forged, session[:strings.LastIndex(session, ".")]} {
		response, _ = there.post(message("ping", nil), id)
		assert.Equal(t, http.StatusNotFound, response.StatusCode, id)
	}
	response, _ = there.post(message("ping", nil), session)
	assert.Equal(t, http.StatusOK, response.StatusCode)
}

// away stands for a database that can be reached or not.
type away struct {
	Replicas
	key []byte // nil: it cannot be reached
}

func (a *away) SharedKey(context.Context, string) ([]byte, error) {
	if a.key == nil {
		return nil, errors.New("no database")
	}
	return a.key, nil
}

// TestSessionsWithoutTheirKey: while the key of session ids cannot be had, a client is told to try again with an id that another
// replica may have given out, and to begin anew with what can be no id. It is given no id that cannot be authenticated.
func TestSessionsWithoutTheirKey(t *testing.T) {
	there, db := &away{key: make([]byte, 32)}, &away{}
	id := newPlace(t, func(c *Config) { c.Replicas = there }).open("test")
	p := newPlace(t, func(c *Config) { c.Replicas = db })

	response, body := p.post(message("ping", nil), id)
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.NotEmpty(t, response.Header.Get("Retry-After"))
	assert.Contains(t, body, "try again")
	for _, id := range []string{"Mcp-Session-Id: x", id[:strings.LastIndexByte(id, '.')], id + "A"} {
		response, _ = p.post(message("ping", nil), id)
		assert.Equal(t, http.StatusNotFound, response.StatusCode, id)
	}
	response, _ = p.post(hello("test"))
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Empty(t, response.Header.Values("Mcp-Session-Id"))
	response, _ = p.post(message("ping", nil))
	assert.Equal(t, http.StatusOK, response.StatusCode, "a client without a session is served")

	db.key = there.key
	response, _ = p.post(message("ping", nil), id)
	assert.Equal(t, http.StatusOK, response.StatusCode, "the database is back")
}
