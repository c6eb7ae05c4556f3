package prunerservice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"mcp-pruner/cmd/internal/mcpserver"
	"mcp-pruner/pruneclient/recovery"
	"mcp-pruner/pruneclient/service"
)

// rpcError is the error member of a JSON-RPC answer.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

// JSON-RPC's codes, and the document's two.
const (
	codeParseError     = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternalError  = -32603
	codeIDNotFound     = -32004
	codeBadRange       = -32005
)

// standard is an error that is nothing but its code.
func standard(code int) *rpcError {
	messages := map[int]string{
		codeParseError:     "Parse error",
		codeInvalidRequest: "Invalid Request",
		codeMethodNotFound: "Method not found",
		codeInternalError:  "Internal error",
	}
	return &rpcError{Code: code, Message: messages[code]}
}

// answerRPC answers one message. A nil answer means that none is due: the message
// was a notification or a stray response. The error is ctx's.
func (s *server) answerRPC(ctx context.Context, body []byte) (answer []byte, err error) {
	var m mcpserver.Message
	var params map[string]any
	var badParams error
	s.reading.do(ctx, len(body), func() { m, params, badParams = read(body) })
	switch {
	case m.Fault() != 0:
		return encodeRPC(m.ID, nil, standard(m.Fault())), nil
	case m.Stray() || m.ID == nil:
		return nil, nil
	case badParams != nil:
		issues := []service.Issue{{Path: "", Code: "invalid_type"}}
		return encodeRPC(m.ID, nil, invalidParams(m.Method, "", issues)), nil
	}
	result, err := s.call(ctx, m.Method, params)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var failed *rpcError
	if err != nil && !errors.As(err, &failed) {
		failed = standard(codeInternalError)
	}
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.writing.do(soon, len(body), func() { answer = encodeRPC(m.ID, result, failed) })
	return answer, nil
}

// call runs one method. Errors that are no *rpcError are internal ones; so is a
// panic, of which nothing is told: its value may quote a text.
func (s *server) call(ctx context.Context, method string, params map[string]any) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log("pruner_service.panic", map[string]any{"method": method, "kind": fmt.Sprintf("%T", p)})
			result, err = nil, standard(codeInternalError)
		}
	}()
	switch method {
	case "initialize":
		return s.initialize(params)
	case "ping", "notifications/initialized":
		return struct{}{}, nil
	case "tools/list":
		return map[string]any{"tools": service.Tools()}, nil
	case "resources/list":
		return map[string]any{"resources": []any{}}, nil
	case "resources/templates/list":
		return map[string]any{"resourceTemplates": []any{}}, nil
	case "prompts/list":
		return map[string]any{"prompts": []any{}}, nil
	case "tools/call":
		return s.toolsCall(ctx, params)
	case "health":
		return s.service.Health(), nil
	case "prune_text", "recover_text", "recover_range": // called directly, as older clients do
		return s.tool(ctx, method, method, "", params)
	}
	return nil, standard(codeMethodNotFound)
}

func (s *server) initialize(params map[string]any) (any, error) {
	wanted, given := params["protocolVersion"]
	version, ok := wanted.(string)
	if given && !ok {
		return nil, invalidParams("initialize", "", []service.Issue{{Path: "protocolVersion", Code: "invalid_type"}})
	}
	return map[string]any{
		"protocolVersion": mcp.NegotiateLegacyVersion(version),
		"capabilities":    map[string]any{"tools": map[string]any{"listChanged": false}},
		"serverInfo":      map[string]any{"name": "mcp-pruner", "version": s.version},
	}, nil
}

func (s *server) toolsCall(ctx context.Context, params map[string]any) (any, error) {
	value, given := params["name"]
	name, ok := value.(string)
	if !given || !ok {
		return nil, invalidParams("tools/call", "", []service.Issue{{Path: "name", Code: "invalid_type"}})
	}
	args := map[string]any{}
	if value, given := params["arguments"]; given {
		if args, ok = value.(map[string]any); !ok {
			return nil, invalidParams("tools/call", name, []service.Issue{{Path: "arguments", Code: "invalid_type"}})
		}
	}
	return s.tool(ctx, "tools/call", name, "arguments", args)
}

// tool runs a tool by its name or alias. at is where in params its arguments are.
func (s *server) tool(ctx context.Context, method, name, at string, args map[string]any) (any, error) {
	switch name {
	case "health":
		return toolResult{s.service.Health()}, nil
	case "prune_text":
		a, issues := service.ParsePrune(args)
		if len(issues) > 0 {
			return nil, invalidParams(method, name, below(at, issues))
		}
		res, err := s.service.PruneText(ctx, a)
		if err != nil {
			return nil, err
		}
		return toolResult{res}, nil
	case "recover_text", "recover_range":
		a, issues := service.ParseRecover(args)
		if len(issues) > 0 {
			return nil, invalidParams(method, name, below(at, issues))
		}
		res, err := s.service.RecoverText(a, 0)
		if err != nil {
			return nil, recoverError(err)
		}
		return toolResult{res}, nil
	}
	return nil, invalidParams(method, name, []service.Issue{{Path: "name", Code: "invalid_enum_value"}})
}

