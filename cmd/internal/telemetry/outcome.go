package telemetry

import (
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
)

// took returns the duration of a call, up to the last step of its machine.
func took(d *states.Delivery) time.Duration {
	if steps := d.Machine.Steps(); len(steps) > 0 {
		return steps[len(steps)-1].At
	}
	return 0
}

// pruning returns the duration of the pruner's work.
func pruning(d *states.Delivery) (sum time.Duration) {
	steps := d.Machine.Steps()
	for i := 1; i < len(steps); i++ {
		if steps[i].From == fsm.CallingPruner {
			sum += steps[i].At - steps[i-1].At
		}
	}
	return sum
}

// method returns the requested method, or "" if the message was not a request.
func method(d *states.Delivery) string {
	if steps := d.Machine.Steps(); len(steps) > 0 && steps[0].Trigger == fsm.ParseFailed {
		return ""
	}
	return "tools/call"
}

// tool returns the name of the called tool, or "" if the arguments were refused, because the name of an unknown tool
// may be any text.
func tool(d *states.Delivery) string {
	if d.Call == nil {
		return ""
	}
	return d.Tool
}

// outcome returns the state in which the call's machine ended.
func outcome(d *states.Delivery) string {
	_, name, _ := strings.Cut(string(d.Machine.State()), ":")
	return name
}

// failure returns the error.type of a call, or "" if it succeeded.
func failure(d *states.Delivery) string {
	triggers := make(map[fsm.Trigger]bool)
	for _, s := range d.Machine.Steps() {
		triggers[s.Trigger] = true
	}
	switch {
	case triggers[fsm.ParseFailed]:
		return "invalid_message"
	case triggers[fsm.ArgumentsInvalid]:
		return "invalid_params"
	case triggers[fsm.ToolTimedOut]:
		return "timeout"
	case triggers[fsm.ToolFailed]:
		return "tool_error"
	case d.Machine.State() != fsm.InternalError:
		return ""
	case d.Err != nil:
		return "write_failed"
	case d.Wire == 0:
		return "cancelled"
	}
	return "internal_error"
}

// decision returns how an output was sent (pruned, whole, or none if there was no output) and the reason.
func decision(d *states.Delivery) (what, why string) {
	switch {
	case d.Call == nil || d.Wire == 0:
		return "none", failure(d)
	case d.Saving != nil && d.Saving.Why == "":
		return "pruned", "applied"
	case d.Saving != nil:
		return "whole", d.Saving.Why
	case d.Pruning.Applied && d.PruneID != "":
		return "pruned", "applied"
	case d.Pruning.Applied:
		return "whole", "kept_whole"
	case d.Pruning.Error != nil:
		return "whole", d.Pruning.Reason + "_" + d.Pruning.Error.Code
	case d.Pruning.Reason == "":
		return "none", failure(d)
	}
	return "whole", d.Pruning.Reason
}

// tokens estimates the tokens that a model would have read without pruning, those that it reads, and those of the
// question.
func tokens(d *states.Delivery) (raw, sent, question int) {
	if d.Saving != nil {
		return d.Saving.Before, d.Saving.After, 0
	}
	return d.Tokens()
}
