// Package event is the event log: the schema of every event, and the writers of JSON
// and text lines.
package event

import (
	"fmt"
	"slices"
	"strings"
)

// Level is the severity of an event.
type Level string

// The levels of the event log.
const (
	Debug Level = "debug"
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
)

// Facts are the data that the work of a state produced. Each event of a row, and the
// metadata, take from them the fields that their schema lists.
type Facts map[string]any

// Event is one line of the event log.
type Event struct {
	Name      string
	Level     Level
	RequestID string // "" for events of the process itself
	RunID     string // id of the run that the process belongs to; "" if there is none
	Data      Facts
}

// Schema describes the data of an event.
type Schema struct {
	Name   string
	Level  Level
	Fields string // separated by spaces; "?" marks an optional field
	// Calm is the value of the field "reason" for which the event is an ordinary end rather
	// than a failure. The event is then logged at level info.
	Calm string
}

// Schemas returns the schema of every event, in the order of the design.
func Schemas() []Schema {
	return []Schema{
		{Name: "mcp_pruner.disabled", Level: Info, Fields: "reason"},
		{Name: "mcp_pruner.ready", Level: Info, Fields: "host? port? root? url?"},
		{Name: "mcp_pruner.start_failed", Level: Error, Fields: "message"},
		{Name: "mcp_pruner.degraded", Level: Warn, Fields: "reason exit_code? signal?"},
		{Name: "mcp_pruner.metrics_ready", Level: Info, Fields: "url"},
		{Name: "mcp_pruner.stopped", Level: Info, Fields: "graceful duration_ms"},
		{Name: "mcp_pruner.config_invalid", Level: Error, Fields: "message"},
		{Name: "mcp_pruner.spawn_error", Level: Error, Fields: "message"},
		{Name: "proxy.ready", Level: Info, Fields: "url url_file?"},
		{Name: "proxy.noted", Level: Info, Fields: "api file"},
		{Name: "proxy.cleared", Level: Info, Fields: "api session results message"},
		{Name: "proxy.left_alone", Level: Warn, Fields: "api session message"},
		{Name: "proxy.passed_through", Level: Warn, Fields: "api reason message?"},
		{Name: "proxy.refused", Level: Warn, Fields: "reason message"},
		{Name: "proxy.upstream_failed", Level: Warn, Fields: "message"},
		{Name: "ledger.failed", Level: Error, Fields: "message"},
		{Name: "ledger.restored", Level: Info, Fields: "message"},
		{Name: "mcp_pruner.start_timeout", Level: Error, Fields: "timeout_ms"},
		{Name: "mcp_pruner.exited", Level: Warn, Fields: "exit_code? signal?"},
		{Name: "mcp_pruner.unreachable", Level: Warn, Fields: "failures message"},
		{Name: "mcp_pruner.kill_escalated", Level: Warn, Fields: "timeout_ms"},
		{Name: "mcp_pruner.not_running", Level: Info, Fields: ""},
		{Name: "mcp_pruner.shutdown_after_degraded", Level: Info, Fields: ""},
		{Name: "mcp_pruner.log_dropped", Level: Warn, Fields: "lines"},
		{Name: "mcp_pruner.trace_failed", Level: Warn, Fields: "message"},
		{Name: "gateway.upstream_ready", Level: Info, Fields: "upstream duration_ms"},
		{Name: "gateway.upstream_failed", Level: Warn, Fields: "upstream duration_ms message"},
		{Name: "gateway.upstream_lost", Level: Warn, Fields: "upstream"},
		{Name: "gateway.upstream_stderr", Level: Debug, Fields: "upstream message"},
		{Name: "gateway.upstream_tool_skipped", Level: Warn, Fields: "upstream message"},
		{Name: "mcp_pruner.trace_head", Level: Info, Fields: "writer seq link key final"},
		{Name: "mcp_pruner.trace_removed", Level: Info, Fields: "file"},
		{Name: "mcp_pruner.setting_unknown", Level: Warn, Fields: "name intended?"},
		{Name: "mcp_pruner.accept_failed", Level: Warn, Fields: "message"},
		{Name: "mcp_pruner.warning", Level: Warn, Fields: "message"},
		{Name: "tool.request_received", Level: Debug, Fields: "tool? traceparent? subject? forwarded_user?"},
		{Name: "tool.request_parse_failed", Level: Warn, Fields: "message"},
		{Name: "tool.request_invalid", Level: Warn, Fields: "tool? message validation_errors field_errors?"},
		{Name: "tool.exec_start", Level: Debug, Fields: "tool"},
		{Name: "tool.exec_failed", Level: Warn, Fields: "tool code message exit_code? duration_ms"},
		{Name: "tool.exec_timeout", Level: Warn, Fields: "tool timeout_ms"},
		{Name: "tool.exec_ok", Level: Info, Fields: "tool duration_ms bytes"},
		{Name: "pruner.call_start", Level: Debug, Fields: "endpoint tool input_bytes"},
		{Name: "pruner.call_ok", Level: Info, Fields: "tool pruner_duration_ms pruned_bytes"},
		{Name: "pruner.timeout", Level: Warn, Fields: "tool pruner_duration_ms"},
		{Name: "pruner.http_error", Level: Warn, Fields: "tool message"},
		{Name: "pruner.invalid_response", Level: Warn, Fields: "tool message"},
		{Name: "pruner.call_failed", Level: Warn, Fields: "tool reason pruner_duration_ms? message?"},
		{Name: "tool.respond_ok", Level: Info, Fields: "tool mode raw_reason?"},
		{Name: "tool.respond_failed", Level: Error, Fields: "tool message"},
		{Name: "tool.internal_error", Level: Error, Fields: "tool? reason message? stack?", Calm: "cancelled"},
	}
}

