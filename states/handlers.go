package states

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// handler does the work of one state and returns the trigger that leaves the state. An
// error means a bug, or that the request's context has ended.
type handler func(context.Context, *Execution) (fsm.Trigger, fsm.Facts, error)

// handlers are in the order in which a request reaches their states. Terminal states have
// no handler, nor have the states req:respond_*, which wait for the transport.
var handlers = map[fsm.State]handler{
	fsm.Received:            receive,
	fsm.Validating:          validate,
	fsm.ExecutingTool:       execute,
	fsm.RawOutputReady:      capture,
	fsm.PruneCheck:          checkPrune,
	fsm.CallingPruner:       callPruner,
	fsm.PrunerErrorFallback: fallBack,
}

func receive(_ context.Context, c *Execution) (fsm.Trigger, fsm.Facts, error) {
	if c.request.Malformed != "" {
		return fsm.ParseFailed, fsm.Facts{"message": c.request.Malformed}, nil
	}
	if params, ok := c.request.Params.(map[string]any); ok {
		c.toolName, _ = params["name"].(string)
	}
	facts := fsm.Facts{}
	for name, value := range map[string]string{"traceparent": c.request.Parent, "subject": c.owner, "forwarded_user": c.user} {
		if value != "" {
			facts[name] = value
		}
	}
	return fsm.Accept, facts, nil
}

func validate(_ context.Context, c *Execution) (fsm.Trigger, fsm.Facts, error) {
	c.call, c.issues, c.advice = checkParams(c.offered(), c.request.Params)
	if params, ok := c.request.Params.(map[string]any); ok {
		c.arguments, _ = params["arguments"].(map[string]any)
	}
	c.request.Params = nil
	if len(c.issues) > 0 {
		logged := forLog(c.issues)
		facts := fsm.Facts{"message": describe(logged), "validation_errors": logged}
		if c.pipeline.FieldErrors {
			facts["field_errors"] = FieldErrors(logged)
		}
		return fsm.ArgumentsInvalid, facts, nil
	}
	return fsm.ArgumentsValid, nil, nil
}

func execute(ctx context.Context, c *Execution) (fsm.Trigger, fsm.Facts, error) {
	c.announce()
	start := c.now()
	output, err := c.call.Run(ctx)
	duration := c.elapsed(start)
	if err == nil {
		c.output = output
		return fsm.ToolSucceeded, fsm.Facts{"duration_ms": duration, "bytes": len(output.Code())}, nil
	}
	if !errors.As(err, &c.failure) {
		return "", nil, err
	}
	facts := fsm.Facts{
		"code": c.failure.Code, "message": c.failure.Message, "duration_ms": duration,
		"raw_bytes": c.failure.OutputBytes(), "reason": c.unprunedReason(),
	}
	if c.failure.ExitCode != nil {
		facts["exit_code"] = *c.failure.ExitCode
	}
	if c.failure.TimeoutMS > 0 {
		facts["timeout_ms"] = c.failure.TimeoutMS
		return fsm.ToolTimedOut, facts, nil
	}
	return fsm.ToolFailed, facts, nil
}

func capture(_ context.Context, c *Execution) (fsm.Trigger, fsm.Facts, error) {
	if c.pipeline.Pruner != nil {
		call := history.ParseCall(c.toolName, c.arguments)
		c.again = c.request.Session.again(call) // before the call itself counts as a change
		c.before = c.request.Session.remember(call, c.call.FocusQuestion(), c.output.Code())
	}
	return fsm.OutputCaptured, fsm.Facts{"raw_bytes": len(c.output.Code())}, nil
}

// conditions say whether a row out of req:prune_check applies. The table decides which rows
// there are, and in which order they are tried.
var conditions = map[fsm.Trigger]func(*Execution) bool{
	fsm.NoQuestion:  func(c *Execution) bool { return c.call.FocusQuestion() == "" },
	fsm.RepeatRead:  func(c *Execution) bool { return c.repeatsPruned() || c.recovers() },
	fsm.PruningOff:  func(c *Execution) bool { return c.pipeline.Pruner == nil },
	fsm.TooLarge:    (*Execution).tooLarge,
	fsm.OutputEmpty: func(c *Execution) bool { return c.outputBytes() == 0 },
	fsm.Eligible:    func(*Execution) bool { return true },
}

// due returns the trigger of the first row out of req:prune_check that holds; "": none does.
func (c *Execution) due() fsm.Trigger {
	for _, trigger := range c.machine.Definition().Leaving(fsm.PruneCheck) {
		if holds := conditions[trigger]; holds != nil && holds(c) {
			return trigger
		}
	}
	return ""
}

func checkPrune(_ context.Context, c *Execution) (fsm.Trigger, fsm.Facts, error) {
	trigger := c.due()
	if trigger == "" {
		return "", nil, errors.New("no row out of req:prune_check holds")
	}
	c.repeat = trigger == fsm.RepeatRead
	facts := fsm.Facts{"input_bytes": len(c.output.Code())}
	if c.pipeline.Pruner != nil {
		facts["endpoint"] = c.pipeline.Pruner.Endpoint()
	}
	return trigger, facts, nil
}

// StoreFull is the reason in _meta why output came back whole although a pruner is there: its original could not be
// stored, so that what is cut could not be had back.
const StoreFull = "store_full"

