package telemetry

import (
	"strings"
	"time"

	"mcp-pruner/fsm"
	"mcp-pruner/states"
)

// took is how long a call took: until the last step of its machine.
func took(d *states.Delivery) time.Duration {
	if steps := d.Machine.Steps(); len(steps) > 0 {
		return steps[len(steps)-1].At
	}
	return 0
}

// pruning is how long the pruner took.
func pruning(d *states.Delivery) (sum time.Duration) {
	steps := d.Machine.Steps()
	for i := 1; i < len(steps); i++ {
		if steps[i].From == fsm.CallingPruner {
			sum += steps[i].At - steps[i-1].At
		}
	}
	return sum
}

// method is what was asked for; "" when the message was no request.
func method(d *states.Delivery) string {
	if first(d) == fsm.ParseFailed {
		return ""
	}
	return "tools/call"
}

func first(d *states.Delivery) fsm.Trigger {
	if steps := d.Machine.Steps(); len(steps) > 0 {
		return steps[0].Trigger
	}
	return ""
}

// tool is the tool that was called; "" when the arguments were refused: a name that no
// tool has may be any text.
func tool(d *states.Delivery) string {
	if d.Call == nil {
		return ""
	}
	return d.Tool
}

// outcome is the state in which the call's machine ended.
func outcome(d *states.Delivery) string {
	_, name, _ := strings.Cut(string(d.Machine.State()), ":")
	return name
}

// failure is the error.type of a call; "" when it went well.
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

// decision is what became of an output, and why: pruned, whole, or none where there
// was no output.
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

// tokens estimates what a model would have read without pruning, what it reads, and
// the question.
func tokens(d *states.Delivery) (raw, sent, question int) {
	if d.Saving != nil {
		return d.Saving.Before, d.Saving.After, 0
	}
	return d.Tokens()
}
