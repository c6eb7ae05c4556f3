package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/states"
)

// Reply is the answer to one message. The transport calls Begin before it writes the answer, and Written or
// Failed afterwards.
type Reply struct {
	body     []byte
	call     *states.Execution
	err      error  // the answer could not be created
	release  func() // releases the call's slot; nil: the call has none
	answered func() // reports that the answer was written; nil: nobody is told
	told     bool   // somebody was told of a notification, or waited for the client's answer
}

// Told reports whether somebody was told of a notification, or waited for the client's answer to a question.
func (r Reply) Told() bool { return r.told }

// Call returns the request behind the answer, or nil if no machine ran for it.
func (r Reply) Call() *states.Execution { return r.call }

// Begin returns the bytes to write, or nil if there is no answer, as for notifications and for calls
// cancelled up to this moment. After an error, no answer could be created and the transport must close the
// connection.
func (r Reply) Begin(ctx context.Context) ([]byte, error) {
	if r.call == nil {
		return r.body, nil
	}
	body := r.body
	if ctx.Err() != nil {
		r.call.Cancel(ctx)
		body = nil
	}
	r.call.Answering(len(body))
	if body == nil || r.err != nil {
		r.done()
	}
	return body, r.err
}

// done releases the call's slot. A call holds it until its answer is written, so that the number of answers
// waiting to be written is limited, too.
func (r Reply) done() {
	if r.release != nil {
		r.release()
	}
}

// Written reports to the machine that the whole body was written.
func (r Reply) Written(ctx context.Context) {
	r.done()
	if r.call != nil {
		r.call.Written(ctx)
	}
	if r.answered != nil {
		r.answered()
	}
}

// Failed reports to the machine that the body could not be written.
func (r Reply) Failed(ctx context.Context, err error) {
	r.done()
	if r.call != nil {
		r.call.WriteFailed(ctx, err)
	}
}

// Code returns the JSON-RPC error code of the answer, or 0 if it is not an error.
func (r Reply) Code() int {
	var answer struct {
		Error *struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if len(r.body) > maxErrorBytes || json.Unmarshal(r.body, &answer) != nil || answer.Error == nil {
		return 0
	}
	return answer.Error.Code
}

// maxErrorBytes exceeds the size of every error that the server itself creates.
const maxErrorBytes = 64 << 10