// known maps event names to their compiled schemas.
var known = func() map[string]*Compiled {
	all := make(map[string]*Compiled)
	for _, s := range Schemas() {
		c := &Compiled{Schema: s}
		for _, f := range strings.Fields(s.Fields) {
			name, optional := strings.CutSuffix(f, "?")
			c.Names, c.Optional = append(c.Names, name), append(c.Optional, optional)
		}
		all[s.Name] = c
	}
	return all
}()

// Compiled is a schema with its fields split, ready to make events.
type Compiled struct {
	Schema
	Names    []string // field names
	Optional []bool   // Optional[i]: Names[i] may be missing
}

// Lookup returns the schema of an event, or nil if there is none.
func Lookup(name string) *Compiled { return known[name] }

// New makes the named event and takes the fields of its schema from facts. It is for events
// outside any machine, such as the start and stop of the process. An unknown name is a bug
// and panics.
func New(name, requestID string, facts Facts) Event {
	return known[name].Event(requestID, facts)
}

// Event makes an event and takes the fields of the schema from facts.
func (c *Compiled) Event(requestID string, facts Facts) Event {
	e := Event{Name: c.Name, Level: c.Level, RequestID: requestID, Data: make(Facts, len(c.Names))}
	for _, f := range c.Names {
		if v, ok := facts[f]; ok {
			e.Data[f] = v
		}
	}
	if c.Calm != "" && facts["reason"] == c.Calm {
		e.Level = Info
	}
	return e
}

// Check reports required fields that the event lacks, and fields that its schema does not
// list.
func (e Event) Check() error {
	c := known[e.Name]
	if c == nil {
		return fmt.Errorf("event %q is in no schema", e.Name)
	}
	for i, f := range c.Names {
		if _, ok := e.Data[f]; !ok && !c.Optional[i] {
			return fmt.Errorf("event %s lacks the field %q", e.Name, f)
		}
	}
	for f := range e.Data {
		if !slices.Contains(c.Names, f) {
			return fmt.Errorf("event %s has a field %q that its schema does not list", e.Name, f)
		}
	}
	return nil
}
