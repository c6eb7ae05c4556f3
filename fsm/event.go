package fsm

import (
	"fmt"
	"slices"
	"strings"
)

// Level is how much an event matters.
type Level string

// The levels of the event log.
const (
	Debug Level = "debug"
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
)

// Facts is what a state's work found out. Each event of a row takes from it the
// fields its schema lists, and so does the metadata.
type Facts map[string]any

// Event is one line of the event log.
type Event struct {
	Name      string
	Level     Level
	RequestID string // "" for events of the process
	Data      Facts
}

// EventSchema says what an event's data holds.
type EventSchema struct {
	Name   string
	Level  Level
	Fields string // separated by spaces; "?" marks a field that may be missing
	// Calm is the value of the field "reason" with which the event is an ordinary
	// end and not a failure: it is then logged at level info.
	Calm string
}

// EventSchemas lists every event there is, in the order of the design.
func EventSchemas() []EventSchema {
	return []EventSchema{
		{Name: "mcp_pruner.disabled", Level: Info, Fields: "reason"},
		{Name: "mcp_pruner.ready", Level: Info, Fields: "host? port? root"},
		{Name: "mcp_pruner.start_failed", Level: Error, Fields: "message"},
		{Name: "mcp_pruner.degraded", Level: Warn, Fields: "reason exit_code? signal?"},
		{Name: "mcp_pruner.stopped", Level: Info, Fields: "graceful duration_ms"},
		{Name: "mcp_pruner.config_invalid", Level: Error, Fields: "message"},
		{Name: "mcp_pruner.spawn_error", Level: Error, Fields: "message"},
		{Name: "mcp_pruner.start_timeout", Level: Error, Fields: "timeout_ms"},
		{Name: "mcp_pruner.exited", Level: Warn, Fields: "exit_code? signal?"},
		{Name: "mcp_pruner.unreachable", Level: Warn, Fields: "failures message"},
		{Name: "mcp_pruner.kill_escalated", Level: Warn, Fields: "timeout_ms"},
		{Name: "mcp_pruner.not_running", Level: Info, Fields: ""},
		{Name: "mcp_pruner.shutdown_after_degraded", Level: Info, Fields: ""},
		{Name: "mcp_pruner.log_dropped", Level: Warn, Fields: "lines"},
		{Name: "mcp_pruner.trace_failed", Level: Warn, Fields: "message"},
		{Name: "mcp_pruner.setting_unknown", Level: Warn, Fields: "name intended?"},
		{Name: "tool.request_received", Level: Debug, Fields: "tool?"},
		{Name: "tool.request_parse_failed", Level: Warn, Fields: "message"},
		{Name: "tool.request_invalid", Level: Warn, Fields: "tool? message validation_errors"},
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
		{Name: "tool.respond_ok", Level: Info, Fields: "tool mode"},
		{Name: "tool.respond_failed", Level: Error, Fields: "tool message"},
		{Name: "tool.internal_error", Level: Error, Fields: "tool? reason message? stack?", Calm: "cancelled"},
	}
}

// eventSpec is a schema ready to be used.
type eventSpec struct {
	EventSchema
	fields   []string
	optional []bool
}

// eventSpecs is every schema by event name.
var eventSpecs = func() map[string]eventSpec {
	specs := make(map[string]eventSpec)
	for _, s := range EventSchemas() {
		spec := eventSpec{EventSchema: s}
		for _, f := range strings.Fields(s.Fields) {
			name, optional := strings.CutSuffix(f, "?")
			spec.fields = append(spec.fields, name)
			spec.optional = append(spec.optional, optional)
		}
		specs[s.Name] = spec
	}
	return specs
}()

// NewEvent makes the named event with the fields its schema lists taken from
// facts. It is how events outside any machine (the process starts, stops) are made.
func NewEvent(name, requestID string, facts Facts) Event {
	return eventSpecs[name].event(requestID, facts)
}

func (s eventSpec) event(requestID string, facts Facts) Event {
	e := Event{Name: s.Name, Level: s.Level, RequestID: requestID, Data: make(Facts, len(s.fields))}
	for _, f := range s.fields {
		if v, ok := facts[f]; ok {
			e.Data[f] = v
		}
	}
	if s.Calm != "" && facts["reason"] == s.Calm {
		e.Level = Info
	}
	return e
}

// Check reports what an event's data lacks or has too much by its schema.
func (e Event) Check() error {
	spec, ok := eventSpecs[e.Name]
	if !ok {
		return fmt.Errorf("event %q is in no schema", e.Name)
	}
	for i, f := range spec.fields {
		if _, ok := e.Data[f]; !ok && !spec.optional[i] {
			return fmt.Errorf("event %s lacks the field %q", e.Name, f)
		}
	}
	for f := range e.Data {
		if !slices.Contains(spec.fields, f) {
			return fmt.Errorf("event %s has a field %q that its schema does not list", e.Name, f)
		}
	}
	return nil
}
