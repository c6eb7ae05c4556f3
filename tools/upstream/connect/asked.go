package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

func (c *connection) progress(fields map[string]any) {
	token, _ := fields["progressToken"].(string)
	var caller Caller
	c.mu.Lock()
	if call := c.calls[token]; call != nil {
		caller = call.caller
	}
	c.mu.Unlock()
	if caller == nil || caller.ProgressToken() == nil {
		return
	}
	passed := maps.Clone(fields)
	passed["progressToken"] = caller.ProgressToken()
	caller.Notify("notifications/progress", passed)
}

// maxQuestions is the number of questions of one connection that wait for an answer. A long one counts once more for each MiB.
const maxQuestions = 32

// question is a request of the upstream that waits for a client's answer.
type question struct {
	id     string
	cancel context.CancelFunc
	token  string         // under which the upstream wants to hear of progress; "": it does not
	size   int            // of maxQuestions
	calls  []*pendingCall // with the last of which it ends; none: it is of no call
}

// asked passes an upstream's request to the session that caused it, or refuses it.
func (c *connection) asked(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	refuse := func(code int, text string) *transport.JSONRPCResponse {
		return transport.NewJSONRPCErrorResponse(r.ID, code, text, nil)
	}
	if r.Method == "ping" {
		return transport.NewJSONRPCResultResponse(r.ID, json.RawMessage("{}")), nil
	}
	caller := c.answering(ctx)
	if r.Method == "roots/list" && !hasRoots(caller) {
		return transport.NewJSONRPCResultResponse(r.ID, json.RawMessage(`{"roots":[]}`)), nil
	}
	if caller == nil {
		return refuse(mcp.METHOD_NOT_FOUND, "there is no client that could answer, or several are using the server and it is not known which one is meant"), nil
	}
	var params json.RawMessage // a request without them goes on without them: null is not allowed
	if r.Params != nil {
		var err error
		if params, err = json.Marshal(r.Params); err != nil {
			return refuse(mcp.INVALID_PARAMS, "the params cannot be passed on"), nil
		}
	}
	if missing := undeclared(caller.Capabilities(), r.Method, params); missing != "" {
		return refuse(mcp.METHOD_NOT_FOUND, "the client did not declare the capability "+missing), nil
	}
	ctx, end, refusal := c.asking(ctx, r, params)
	if refusal != "" {
		return refuse(mcp.INTERNAL_ERROR, refusal), nil
	}
	defer end()
	result, failed, err := caller.Ask(ctx, r.Method, params)
	switch {
	case err != nil && ctx.Err() != nil:
		return refuse(mcp.REQUEST_INTERRUPTED, "the question was cancelled, or the call that it belongs to has ended"), nil
	case err != nil:
		return refuse(mcp.METHOD_NOT_FOUND, err.Error()), nil
	case failed != nil:
		return transport.NewJSONRPCErrorResponse(r.ID, failed.Code, failed.Message, failed.Data), nil
	}
	return transport.NewJSONRPCResultResponse(r.ID, result), nil
}

