package httpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

func (h *Handler) prunerEndpoints() map[string]endpoint {
	return map[string]endpoint{
		"/rpc":    {[]string{http.MethodPost}, h.rpc},
		"/prune":  {[]string{http.MethodPost}, h.prune},
		"/health": {[]string{http.MethodGet, http.MethodHead}, h.prunerHealth},
	}
}

func (h *Handler) prunerHealth(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, h.config.Pruner.service.Health())
}

// rpc answers one JSON-RPC message of the contract. It has no sessions and accepts any media type, because
// its clients predate MCP over HTTP.
func (h *Handler) rpc(w http.ResponseWriter, r *http.Request) {
	h.receive(w, r, func(body []byte) {
		x := &exchange{w: w, r: r, within: h.config.WriteWithin, server: h.config.Pruner.rpc}
		h.answer(x, alone(x.r), mcpserver.Parse(mended(body)))
	}, func(f *fault) {
		h.config.note(r, f)
		writeJSON(w, f.status, json.RawMessage(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`))
	})
}

// prune answers requests of the swe-pruner contract. Errors have the form that FastAPI gives them.
func (h *Handler) prune(w http.ResponseWriter, r *http.Request) {
	refuse := func(f *fault, details ...service.Detail) {
		h.config.note(r, f)
		writeJSON(w, f.status, map[string]any{"detail": details})
	}
	h.receive(w, r, func(body []byte) {
		args, bad := parseCode(body)
		if len(bad) > 0 {
			refuse(&fault{http.StatusUnprocessableEntity, "invalid_body", "the body is no request to prune"}, bad...)
			return
		}
		h.pruneCode(w, r, args)
	}, func(f *fault) { refuse(f, unread(f)) })
}

func (h *Handler) pruneCode(w http.ResponseWriter, r *http.Request, args map[string]any) {
	reply := h.config.Pruner.code.Call(r.Context(), "prune_code", args)
	body, err := reply.Begin(r.Context())
	switch {
	case err != nil, body == nil:
		panic(http.ErrAbortHandler)
	case len(body) == 0 || reply.Code() != 0: // the call failed, or could not be made
		problem(w, &fault{http.StatusInternalServerError, "internal_error", "Internal error"})
		reply.Failed(r.Context(), errors.New("the call failed"))
		return
	}
	x := &exchange{w: w, r: r, within: h.config.WriteWithin}
	if err := x.answer(body); err != nil {
		reply.Failed(r.Context(), err)
		panic(http.ErrAbortHandler)
	}
	reply.Written(r.Context())
}

// unread returns the reason why a body was not read to its end.
func unread(f *fault) service.Detail {
	switch f.status {
	case http.StatusRequestEntityTooLarge:
		return service.Detail{Type: "too_large", Loc: []string{"body"}, Msg: "Body larger than 32 MiB"}
	case http.StatusRequestTimeout:
		return service.Detail{Type: "timeout", Loc: []string{"body"}, Msg: "Body was not sent in time"}
	}
	return service.Detail{Type: "incomplete", Loc: []string{"body"}, Msg: "Body ended early"}
}

// parseCode parses the body of a prune request.
func parseCode(body []byte) (map[string]any, []service.Detail) {
	value, err := jsonspan.Decode(body)
	if err != nil {
		return nil, []service.Detail{{Type: "json_invalid", Loc: []string{"body"}, Msg: "JSON decode error"}}
	}
	request, _ := value.(map[string]any)
	if request == nil {
		return nil, []service.Detail{{Type: "model_attributes_type", Loc: []string{"body"}, Msg: "Input should be a valid object"}}
	}
	_, bad := service.ParseCode(request)
	return request, bad
}

// mended returns a body in which invalid UTF-8 is replaced by U+FFFD, because the texts come from logs and
// pruning must not fail. If the id would change, the body is returned unchanged.
func mended(body []byte) []byte {
	if utf8.Valid(body) {
		return body
	}
	repaired := []byte(string([]rune(string(body))))
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(repaired, &m) != nil || bytes.Contains(m.ID, []byte("\uFFFD")) {
		return body
	}
	return repaired
}
