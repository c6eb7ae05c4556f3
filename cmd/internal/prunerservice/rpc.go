package prunerservice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"mcp-pruner/cmd/internal/mcpserver"
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

// answerRPC answers one message. The zero answer means that none is due: the
// message was a notification or a stray response. The error is ctx's.
func (s *server) answerRPC(ctx context.Context, body []byte) (answer, error) {
	var m mcpserver.Message
	var params map[string]any
	var badParams error
	s.reading.do(ctx, len(body), func() { m, params, badParams = read(body) })
	method, known := s.methods[m.Method]
	switch {
	case m.Fault() != 0:
		return answerOf(m.ID, nil, standard(m.Fault())), nil
	case m.Stray() || m.ID == nil:
		return answer{}, nil
	case !known:
		return answerOf(m.ID, nil, standard(codeMethodNotFound)), nil
	case badParams != nil:
		issues := []service.Issue{{Path: "", Code: "invalid_type"}}
		return answerOf(m.ID, nil, invalidParams(m.Method, "", issues)), nil
	}
	result, err := s.call(ctx, m.Method, method, params)
	if err != nil && ctx.Err() != nil {
		return answer{}, ctx.Err()
	}
	var failed *rpcError
	if err != nil && !errors.As(err, &failed) {
		failed = standard(codeInternalError)
	}
	return answerOf(m.ID, result, failed), nil
}

// method runs one JSON-RPC method. Errors that are no *rpcError are internal ones.
type method func(ctx context.Context, params map[string]any) (any, error)

func (s *server) allMethods() map[string]method {
	always := func(result any) method {
		return func(context.Context, map[string]any) (any, error) { return result, nil }
	}
	direct := func(tool string) method { // as older clients call them
		return func(ctx context.Context, params map[string]any) (any, error) {
			return s.tool(ctx, tool, tool, "", params)
		}
	}
	return map[string]method{
		"initialize":                s.initialize,
		"ping":                      always(struct{}{}),
		"notifications/initialized": always(struct{}{}),
		"tools/list":                s.toolsList,
		"resources/list":            always(map[string]any{"resources": []any{}}),
		"resources/templates/list":  always(map[string]any{"resourceTemplates": []any{}}),
		"prompts/list":              always(map[string]any{"prompts": []any{}}),
		"tools/call":                s.toolsCall,
		"health":                    s.health,
		"prune_text":                direct("prune_text"),
		"recover_text":              direct("recover_text"),
		"recover_range":             direct("recover_range"),
	}
}

// call runs a method. Of a panic nothing is told: its value may quote a text.
func (s *server) call(ctx context.Context, name string, run method, params map[string]any) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log("pruner_service.panic", map[string]any{"method": name, "kind": fmt.Sprintf("%T", p)})
			result, err = nil, standard(codeInternalError)
		}
	}()
	return run(ctx, params)
}

func (s *server) initialize(_ context.Context, params map[string]any) (any, error) {
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

// toolsList lists the tools. There is one page, so no cursor of ours exists for a
// client to send.
func (s *server) toolsList(_ context.Context, params map[string]any) (any, error) {
	if cursor, given := params["cursor"]; given {
		code := "invalid_type"
		if _, ok := cursor.(string); ok {
			code = "custom"
		}
		return nil, invalidParams("tools/list", "", []service.Issue{{Path: "cursor", Code: code}})
	}
	return map[string]any{"tools": service.Tools()}, nil
}

// health is the method of that name; its answer is not wrapped as the tool's is.
func (s *server) health(_ context.Context, params map[string]any) (any, error) {
	if issues := service.ParseHealth(params); len(issues) > 0 {
		return nil, invalidParams("health", "health", issues)
	}
	return s.service.Health(), nil
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
	var issues []service.Issue
	var run func() (any, error)
	switch name {
	case "health":
		issues = service.ParseHealth(args)
		run = func() (any, error) { return toolResult{answer: s.service.Health()}, nil }
	case "prune_text":
		var a service.PruneArgs
		a, issues = service.ParsePrune(args)
		run = func() (any, error) { return s.prune(ctx, a) }
	case "recover_text", "recover_range":
		var a service.RecoverArgs
		a, issues = service.ParseRecover(args)
		run = func() (any, error) { return s.recover(ctx, a) }
	default:
		return nil, invalidParams(method, name, []service.Issue{{Path: "name", Code: "invalid_enum_value"}})
	}
	if len(issues) > 0 {
		return nil, invalidParams(method, name, below(at, issues))
	}
	return run()
}

func (s *server) prune(ctx context.Context, a service.PruneArgs) (any, error) {
	res, err := s.service.PruneText(ctx, a)
	if err != nil {
		return nil, err
	}
	text := res.PrunedText
	res.PrunedText = ""
	return toolResult{answer: res, field: "pruned_text", text: text}, nil
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

// readRequest reads a flawless request with an object for params. What is not UTF-8
// in those becomes U+FFFD; an id, which is sent back as it came, must be.
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
		len(m.ID) > 0 && utf8.Valid(m.ID) && (m.ID[0] == '"' || m.ID[0] >= '0' && m.ID[0] <= '9')
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
