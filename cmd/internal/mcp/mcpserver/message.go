// Package mcpserver implements MCP over any transport: it parses messages, answers them, and runs every
// tools/call through a request machine. The transports (standard streams, HTTP) are thin layers over it.
// The tools prune_text and recover_text (toolset "text") are here too, because their answers depend on the transport.
package mcpserver

import (
	"bytes"
	"encoding/json"
	"maps"
	"sync"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// MaxMessageBytes is the size of the largest message accepted; larger ones are refused.
const MaxMessageBytes = 32 << 20

// Message is one received JSON-RPC message.
type Message struct {
	Method string
	ID     json.RawMessage // in the client's spelling; nil: a notification
	Params json.RawMessage // nil: absent

	// Notify sends a notification line that belongs to this message, if the transport has a separate
	// channel for it. nil: the session's Notify is used.
	Notify func(line []byte)

	lazy   *lazyParams
	fault  int    // a JSON-RPC error code if the message is not a valid request
	reason string // the reason for fault, for the log

	direct string // the method requested, if it stands for a tool
	named  string // the tool's name in the request, if it is an alias
	bare   bool   // with direct: the result is the tool's JSON itself
	alone  bool   // the answer is the tool's text, without a JSON-RPC envelope

	stray           bool // a response
	result, problem json.RawMessage
}

// TakesLong reports whether the answer may take long: the message is a tools/call, may be passed to another server, or
// opens a subscription.
func (m Message) TakesLong() bool {
	return m.fault == 0 && m.ID != nil && (m.Method == "tools/call" || m.Method == methodListen || isFeature(m.Method))
}

// Listens reports whether the message opens a subscription, which lasts until its client or the server ends
// it.
func (m Message) Listens() bool { return m.TakesLong() && m.Method == methodListen }

// Fault returns the JSON-RPC error code for a message that is not a valid request, or 0.
func (m Message) Fault() int { return m.fault }

// Stray reports whether the message is a response: the client's answer to a request of this server, or an
// unsolicited one.
func (m Message) Stray() bool { return m.stray }

// Response returns a response as it stands in a message.
func (m Message) Response() json.RawMessage {
	fields := map[string]json.RawMessage{"jsonrpc": json.RawMessage(`"2.0"`), "id": m.ID, "result": m.result, "error": m.problem}
	maps.DeleteFunc(fields, func(_ string, v json.RawMessage) bool { return v == nil })
	line, _ := json.Marshal(fields) // what was parsed
	return line
}

// Parse parses one message, which keeps parts of the line until its params are decoded. It never fails: an error in the
// line is recorded in the message and becomes its answer.
func Parse(line []byte) Message {
	if !utf8.Valid(line) { // JSON is UTF-8, and repairing an argument would change it
		return Message{fault: codeParseError, reason: "not valid UTF-8"}
	}
	fields, err := jsonspan.Members(line)
	switch {
	case err != nil:
		return Message{fault: codeParseError, reason: "not valid JSON"}
	case fields == nil:
		return Message{fault: codeInvalidRequest, reason: "not a JSON object (batches are not supported)"}
	}
	return fromFields(fields)
}

// TooLong returns the message that stands for a line over MaxMessageBytes.
func TooLong() Message {
	return Message{fault: codeInvalidRequest, reason: "the message is larger than 32 MiB"}
}

func fromFields(fields map[string]json.RawMessage) Message {
	m := Message{ID: bytes.Clone(fields["id"]), Params: fields["params"], lazy: new(lazyParams)}
	method, hasMethod := fields["method"]
	_, hasResult := fields["result"]
	_, hasError := fields["error"]
	switch {
	case m.ID != nil && !isID(m.ID):
		m.ID = nil
		return m.refuse("the id is neither a string nor a number")
	case string(fields["jsonrpc"]) != `"2.0"`:
		return m.refuse(`"jsonrpc" is not "2.0"`)
	case !hasMethod && (hasResult || hasError):
		m.stray, m.result, m.problem = true, fields["result"], fields["error"]
		return m
	case !hasMethod:
		return m.refuse("there is no method")
	case json.Unmarshal(method, &m.Method) != nil || method[0] != '"':
		return m.refuse("the method is not a string")
	}
	return m
}

func (m Message) refuse(reason string) Message {
	m.fault, m.reason = codeInvalidRequest, reason
	return m
}

func isID(raw json.RawMessage) bool {
	return raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
}

// idKey returns the form of an id by which cancellations are matched to requests: the value of a string,
// the spelling of a number.
func idKey(raw json.RawMessage) string {
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return "s" + s
	}
	return "n" + string(raw)
}

// Modern reports whether the message declares protocol version 2026-07-28 or later, and returns that
// version.
func (m Message) Modern() (version string, modern bool) {
	version = m.params().version()
	return version, m.params().modern()
}

// ToolName returns the tool that a tools/call names, or "".
func (m Message) ToolName() string {
	name, _ := m.params().name()
	return name
}

// Cancels reports whether the message is a notifications/cancelled.
func (m Message) Cancels() bool {
	return m.fault == 0 && m.ID == nil && m.Method == "notifications/cancelled"
}

// lazyParams decodes params on first use, so that the goroutine that reads messages does not spend time on
// large ones.
type lazyParams struct {
	once    sync.Once
	decoded params
}

// params decodes the message's params.
func (m Message) params() params {
	if m.lazy == nil {
		return newParams(decode(m.Params))
	}
	m.lazy.once.Do(func() { m.lazy.decoded = newParams(decode(m.Params)) })
	return m.lazy.decoded
}

// asked holds the parts of a request that its answer depends on besides the call itself. It leaves out the
// arguments, which may be large.
type asked struct {
	id      json.RawMessage
	method  string
	client  string
	tool    *string // the name in the request; nil: none
	modern  bool
	direct  string // the method that stands for the tool; "": none
	bare    bool
	alone   bool
	named   string // the alias by which the request names the tool; "": its own name
	offered []tools.Tool
}
