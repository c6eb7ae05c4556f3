package httpserver

import (
	"maps"
	"net/http"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
)

// NewHandler makes a handler.
func NewHandler(c Config) *Handler {
	if c.BodyWithin == 0 {
		c.BodyWithin = bodyWithin
	}
	if c.WriteWithin == 0 {
		c.WriteWithin = time.Minute
	}
	if c.FinishWithin == 0 {
		c.FinishWithin = finishWithin
	}
	h := &Handler{config: c, started: time.Now(), sessions: newSessions(newSealer(c)),
		bodies: web.NewBudget(bodyBudget, stall, c.BodyWithin), answers: web.NewBudget(answerBudget, 0, 0)}
	if c.Server != nil {
		h.sessions.ended = c.Server.End
	}
	h.endpoints = map[string]endpoint{
		"/healthz": {[]string{http.MethodGet, http.MethodHead}, h.health},
		"/readyz":  {[]string{http.MethodGet, http.MethodHead}, h.ready},
		"/mcp":     {[]string{http.MethodPost}, h.mcp},
	}
	if c.Server != nil && c.Server.Changes() {
		h.endpoints["/mcp"] = endpoint{[]string{http.MethodDelete, http.MethodGet, http.MethodPost}, h.mcpOrStream}
	}
	if c.Gate != nil && c.Gate.OAuth != nil {
		for _, path := range c.Gate.OAuth.Paths() {
			h.endpoints[path] = endpoint{[]string{http.MethodGet, http.MethodHead}, h.metadata}
		}
	}
	if c.Pruner != nil {
		maps.Copy(h.endpoints, h.prunerEndpoints())
	}
	return h
}
