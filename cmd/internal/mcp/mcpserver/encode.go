package mcpserver

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// JSON-RPC error codes.
const (
	codeParseError     = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternalError  = -32603

	codeHeaderMismatch     = -32020
	codeUnsupportedVersion = -32022
)

// schemaVersion is the version of this server's additions to MCP's messages.
type schemaVersion struct {
	SchemaVersion int `json:"schemaVersion"`
}

var jeeves = schemaVersion{1}

// rpcError is the error object of a response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// invalidParams is the data of a -32602 error.
type invalidParams struct {
	Jeeves schemaVersion  `json:"jeeves"`
	Method string         `json:"method"`
	Tool   *string        `json:"tool,omitempty"` // set when the request names a tool, even ""
	Issues []states.Issue `json:"issues"`

	FieldErrors []states.FieldError `json:"field_errors,omitempty"` // HTTP only
}

// unsupportedVersion is the data of a -32022 error.
type unsupportedVersion struct {
	Supported []string `json:"supported"`
	Requested string   `json:"requested"`
}

var messages = map[int]string{
	codeParseError:     "Parse error",
	codeInvalidRequest: "Invalid Request",
	codeMethodNotFound: "Method not found",
	codeInvalidParams:  "Invalid params",
	codeInternalError:  "Internal error",

	codeHeaderMismatch:     "Header mismatch",
	codeUnsupportedVersion: "Unsupported protocol version",
}

// encodeResult returns a response line, including the newline. It copies the id byte for byte and escapes
// nothing for HTML.
func encodeResult(id json.RawMessage, result any) ([]byte, error) {
	return encode(id, "result", result)
}

// encodeError returns an error line with the standard message for the code.
func encodeError(id json.RawMessage, code int, data any) []byte {
	message, known := messages[code]
	if !known {
		message = "Server error"
	}
	line, err := encode(id, "error", rpcError{code, message, data})
	if err != nil { // an error object always marshals, since this package made its data
		panic(err)
	}
	return line
}

func encode(id json.RawMessage, key string, value any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0","id":`)
	if id == nil {
		b.WriteString("null")
	} else {
		b.Write(id)
	}
	b.WriteString(`,"` + key + `":`)
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	b.Truncate(b.Len() - 1) // remove the encoder's newline, because the message goes on
	b.WriteString("}\n")
	return b.Bytes(), nil
}

// plain encodes strings and values decoded from JSON, without escaping for HTML.
func plain(v any) json.RawMessage {
	text, _ := jsonspan.Marshal(v)
	return text
}

// message encodes a JSON-RPC message of the server's own as a line.
func message(fields map[string]any) []byte {
	fields["jsonrpc"] = "2.0"
	return append(plain(fields), '\n')
}
