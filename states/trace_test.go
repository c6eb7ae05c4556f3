package states

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// about is a call that has a subject and whose output has more than its text.
type about struct {
	echoed
	subject tools.Subject
	notice  string
	kept    string // notice of the pruned output
}

func (a about) Subject() tools.Subject { return a.subject }
func (a about) Notice() string         { return a.notice }

func (a about) Run(context.Context) (tools.Output, error) { return a, nil }

func (a about) Prune(s string) (tools.Output, error) {
	a.text, a.notice = s, a.kept
	return a, nil
}

// recorder is a pipeline whose pruner always returns "short", with the records it made.
type recorder struct {
	*Pipeline
	t    *testing.T
	ids  int
	last trace.Record

	noted int
}

func newRecorder(t *testing.T) *recorder { return recorderWith(t, false) }

func recorderWith(t *testing.T, detail bool) *recorder {
	r := &recorder{Pipeline: newPipeline(answering("short", nil)), t: t}
	r.Observers = []Observer{Tracer{Trace: r, Detail: detail}}
	r.Keep = func(context.Context, string) (string, error) { r.ids++; return fmt.Sprint("prn_", r.ids), nil }
	return r
}

func (r *recorder) Note(*trace.Record) trace.Note { r.noted++; return trace.Note(r.noted) }

func (r *recorder) Renote(_ trace.Note, record *trace.Record) trace.Note { return r.Note(record) }

func (r *recorder) Append(record *trace.Record, note trace.Note) {
	r.last = *record
	require.Equal(r.t, trace.Note(r.noted), note)
}

func (r *recorder) run(s *Session, client string, call about) trace.Record {
	r.t.Helper()
	r.Pipeline.Tools = []tools.Tool{{Name: "about", Check: func(map[string]any) (tools.Call, []tools.Issue) { return call, nil }}}
	c := r.Run(r.t.Context(), Request{Params: map[string]any{"name": "about", "arguments": map[string]any{}}, Session: s, Client: client})
	c.Answer()
	c.Answering(100)
	c.Written(r.t.Context())
	require.Equal(r.t, "responded", r.last.Outcome)
	return r.last
}

func file(path, question string) about {
	return about{echoed: echoed{text: "a long text", question: question}, subject: tools.Subject{Path: path}}
}

func original(id string) about {
	return about{echoed: echoed{text: "a long text"}, subject: tools.Subject{PruneID: id, Part: true}}
}

// faulty is an observer whose methods panic.
type faulty struct{}

func (faulty) Answering(*Delivery) { panic("a bug") }
func (faulty) Ended(*Delivery)     { panic("another") }

func TestABrokenObserverCostsNoAnswer(t *testing.T) {
	p := newPipeline(nil)
	p.Observers = []Observer{faulty{}}
	c := p.Run(context.Background(), echoRequest(map[string]any{"text": "x"}))
	c.Answering(1)
	c.Written(context.Background())
	require.True(t, c.Machine().Done())
	require.Equal(t, "x", c.output.Text())
}

// A call that recovers pruned output has the subject of the pruned call.
func TestARecoveryIsAboutWhatThePrunedCallWasAbout(t *testing.T) {
	r, session := newRecorder(t), new(Session)
	pruned := r.run(session, "x", file("a", "what?"))
	recovered := r.run(session, "x", original("prn_1"))
	assert.Equal(t, pruned.Subject, recovered.Subject)
	assert.True(t, recovered.Part)
	assert.False(t, pruned.Part)
	assert.NotEqual(t, pruned.Subject, r.run(session, "x", original("prn_0")).Subject, "that is of no call known here")
	assert.NotEqual(t, pruned.Subject, r.run(new(Session), "x", original("prn_1")).Subject, "another session does not know it")
}

func TestWhatPrunedCallsWereAboutIsBounded(t *testing.T) {
	r, session := newRecorder(t), new(Session)
	for n := range remembered + 10 {
		r.run(session, "x", file(fmt.Sprint(n), "what?"))
	}
	assert.Len(t, session.originals, remembered)
	assert.Len(t, session.ids, remembered)
	assert.Contains(t, session.originals, fmt.Sprint("prn_", remembered+10))
	assert.NotContains(t, session.originals, "prn_10")
}

// Calls without a session have the same subject if one client asks for the same thing.
func TestCallsThatStandAloneShareTheirSubjects(t *testing.T) {
	r := newRecorder(t)
	one, two := r.run(nil, "x", file("a", "what?")), r.run(nil, "x", file("a", ""))
	assert.Equal(t, one.Subject, two.Subject)
	assert.Equal(t, one.Subject, r.run(nil, "x", original("prn_1")).Subject)
	assert.Empty(t, one.Session)
	assert.NotEqual(t, one.Subject, r.run(nil, "y", file("a", "")).Subject, "another client")
	assert.NotEqual(t, one.Subject, r.run(nil, "x", file("b", "")).Subject, "another file")
	assert.NotEqual(t, one.Subject, r.run(new(Session), "x", file("a", "")).Subject, "a session of its own")
	assert.NotEqual(t, one.Subject, newRecorder(t).run(nil, "x", file("a", "")).Subject, "another process has another key")
}