// callPruner stores the original and calls the pruner. Without the original its answer is not used.
func callPruner(ctx context.Context, c *Execution) (fsm.Trigger, fsm.Facts, error) {
	start := c.now()
	output, bytes, err := c.pruneStored(ctx)
	facts := fsm.Facts{"pruner_duration_ms": c.elapsed(start)}
	if err == nil {
		c.raw = c.output
		c.output = output
		facts["pruned_bytes"] = bytes
		if !c.unchanged {
			c.request.Session.rememberCut(history.ParseCall(c.toolName, c.arguments))
		}
		return fsm.Pruned, facts, nil
	}
	failed := &pruneclient.Error{Code: pruneclient.HTTPError, Message: err.Error()}
	if ctx.Err() != nil {
		return "", nil, ctx.Err()
	}
	errors.As(err, &failed)
	facts["reason"], facts["error.code"] = string(failed.Code), string(failed.Code)
	facts["message"], facts["error.message"] = failed.Message, cut(failed.Message, maxDetailBytes)
	return pruneFailures[failed.Code], facts, nil
}

// pruneStored stores the original and returns the pruner's answer, as prune does.
func (c *Execution) pruneStored(ctx context.Context) (output tools.Output, bytes int, err error) {
	pruning, end := context.WithCancel(ctx)
	defer end()
	id, stored, failed := c.keepBeside(ctx, c.output.Code(), end)
	if failed == nil {
		c.original = id
		output, bytes, err = c.prune(pruning)
		failed = stored()
	}
	switch {
	case failed == nil:
	case ctx.Err() != nil:
		err = ctx.Err()
	default:
		c.original, c.pruneID, c.unchanged = "", "", false
		c.fallback, c.unpruned = StoreFull, "not pruned: the original could not be stored"
		err = &pruneclient.Error{Code: pruneclient.HTTPError, Message: StoreFull + ": the original could not be stored" + systemReason(failed)}
	}
	return output, bytes, err
}

// systemReason returns the system's reason for a failure, without the path, which a trace does not have.
func systemReason(err error) string {
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return ": " + errno.Error()
	}
	return ""
}

// pruneFailures maps a pruner's error code to the trigger of its row.
var pruneFailures = map[pruneclient.ErrorCode]fsm.Trigger{
	pruneclient.Timeout:         fsm.PrunerTimedOut,
	pruneclient.HTTPError:       fsm.PrunerHTTPFailed,
	pruneclient.InvalidResponse: fsm.PrunerInvalid,
}

// prune calls the pruner and puts its answer into the output. bytes is the size of the
// pruner's answer.
func (c *Execution) prune(ctx context.Context) (output tools.Output, bytes int, err error) {
	code, source, id := c.output.Code(), c.output.Source(), c.original
	result, err := c.pipeline.Pruner.Prune(ctx, pruneclient.Request{
		Text: code, Question: c.call.FocusQuestion(), RecoveryID: id,
		File: source.File, FirstLine: source.FirstLine, Command: source.Command, Grep: source.Grep,
		Shown: c.shown(), Ends: tools.Ends(c.call),
		Tool: c.toolName, Args: c.arguments, Context: c.before,
	})
	if err != nil {
		return nil, 0, err
	}
	c.unpruned, c.unchanged = result.Note, result.Text == code
	output, err = c.output.Prune(result.Text)
	if err != nil {
		return nil, 0, &pruneclient.Error{Code: pruneclient.InvalidResponse,
			Message: fmt.Sprintf("the pruned text cannot be read back: %v", err)}
	}
	if !c.unchanged {
		c.pruneID = id
		if k, ok := output.(tools.Keeper); ok {
			output = k.WithOriginal(id)
		}
	}
	return output, len(result.Text), nil
}

// keepBeside begins to store a text and returns its id. stored waits until the text is stored, or returns the error that
// prevented it; failed has been called then.
func (c *Execution) keepBeside(ctx context.Context, text string, failed func()) (id string, stored func() error, err error) {
	if beside := c.pipeline.KeepBeside; beside != nil {
		id, stored = beside(ctx, text, failed)
		return id, stored, nil
	}
	id, err = c.keep(ctx, text)
	return id, func() error { return nil }, err
}

func (c *Execution) keep(ctx context.Context, text string) (string, error) {
	if c.pipeline.Keep == nil {
		return "", nil
	}
	return c.pipeline.Keep(ctx, text)
}

func fallBack(context.Context, *Execution) (fsm.Trigger, fsm.Facts, error) {
	return fsm.FallBack, nil, nil
}

func (c *Execution) tooLarge() bool {
	return c.pipeline.MaxPruneBytes > 0 && c.outputBytes() > c.pipeline.MaxPruneBytes
}

// repeatsPruned reports whether the call asks again for output that was pruned. It is false
// for a failed call, which is answered with its error.
func (c *Execution) repeatsPruned() bool { return c.pipeline.RepeatRaw && c.failure == nil && c.again }

// recovers reports whether the output was brought back by its id.
func (c *Execution) recovers() bool {
	if c.pipeline.Printed == nil || c.failure != nil {
		return false
	}
	return history.ParseCall(c.toolName, c.arguments).Recovers || c.pipeline.Printed(c.output.Code())
}

// subject returns what the call is about; it is zero if the tool does not say.
func (c *Execution) subject() tools.Subject {
	if about, ok := c.call.(tools.Subjecter); ok {
		return about.Subject()
	}
	return tools.Subject{}
}

// outputBytes returns the size of the tool's output, whether the tool succeeded or failed.
func (c *Execution) outputBytes() int {
	if c.failure != nil {
		return c.failure.OutputBytes()
	}
	return len(c.output.Code())
}

// unprunedReason returns pruning.reason for a tool error: the reason of the first row out
// of req:prune_check whose condition holds, as for a result. It is "" if only the error
// itself prevented pruning.
func (c *Execution) unprunedReason() string {
	row, _ := c.machine.Definition().Row(fsm.PruneCheck, c.due())
	for _, set := range row.Assigns() {
		if reason, fixed := set.Value.(string); fixed && set.Field == "reason" {
			return reason
		}
	}
	return ""
}
