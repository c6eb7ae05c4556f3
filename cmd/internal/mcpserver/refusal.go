package mcpserver

import (
	"context"
	"encoding/json"
	"slices"

	"mcp-pruner/states"
)

// Refusal is why a transport answers a message with an error of its own.
type Refusal struct {
	code    int
	message string
	data    any
}

// HeaderMismatch says that the headers of a message are not those of its body.
func HeaderMismatch(message string) *Refusal {
	return &Refusal{code: codeHeaderMismatch, message: message}
}

// MissingVersion says that a message lacks the protocol version that its headers have.
func MissingVersion(m Message) *Refusal {
	return &Refusal{codeInvalidParams, messages[codeInvalidParams], invalidParams{
		Jeeves: jeeves, Method: m.Method, Issues: []states.Issue{states.NewIssue("_meta."+protocolVersionKey, "invalid_type")},
	}}
}

// CheckVersion refuses a protocol version that is not served.
func CheckVersion(version string) *Refusal {
	if slices.Contains(Versions, version) {
		return nil
	}
	return &Refusal{codeUnsupportedVersion, messages[codeUnsupportedVersion], unsupportedVersion{Versions, version}}
}

// Refuse answers a message with a refusal. It is given a machine like any other.
func (s *Server) Refuse(ctx context.Context, session *Session, m Message, why *Refusal) Reply {
	call := s.run(ctx, session, why.message)
	body, err := encode(m.ID, "error", rpcError{why.code, why.message, why.data})
	return Reply{body: body, call: call, err: err}
}

// Refused gives a request that is no message its machine: a transport has turned it
// down in its own way, and the log and the trace are to know.
func (s *Server) Refused(ctx context.Context, why string) {
	s.run(ctx, Alone(), why).Answering(0)
}

// run takes a request that was turned down through its machine.
func (s *Server) run(ctx context.Context, session *Session, why string) *states.Call {
	return s.config.Pipeline.Run(context.WithoutCancel(ctx), states.Request{
		Malformed: why, Session: session.states(), Client: session.client(params{}),
	})
}

// Code is the JSON-RPC error code of the answer; 0 when it is no error.
func (r Reply) Code() int {
	var answer struct {
		Error *struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if len(r.body) > maxErrorBytes || json.Unmarshal(r.body, &answer) != nil || answer.Error == nil {
		return 0
	}
	return answer.Error.Code
}

// maxErrorBytes is above what an error answer of the server's own has.
const maxErrorBytes = 64 << 10
