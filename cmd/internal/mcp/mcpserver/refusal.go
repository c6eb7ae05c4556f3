package mcpserver

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/states"
)

// Refusal is the reason for which a transport answers a message with an error of its own.
type Refusal struct {
	code    int
	message string
	data    any
}

// HeaderMismatch returns the refusal of a message whose headers contradict its body.
func HeaderMismatch(message string) *Refusal {
	return &Refusal{code: codeHeaderMismatch, message: message}
}

// MissingVersion returns the refusal of a message that lacks the protocol version given in its headers.
func MissingVersion(m Message) *Refusal {
	return badMeta(m, states.NewIssue("_meta."+protocolVersionKey, "invalid_type"))
}

func badMeta(m Message, issues ...states.Issue) *Refusal {
	return &Refusal{codeInvalidParams, messages[codeInvalidParams], invalidParams{Jeeves: jeeves, Method: m.Method, Issues: issues}}
}

// checkCall returns a refusal if a tools/call names an unsupported protocol version or lacks what its version requires
// in _meta, else nil.
func checkCall(m Message, p params) *Refusal {
	if p.modern() {
		if bad := CheckVersion(p.version()); bad != nil {
			return bad
		}
		if issues := checkMeta(p); len(issues) > 0 {
			return badMeta(m, issues...)
		}
	}
	return nil
}

// CheckVersion returns a refusal if a protocol version is not supported, else nil.
func CheckVersion(version string) *Refusal {
	if slices.Contains(Versions, version) {
		return nil
	}
	return &Refusal{codeUnsupportedVersion, messages[codeUnsupportedVersion], unsupportedVersion{Versions, version}}
}

// Refuse answers a message with a refusal. The request runs through a machine like any other.
func (s *Server) Refuse(ctx context.Context, session *Session, m Message, why *Refusal) Reply {
	call := s.run(ctx, session, why.message)
	body, err := encode(m.ID, "error", rpcError{why.code, why.message, why.data})
	return Reply{body: body, call: call, err: err}
}

// Refused runs a machine for a request that never became a message because the transport turned it down.
// The log and the trace then have an entry for it.
func (s *Server) Refused(ctx context.Context, why string) {
	s.run(ctx, Alone(), why).Answering(0)
}

// run runs a refused request through its machine.
func (s *Server) run(ctx context.Context, session *Session, why string) *states.Execution {
	return s.config.Pipeline.Run(context.WithoutCancel(ctx), states.Request{
		Malformed: why, Session: session.states(), Client: session.client(params{}),
	})
}

// Code returns the JSON-RPC error code of the answer, or 0 if it is not an error.
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

// maxErrorBytes exceeds the size of every error that the server itself creates.
const maxErrorBytes = 64 << 10