// Everything that a model reads is counted, including the notice beside the text.
func TestSizesHoldTheNotice(t *testing.T) {
	r := newRecorder(t)
	call := file("a", "")
	call.notice = "no matches"
	got := r.run(nil, "x", call)
	assert.Equal(t, trace.Bytes{Raw: 11 + 12, Sent: 11 + 12, Wire: 100, Beside: 12}, got.Bytes)
	whole := tokens.Estimate(call.text) + tokens.Estimate(call.notice) + 2
	assert.Equal(t, trace.Tokens{Raw: whole, Sent: whole, Estimated: true}, got.Tokens)
	call.question, call.kept = "what?", "nothing was kept"
	got = r.run(nil, "x", call)
	assert.Equal(t, trace.Bytes{Raw: 11 + 12, Sent: 5 + 18, Wire: 100, Beside: 12, BesideSent: 18}, got.Bytes)
	left := tokens.Estimate("short") + tokens.Estimate(call.kept) + 2
	assert.Equal(t, trace.Tokens{Raw: whole, Sent: left, Question: tokens.Estimate("what?"), Estimated: true}, got.Tokens)
	call.notice = ""
	got = r.run(nil, "x", call)
	assert.Equal(t, trace.Bytes{Raw: 11, Sent: 5 + 18, Wire: 100, BesideSent: 18}, got.Bytes)
}

// A question without output costs tokens too, and they are an estimate.
func TestAQuestionAboutNothingIsAnEstimate(t *testing.T) {
	call := file("a", "what?")
	call.text = ""
	assert.Equal(t, trace.Tokens{Question: tokens.Estimate("what?"), Estimated: true}, newRecorder(t).run(nil, "x", call).Tokens)
}

// Without MCP_PRUNER_TRACE_DETAIL=full a record has nothing that the call was about, whatever the call has.
func TestThereIsNoDetailUnlessAskedFor(t *testing.T) {
	call := file("a secret path", "a secret question")
	call.subject.Command, call.subject.Pattern = "a secret command", "a secret pattern"
	for _, client := range []string{"", "x"} {
		got := newRecorder(t).run(nil, client, call)
		assert.Nil(t, got.Detail)
		assert.NotEmpty(t, got.Subject, "there would be something to say")
		assert.NotContains(t, string(trace.AppendRecord(nil, &got)), "secret")
	}
	assert.Equal(t, &trace.Detail{Question: "a secret question", Path: "a secret path", Command: "a secret command", Pattern: "a secret pattern"},
		recorderWith(t, true).run(nil, "x", call).Detail)
}

// Nobody read an answer that could not be written: its record has no sizes and no tokens.
func TestAnUnwrittenAnswerHasNoSizes(t *testing.T) {
	r := newRecorder(t)
	r.run(nil, "x", file("a", "what?"))
	require.NotZero(t, r.last.Bytes)
	require.NotZero(t, r.last.Tokens)
	c := r.Run(t.Context(), Request{Params: map[string]any{"name": "about", "arguments": map[string]any{}}, Client: "x"})
	c.Answer()
	c.Answering(100)
	c.delivery.Opaque = true
	c.WriteFailed(t.Context(), errors.New("the pipe is closed"))
	assert.Equal(t, trace.Unwritten, r.last.Answer)
	assert.Zero(t, r.last.Bytes)
	assert.Zero(t, r.last.Tokens)
	assert.False(t, r.last.Opaque)
}

// A client can ask for a path of any length; the record is cut and stays readable.
func TestDetailIsCut(t *testing.T) {
	r := recorderWith(t, true)
	long := strings.Repeat("é", maxDetailBytes)
	call := file("a"+long, "what"+long)
	call.subject.Command, call.subject.Pattern = long, "short"
	d := r.run(nil, "x", call).Detail
	assert.Equal(t, "a"+long[:maxDetailBytes-2], d.Path, "at the end of a rune")
	assert.Equal(t, "what"+long[:maxDetailBytes-4], d.Question)
	assert.Equal(t, long[:maxDetailBytes], d.Command)
	assert.Equal(t, "short", d.Pattern)
	assert.Empty(t, cut(strings.Repeat("\x80", 9), 8))
}

// A record keeps at most 64 KiB of a pruner's error message.
func TestWhyAPrunerFailedIsCut(t *testing.T) {
	long := strings.Repeat("x", maxDetailBytes+1)
	p := newPipeline(answering("", &pruneclient.Error{Code: pruneclient.HTTPError, Message: long}))
	c := p.Run(t.Context(), echoRequest(map[string]any{"text": "long", "question": "what?"}))
	require.NotNil(t, c.Pruning().Error)
	assert.Equal(t, long[:maxDetailBytes], c.Pruning().Error.Message)
}

// A client may send a tool name of any length. The record keeps a bounded part of it, which
// ends with a whole character.
func TestLongNamesAreCutInRecords(t *testing.T) {
	r := newRecorder(t)
	name := strings.Repeat("n", maxNameBytes-1) + "ü"
	c := r.Run(t.Context(), Request{Params: map[string]any{"name": name + "more", "arguments": map[string]any{}}, Client: name})
	c.Answer()
	c.Answering(100)
	c.Written(t.Context())
	assert.Equal(t, "invalid_request", r.last.Outcome)
	assert.Equal(t, name[:maxNameBytes-1], r.last.Tool)
	assert.Equal(t, name[:maxNameBytes-1], r.last.Client)
}
