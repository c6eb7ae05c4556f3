package contextgc

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// Toolset makes the tools for one ledger.
type Toolset struct {
	Store   Segments
	Project string           // project of this server's deliveries; descriptions name it
	Now     func() time.Time // nil: time.Now

	// Shown returns the hash of the text with an id that an agent was shown, such as prn_3ddf8b97; nil: there are none.
	Shown func(ctx context.Context, id string) (hash [sha256.Size]byte, ok bool)
}

// Tools returns context_gc_analyze, _prune, _pin, _unpin, context_get and
// context_search.
func (t Toolset) Tools() []tools.Tool {
	return []tools.Tool{
		{
			Name: "context_gc_analyze", ReadOnly: true, InputSchema: analyzeSchema(t), Check: checked(analyzeSchema(t), analyzeLimits, t.analyzeCall),
			Description: "Lists what of the recorded context can go, the least useful first, with a reason for each. With target_tokens it also plans " +
				"what to stash. Pinned segments, the current file, the task's messages and recent decisions are kept.",
		},
		{
			Name: "context_gc_prune", Destructive: true, InputSchema: pruneSchema(t), Check: checked(pruneSchema(t), idsLimits, t.pruneCall),
			Description: "Stashes segments (context_get still returns them) or deletes them for good, which needs confirm. Pinned segments are refused.",
		},
		{
			Name: "context_gc_pin", InputSchema: pinSchema(t), Check: checked(pinSchema(t), idsLimits, t.pinCall(true)),
			Description: "Protects segments from pruning.",
		},
		{
			Name: "context_gc_unpin", InputSchema: pinSchema(t), Check: checked(pinSchema(t), idsLimits, t.pinCall(false)),
			Description: "Allows segments to be pruned again.",
		},
		{
			Name: "context_get", ReadOnly: true, InputSchema: getSchema(), Check: checked(getSchema(), getLimits, t.getCall),
			Description: "Returns the exact text of a segment, such as s12, or prn_3ddf8b97 of a [cleared ...] note: all of it, a range of lines, or the lines " +
				"that match a pattern.",
		},
		{
			Name: "context_search", ReadOnly: true, InputSchema: searchSchema(t), Check: checked(searchSchema(t), searchLimits, t.searchCall),
			Description: "Finds recorded outputs, stashed ones too, in which all the words occur. The newest come first.",
		},
	}
}

func (t Toolset) now() time.Time {
	if t.Now == nil {
		return time.Now()
	}
	return t.Now()
}

func (t Toolset) project() *property {
	if t.Project == "" {
		return id("Which project's segments.")
	}
	return id("Which project's segments; this server records under " + strconv.Quote(t.Project) + ".")
}

// call is a checked call of any of these tools. Their results are never pruned, because the
// caller asked for exactly those texts.
type call struct {
	tool  string
	about tools.Subject
	run   func(context.Context) (output, error)
}

// FocusQuestion implements tools.Call.
func (call) FocusQuestion() string { return "" }

// Subject implements tools.Subjecter.
func (c call) Subject() tools.Subject { return c.about }

// Run implements tools.Call.
func (c call) Run(ctx context.Context) (tools.Output, error) {
	out, err := c.run(ctx)
	if err == nil {
		out.tool = c.tool
		return out, nil
	}
	var known *tools.Error
	switch {
	case errors.As(err, &known):
		return nil, known
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, ErrNotFound):
		return nil, &tools.Error{Code: "not_found", Message: "there is no such segment; context_search finds those there are"}
	}
	return nil, &tools.Error{Code: "store_error", Message: err.Error()}
}

// output is a result: fields for programs and a text for the model. The default text is the
// fields as JSON.
type output struct {
	tool   string
	fields any
	text   string
	isText bool
	notice string
}

// Code implements tools.Output.
func (o output) Code() string { return o.Text() }

// Source implements tools.Output.
func (o output) Source() tools.Source { return tools.Source{} }

// Notice implements tools.Noticer.
func (o output) Notice() string { return o.notice }

// Prune implements tools.Output. It is never called, because these tools take no focus
// question.
func (o output) Prune(string) (tools.Output, error) {
	return nil, errors.New("the output of this tool is not pruned")
}

// Text implements tools.Output.
func (o output) Text() string {
	if o.isText {
		return o.text
	}
	return string(jsonspan.Encode(o.fields))
}

// Structured implements tools.Output.
func (o output) Structured(pruning any) any {
	body := jsonspan.Encode(o.fields)
	head := append([]byte(`{"tool":`), jsonspan.Encode(o.tool)...)
	if len(body) > len("{}") {
		head = append(append(head, ','), body[1:len(body)-1]...)
	}
	return json.RawMessage(append(append(append(head, `,"pruning":`...), jsonspan.Encode(pruning)...), '}'))
}