// toolResult wraps a tool's answer as the document's servers do: JSON in a text.
type toolResult struct{ answer any }

// render writes the wrapping by hand: left to encoding/json, a large answer would
// be gone through five times instead of two.
func (r toolResult) render() (json.RawMessage, error) {
	answer, err := encode(r.answer)
	if err != nil {
		return nil, err
	}
	text, err := encode(string(answer))
	if err != nil {
		return nil, err
	}
	const head, tail = `{"content":[{"type":"text","text":`, `}],"isError":false}`
	return slices.Concat([]byte(head), text, []byte(tail)), nil
}

func recoverError(err error) error {
	var missing *recovery.NotFound
	var bad *recovery.BadRange
	switch {
	case errors.As(err, &missing):
		return &rpcError{codeIDNotFound, "prune_id_not_found", map[string]any{"code": "prune_id_not_found", "prune_id": missing.ID}}
	case errors.As(err, &bad):
		data := map[string]any{"code": "invalid_range", "range": bad.Range}
		if bad.MaxLine != nil {
			data["max_line"] = *bad.MaxLine
		}
		return &rpcError{codeBadRange, "invalid_range", data}
	}
	return &rpcError{codeInternalError, "Internal error", map[string]any{"code": service.RecoveryUnavailable}}
}

// invalidParams is the -32602 of the whole product.
func invalidParams(method, tool string, issues []service.Issue) *rpcError {
	type issue struct {
		Path    string `json:"path"`
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	list := make([]issue, len(issues))
	for i, is := range issues {
		list[i] = issue{is.Path, is.Code, is.Code}
	}
	data := map[string]any{"jeeves": map[string]any{"schemaVersion": 1}, "method": method, "issues": list}
	if tool != "" {
		data["tool"] = tool
	}
	return &rpcError{Code: codeInvalidParams, Message: "Invalid params", Data: data}
}

func below(at string, issues []service.Issue) []service.Issue {
	if at == "" {
		return issues
	}
	moved := make([]service.Issue, len(issues))
	for i, is := range issues {
		moved[i] = service.Issue{Path: at, Code: is.Code}
		if is.Path != "" {
			moved[i].Path = at + "." + is.Path
		}
	}
	return moved
}

// read takes a message apart. The usual request is gone through once; whatever is
// unusual about a message makes it go through the product's common parser, which
// knows what it is to be answered with.
func read(body []byte) (m mcpserver.Message, params map[string]any, badParams error) {
	if m, params, ok := readRequest(body); ok {
		return m, params, nil
	}
	m = mcpserver.Parse(body)
	params, badParams = decodeParams(m.Params)
	return m, params, badParams
}

// readRequest reads a flawless request with an object for params.
func readRequest(body []byte) (m mcpserver.Message, params map[string]any, ok bool) {
	var version string
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return m, nil, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return m, nil, false
		}
		switch key {
		case "jsonrpc":
			err = dec.Decode(&version)
		case "method":
			err = dec.Decode(&m.Method)
		case "id":
			err = dec.Decode(&m.ID)
		case "params":
			params = nil // of two the last one counts; they are not merged
			err = dec.Decode(&params)
		default:
			return m, nil, false
		}
		if err != nil {
			return m, nil, false
		}
	}
	_, closed := dec.Token()
	_, end := dec.Token()
	ok = closed == nil && errors.Is(end, io.EOF) && version == "2.0" && m.Method != "" && params != nil &&
		len(m.ID) > 0 && (m.ID[0] == '"' || m.ID[0] >= '0' && m.ID[0] <= '9')
	return m, params, ok
}

// decodeParams reads params, absent ones as empty. Numbers stay as spelled.
func decodeParams(raw json.RawMessage) (map[string]any, error) {
	if raw == nil {
		return map[string]any{}, nil
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	params, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("params is not an object")
	}
	return params, nil
}

// encodeRPC renders an answer; one that cannot be rendered is an internal error.
func encodeRPC(id json.RawMessage, result any, failed *rpcError) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	member, body, err := "result", json.RawMessage(nil), error(nil)
	if tool, ok := result.(toolResult); ok {
		body, err = tool.render()
	} else if failed == nil {
		body, err = encode(result)
	}
	if err != nil {
		failed = standard(codeInternalError)
	}
	if failed != nil {
		member = "error"
		if body, err = encode(failed); err != nil {
			body, _ = encode(standard(codeInternalError))
		}
	}
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"`+member+`":`), body, []byte("}"))
}

func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
