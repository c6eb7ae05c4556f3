package mcpserver

import (
	"fmt"
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

// Unread returns the refusal of an answer that has no room beside others that its client has not read.
func Unread(bytes int) *Refusal {
	return &Refusal{code: codeInternalError, message: fmt.Sprintf("the answer, of %d bytes, was dropped: other large answers have not been read yet", bytes)}
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