// asking returns a context that ends when the upstream cancels its request, the calls end that it can belong to, or the connection
// is lost. It refuses a question when too many wait, and one of a call that was cancelled.
func (c *connection) asking(ctx context.Context, r transport.JSONRPCRequest, params json.RawMessage) (asking context.Context, end func(), refusal string) {
	var said struct {
		Meta struct {
			Token any `json:"progressToken"`
			Task  any `json:"io.modelcontextprotocol/related-task"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(params, &said) // an object, or nothing
	q := &question{id: idOf(r.ID.Value()), size: 1 + len(params)>>20}
	if said.Meta.Token != nil {
		q.token = idOf(said.Meta.Token)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Method != "roots/list" && said.Meta.Task == nil { // those are no call's: a task goes on after its call
		if q.calls = c.during(ctx); len(q.calls) == 0 && len(c.last) > 0 {
			return nil, nil, "the call that it belongs to was cancelled"
		}
	}
	waiting := q.size
	for _, other := range c.questions {
		waiting += other.size
	}
	if waiting > maxQuestions {
		return nil, nil, "too many questions wait for an answer"
	}
	heard := ctx // over HTTP with a deadline of 30 s by the transport, which is too early for a person
	ctx, cancel := context.WithCancel(context.WithoutCancel(heard))
	context.AfterFunc(heard, func() {
		if errors.Is(heard.Err(), context.Canceled) {
			cancel()
		}
	})
	q.cancel = cancel
	c.questions = append(c.questions, q)
	stop := make(chan struct{})
	go func() {
		select {
		case <-c.gone:
			cancel()
		case <-stop:
		}
	}()
	return ctx, func() {
		close(stop)
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.questions = slices.DeleteFunc(c.questions, func(other *question) bool { return other == q })
	}, ""
}

// during returns the calls in progress that a question can belong to. c.mu is locked.
func (c *connection) during(ctx context.Context) (calls []*pendingCall) {
	if call, ok := ctx.Value(pendingKey{}).(*pendingCall); ok {
		return []*pendingCall{call}
	}
	for _, p := range c.last {
		if p.cancelled.IsZero() {
			calls = append(calls, p)
		}
	}
	return calls
}

// over ends the questions that can belong only to a call that has ended. c.mu is locked.
func (c *connection) over(p *pendingCall) {
	for _, q := range c.questions {
		if i := slices.Index(q.calls, p); i >= 0 {
			if q.calls = slices.Delete(q.calls, i, i+1); len(q.calls) == 0 {
				q.cancel()
			}
		}
	}
}

// idOf returns an id or a token in a form that is equal for equal ones.
func idOf(value any) string { return fmt.Sprintf("%v", value) }

// cancelled ends a question that the upstream does not want answered any more.
func (c *connection) cancelled(fields map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range slices.Backward(c.questions) {
		if q.id == idOf(fields["requestId"]) {
			q.cancel()
			return
		}
	}
}

// progressed passes on a client's progress with a question of this upstream.
func (c *connection) progressed(ctx context.Context, fields map[string]any) {
	token, waits := idOf(fields["progressToken"]), false
	c.mu.Lock()
	for _, q := range c.questions {
		waits = waits || q.token == token && token != ""
	}
	c.mu.Unlock()
	if waits {
		_ = c.notify(ctx, "notifications/progress", fields) // an upstream that is gone waits for nothing
	}
}

// answering returns the client that answers an upstream's request, or nil if there is none: that of the call in whose
// answer the request came, unless it was cancelled, else the only session that is calling, else the owner of the connection.
func (c *connection) answering(ctx context.Context) Caller {
	if call, ok := ctx.Value(pendingKey{}).(*pendingCall); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		return call.caller
	}
	return c.latest()
}

// latest returns the client that something belongs to which the upstream sends outside of an answer, or nil.
func (c *connection) latest() Caller {
	if caller, _ := c.only(); caller != nil {
		return caller
	}
	return c.owner
}

// levels are the levels of log messages, from the most to the least verbose.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// log passes on a log message, if the client that it belongs to wants it.
func (c *connection) log(fields map[string]any) {
	caller := c.latest()
	if caller == nil {
		return
	}
	level, _ := fields["level"].(string)
	least := caller.LogLevel()
	if least == "" && caller.Modern() || least != "" && slices.Index(levels, level) < slices.Index(levels, least) {
		return
	}
	caller.Notify("notifications/message", fields)
}

// hasRoots reports whether a client announced the roots capability.
func hasRoots(c Caller) bool {
	return c != nil && undeclared(c.Capabilities(), "roots/list", nil) == ""
}

// undeclared returns the capability that a client needs for a request of a server and has not declared, or "".
func undeclared(declared json.RawMessage, method string, params json.RawMessage) string {
	var has map[string]map[string]any
	var asked struct {
		Mode  string
		Tools []any
	}
	_, _ = json.Unmarshal(declared, &has), json.Unmarshal(params, &asked) // nothing is declared, or asked
	lacks := func(capability, part string) bool {
		_, ok := has[capability][part]
		return !ok
	}
	name, _, _ := strings.Cut(method, "/")
	switch _, declared := has[name]; {
	case !declared:
		return name
	case method == "sampling/createMessage" && asked.Tools != nil && lacks("sampling", "tools"):
		return "sampling.tools"
	case method == "elicitation/create" && asked.Mode == "url" && lacks("elicitation", "url"):
		return "elicitation.url"
	case method == "elicitation/create" && asked.Mode != "url" && lacks("elicitation", "form") && !lacks("elicitation", "url"):
		return "elicitation.form" // without any form, form is meant
	}
	return ""
}

// cancelledFor is the time for which a cancelled call counts as one in progress: the upstream may not have noticed.
const cancelledFor = time.Minute

// only returns the latest caller if all calls in progress are of one session, else nil. An upstream sends requests and
// log messages during a call, but not every transport says during which, and another session must not get them. calling
// reports whether there are calls that were not cancelled.
func (c *connection) only() (caller Caller, calling bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = slices.DeleteFunc(c.last, func(p *pendingCall) bool { return !p.cancelled.IsZero() && time.Since(p.cancelled) > cancelledFor })
	mixed := false
	for _, p := range c.last {
		mixed = mixed || p.session != c.last[0].session
		if p.cancelled.IsZero() {
			caller, calling = p.caller, true
		}
	}
	if mixed {
		return nil, calling
	}
	return caller, calling
}
