package fsm

// States of a request.
const (
	Received            State = "req:received"
	Validating          State = "req:validating"
	InvalidRequest      State = "req:invalid_request"
	ExecutingTool       State = "req:executing_tool"
	ToolError           State = "req:tool_error"
	RawOutputReady      State = "req:raw_output_ready"
	PruneCheck          State = "req:prune_check"
	CallingPruner       State = "req:calling_pruner"
	PrunerErrorFallback State = "req:pruner_error_fallback"
	RespondRaw          State = "req:respond_raw"
	RespondPruned       State = "req:respond_pruned"
	Responded           State = "req:responded"
	InternalError       State = "req:internal_error"

	anyRequestState State = "req:*"
)

// Triggers of a request.
const (
	Accept           Trigger = "accept"
	ParseFailed      Trigger = "parse_failed"
	ArgumentsInvalid Trigger = "arguments_invalid"
	ArgumentsValid   Trigger = "arguments_valid"
	ToolFailed       Trigger = "tool_failed"
	ToolTimedOut     Trigger = "tool_timed_out"
	ToolSucceeded    Trigger = "tool_succeeded"
	OutputCaptured   Trigger = "output_captured"
	NoQuestion       Trigger = "no_question"
	RepeatRead       Trigger = "repeat_read"
	PruningOff       Trigger = "pruning_off"
	TooLarge         Trigger = "too_large" // HTTP only
	OutputEmpty      Trigger = "output_empty"
	Eligible         Trigger = "eligible"
	Pruned           Trigger = "pruned"
	PrunerTimedOut   Trigger = "pruner_timed_out"
	PrunerHTTPFailed Trigger = "pruner_http_failed"
	PrunerInvalid    Trigger = "pruner_invalid"
	FallBack         Trigger = "fall_back"
	Written          Trigger = "written"
	WriteFailed      Trigger = "write_failed"
	Abort            Trigger = "abort" // a panic, a bug, or no client waits for the answer any more
)

// A metadata field that a row does not set keeps its value.
const (
	skipped  = "attempted=false applied=false fallback=false reason="
	fellBack = "attempted=true applied=false fallback=true reason=pruner_error error.message pruner_duration_ms error.code="
	applied  = "attempted=true applied=true fallback=false pruned_bytes pruner_duration_ms"
	unpruned = "attempted=false applied=false fallback=false raw_bytes reason" // the reason depends on the call
)

// RequestTable is the life of one request over stdio. The order of the rows out
// of req:prune_check is the order in which their conditions are tried.
func RequestTable() Table {
	return Table{
		Name:     "request",
		Initial:  Received,
		Terminal: []State{InvalidRequest, ToolError, Responded, InternalError},
		Rows: []Row{
			{Received, Accept, Validating, "tool.request_received", "", "T9"},
			{Received, ParseFailed, InvalidRequest, "tool.request_parse_failed", "", "E4"},
			{Validating, ArgumentsInvalid, InvalidRequest, "tool.request_invalid", "", "T10 E5"},
			{Validating, ArgumentsValid, ExecutingTool, "tool.exec_start", "", "T11"},
			{ExecutingTool, ToolFailed, ToolError, "tool.exec_failed", unpruned, "T12 E6"},
			{ExecutingTool, ToolTimedOut, ToolError, "tool.exec_timeout tool.exec_failed", unpruned, "T12 E7"},
			{ExecutingTool, ToolSucceeded, RawOutputReady, "tool.exec_ok", "", "T13"},
			{RawOutputReady, OutputCaptured, PruneCheck, "", "raw_bytes", "T14"},
			{PruneCheck, NoQuestion, RespondRaw, "", skipped + "no_focus_question", "T15"},
			{PruneCheck, RepeatRead, RespondRaw, "", skipped + "no_focus_question", "T15 A3"},
			{PruneCheck, PruningOff, RespondRaw, "", skipped + "disabled_or_unconfigured", "T16"},
			{PruneCheck, OutputEmpty, RespondRaw, "", skipped + "output_empty", "T17"},
			{PruneCheck, Eligible, CallingPruner, "pruner.call_start", "", "T18"},
			{CallingPruner, Pruned, RespondPruned, "pruner.call_ok", applied, "T19"},
			{CallingPruner, PrunerTimedOut, PrunerErrorFallback, "pruner.timeout pruner.call_failed", fellBack + "timeout", "T20 E8"},
			{CallingPruner, PrunerHTTPFailed, PrunerErrorFallback, "pruner.http_error pruner.call_failed", fellBack + "http_error", "T20 E9"},
			{CallingPruner, PrunerInvalid, PrunerErrorFallback, "pruner.invalid_response pruner.call_failed", fellBack + "invalid_response", "T20 E10"},
			{PrunerErrorFallback, FallBack, RespondRaw, "", "", "T21"},
			{RespondRaw, Written, Responded, "tool.respond_ok", "", "T22"},
			{RespondRaw, WriteFailed, InternalError, "tool.respond_failed", "", "E11"},
			{RespondPruned, Written, Responded, "tool.respond_ok", "", "T23"},
			{RespondPruned, WriteFailed, InternalError, "tool.respond_failed", "", "E11"},
			{anyRequestState, Abort, InternalError, "tool.internal_error", "", "T24 E12"},
		},
	}
}

// HTTPRequestTable is the life of one request over HTTP: the stdio table plus one row,
// which keeps output larger than a limit from being sent to a pruner. Spec cites the
// numbers of the HTTP design.
func HTTPRequestTable() Table {
	t := RequestTable().With(
		Row{PruneCheck, TooLarge, RespondRaw, "", skipped + "too_large", "B1"}, OutputEmpty)
	t.Name = "request-http"
	for i, row := range t.Rows {
		if spec, other := overHTTP[row.Spec]; other {
			t.Rows[i].Spec = spec
		}
	}
	return t
}

// overHTTP maps rows to their numbers in the HTTP design, where those differ. The HTTP
// design has no number for empty output: that row cites part A2 of the contract, which sets
// the order.
var overHTTP = map[string]string{
	"E4": "E7", "T10 E5": "T10 E8", "T12 E6": "T12 E9", "T12 E7": "T12 E10", "B1": "T17", "T17": "A2",
	"T20 E8": "T20 E11", "T20 E9": "T20 E12", "T20 E10": "T20 E13", "E11": "E14", "T24 E12": "T24 E15",
}
