package fsm

import (
	"fmt"
	"slices"
	"strings"
)

// Level is the severity of an event.
type Level string

const (
	LevelDebug Level = "debug"
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
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

// EventSchema describes the data of an event.
type EventSchema struct {
	Name   string
	Level  Level
	Fields string // separated by spaces; "?" marks an optional field
	// Calm is the value of the field "reason" for which the event is an ordinary end rather
	// than a failure. The event is then logged at level info.
	Calm string
}

// EventSchemas returns the schema of every event, in the order of the design.
func EventSchemas() []EventSchema {
	return []EventSchema{
		{Name: "mcp_pruner.disabled", Level: LevelInfo, Fields: "reason"},
		{Name: "mcp_pruner.ready", Level: LevelInfo, Fields: "host? port? root? url?"},
		{Name: "mcp_pruner.start_failed", Level: LevelError, Fields: "message"},
		{Name: "mcp_pruner.degraded", Level: LevelWarn, Fields: "reason exit_code? signal?"},
		{Name: "mcp_pruner.metrics_ready", Level: LevelInfo, Fields: "url"},
		{Name: "mcp_pruner.stopped", Level: LevelInfo, Fields: "graceful duration_ms"},
		{Name: "mcp_pruner.config_invalid", Level: LevelError, Fields: "message"},
		{Name: "mcp_pruner.spawn_error", Level: LevelError, Fields: "message"},
		{Name: "proxy.ready", Level: LevelInfo, Fields: "url url_file?"},
		{Name: "proxy.noted", Level: LevelInfo, Fields: "api file"},
		{Name: "proxy.cleared", Level: LevelInfo, Fields: "api session results message"},
		{Name: "proxy.left_alone", Level: LevelWarn, Fields: "api session message"},
		{Name: "proxy.unmarked", Level: LevelInfo, Fields: "session message"},
		{Name: "proxy.passed_through", Level: LevelWarn, Fields: "api reason message?"},
		{Name: "proxy.refused", Level: LevelWarn, Fields: "reason message"},
		{Name: "proxy.upstream_failed", Level: LevelWarn, Fields: "message"},
		{Name: "ledger.failed", Level: LevelError, Fields: "message"},
		{Name: "ledger.restored", Level: LevelInfo, Fields: "message"},
		{Name: "mcp_pruner.start_timeout", Level: LevelError, Fields: "timeout_ms"},
		{Name: "mcp_pruner.exited", Level: LevelWarn, Fields: "exit_code? signal?"},
		{Name: "mcp_pruner.unreachable", Level: LevelWarn, Fields: "failures message"},
		{Name: "mcp_pruner.kill_escalated", Level: LevelWarn, Fields: "timeout_ms"},
		{Name: "mcp_pruner.not_running", Level: LevelInfo, Fields: ""},
		{Name: "mcp_pruner.shutdown_after_degraded", Level: LevelInfo, Fields: ""},
		{Name: "mcp_pruner.log_dropped", Level: LevelWarn, Fields: "lines"},
		{Name: "mcp_pruner.trace_failed", Level: LevelWarn, Fields: "message"},
		{Name: "gateway.upstream_ready", Level: LevelInfo, Fields: "upstream duration_ms"},
		{Name: "gateway.upstream_failed", Level: LevelWarn, Fields: "upstream duration_ms message"},
		{Name: "gateway.upstream_lost", Level: LevelWarn, Fields: "upstream"},
		{Name: "gateway.upstream_stderr", Level: LevelDebug, Fields: "upstream message"},
		{Name: "gateway.upstream_tool_skipped", Level: LevelWarn, Fields: "upstream message"},
		{Name: "mcp_pruner.trace_head", Level: LevelInfo, Fields: "writer seq link key final"},
		{Name: "mcp_pruner.trace_removed", Level: LevelInfo, Fields: "file"},
		{Name: "mcp_pruner.setting_unknown", Level: LevelWarn, Fields: "name intended?"},
		{Name: "mcp_pruner.accept_failed", Level: LevelWarn, Fields: "message"},
		{Name: "mcp_pruner.warning", Level: LevelWarn, Fields: "message"},
		{Name: "tool.request_received", Level: LevelDebug, Fields: "tool? traceparent? subject? forwarded_user?"},
		{Name: "tool.request_parse_failed", Level: LevelWarn, Fields: "message"},
		{Name: "tool.request_invalid", Level: LevelWarn, Fields: "tool? message validation_errors field_errors?"},
		{Name: "tool.exec_start", Level: LevelDebug, Fields: "tool"},
		{Name: "tool.exec_failed", Level: LevelWarn, Fields: "tool code message exit_code? duration_ms"},
		{Name: "tool.exec_timeout", Level: LevelWarn, Fields: "tool timeout_ms"},
		{Name: "tool.exec_ok", Level: LevelInfo, Fields: "tool duration_ms bytes"},
		{Name: "pruner.call_start", Level: LevelDebug, Fields: "endpoint tool input_bytes"},
		{Name: "pruner.call_ok", Level: LevelInfo, Fields: "tool pruner_duration_ms pruned_bytes"},
		{Name: "pruner.timeout", Level: LevelWarn, Fields: "tool pruner_duration_ms"},
		{Name: "pruner.http_error", Level: LevelWarn, Fields: "tool message"},
		{Name: "pruner.invalid_response", Level: LevelWarn, Fields: "tool message"},
		{Name: "pruner.call_failed", Level: LevelWarn, Fields: "tool reason pruner_duration_ms? message?"},
		{Name: "tool.respond_ok", Level: LevelInfo, Fields: "tool mode raw_reason?"},
		{Name: "tool.respond_failed", Level: LevelError, Fields: "tool message"},
		{Name: "tool.internal_error", Level: LevelError, Fields: "tool? reason message? stack?", Calm: "cancelled"},
	}
}

// compiledSchemas maps event names to their compiled schemas.
var compiledSchemas = func() map[string]*CompiledSchema {
	all := make(map[string]*CompiledSchema)
	for _, s := range EventSchemas() {
		c := &CompiledSchema{EventSchema: s}
		for _, f := range strings.Fields(s.Fields) {
			name, optional := strings.CutSuffix(f, "?")
			c.Names, c.Optional = append(c.Names, name), append(c.Optional, optional)
		}
		all[s.Name] = c
	}
	return all
}()

// CompiledSchema is a schema with its fields split, ready to make events.
type CompiledSchema struct {
	EventSchema
	Names    []string // field names
	Optional []bool   // Optional[i]: Names[i] may be missing
}

// LookupEvent returns the schema of an event, or nil if there is none.
func LookupEvent(name string) *CompiledSchema { return compiledSchemas[name] }

// NewEvent makes the named event and takes the fields of its schema from facts. It is for events
// outside any machine, such as the start and stop of the process. An unknown name is a bug
// and panics.
func NewEvent(name, requestID string, facts Facts) Event {
	return compiledSchemas[name].Event(requestID, facts)
}

// Event makes an event and takes the fields of the schema from facts.
func (c *CompiledSchema) Event(requestID string, facts Facts) Event {
	e := Event{Name: c.Name, Level: c.Level, RequestID: requestID, Data: make(Facts, len(c.Names))}
	for _, f := range c.Names {
		if v, ok := facts[f]; ok {
			e.Data[f] = v
		}
	}
	if c.Calm != "" && facts["reason"] == c.Calm {
		e.Level = LevelInfo
	}
	return e
}

// Check reports required fields that the event lacks, and fields that its schema does not
// list.
func (e Event) Check() error {
	c := compiledSchemas[e.Name]
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
