package httpserver

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
)

// checkModern checks the headers that protocol 2026-07-28 requires. They repeat parts of the body for
// intermediaries and must equal them. modern is false for older protocols, which have no such headers.
func checkModern(r *http.Request, m mcpserver.Message) (modern bool, bad *mcpserver.Refusal) {
	inHeader := r.Header.Get(mcp.HeaderProtocolVersion)
	inBody, isModern := m.Modern()
	if !isModern && !mcp.IsModernProtocol(inHeader) {
		return checkOlder(m, inHeader, inBody)
	}
	switch {
	case m.Fault() != 0 || m.Stray():
		return true, nil
	case r.Header.Get(mcp.HeaderLastEventID) != "":
		return true, mcpserver.HeaderMismatch("streams cannot be resumed: send the request anew, without Last-Event-ID")
	case inHeader == "":
		return true, mcpserver.HeaderMismatch("the header MCP-Protocol-Version is missing")
	case inBody == "" && m.ID == nil: // a notification need not repeat it
	case inBody == "":
		return true, mcpserver.MissingVersion(m)
	case inHeader != inBody:
		return true, mcpserver.HeaderMismatch("MCP-Protocol-Version is not the version in _meta")
	}
	if bad := mcpserver.CheckVersion(inHeader); bad != nil {
		return true, bad
	}
	if err := mcp.ValidateStandardHeaders(r.Header.Get, inHeader, mcp.MCPMethod(m.Method), m.Params); err != nil {
		return true, mcpserver.HeaderMismatch(err.Error())
	}
	return true, nil
}

// checkOlder refuses a version that is none of this server's. A request that names none is of an older version, and
// messages of 2025-03-26 equal those of the next, but for batches.
func checkOlder(m mcpserver.Message, versions ...string) (refused bool, bad *mcpserver.Refusal) {
	for _, v := range versions {
		if v == "" || v == mcp.ProtocolVersion20250326 || m.Fault() != 0 {
			continue
		}
		if bad := mcpserver.CheckVersion(v); bad != nil {
			return true, bad
		}
	}
	return false, nil
}

// checkParamHeaders checks the headers that repeat arguments of a call. A tool's schema marks those
// arguments with x-mcp-header.
func checkParamHeaders(server *mcpserver.Server, r *http.Request, m mcpserver.Message) *mcpserver.Refusal {
	schema := server.InputSchema(m)
	if !bytes.Contains(schema, []byte(`"x-mcp-header"`)) {
		return nil
	}
	lookup := func(name string) (string, bool) {
		values := r.Header.Values(name)
		return strings.Join(values, ", "), len(values) > 0
	}
	if err := mcp.ValidateParamHeadersLookup(lookup, &mcp.Tool{RawInputSchema: schema}, m.Params); err != nil {
		return mcpserver.HeaderMismatch(err.Error())
	}
	return nil
}

// statusOf returns the HTTP status of an answer with a JSON-RPC error. It is 200 for the older protocols,
// in which only the body reports errors.
func statusOf(modern bool, code int) int {
	if !modern {
		return http.StatusOK
	}
	switch code {
	case mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
		mcp.INVALID_REQUEST, mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
