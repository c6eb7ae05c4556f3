package states

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// echo is a tool that returns the text of its argument.
func echo() tools.Tool {
	return tools.Tool{Name: "echo", Check: func(args map[string]any) (tools.Call, []tools.Issue) {
		if args["bad"] == true {
			return nil, []tools.Issue{{Path: "", Code: "unrecognized_keys"}, {Path: "bad", Code: "custom"}}
		}
		c := echoed{}
		c.text, _ = args["text"].(string)
		c.question, _ = args["question"].(string)
		c.fail, _ = args["fail"].(string)
		c.fallback, _ = args["fallback"].(string)
		return c, nil
	}}
}

type echoed struct{ text, question, fail, fallback string }

func (e echoed) FocusQuestion() string { return e.question }

func (e echoed) Run(ctx context.Context) (tools.Output, error) {
	switch e.fail {
	case "":
		return e, nil
	case "timeout":
		return nil, &tools.Error{Code: "timeout", TimeoutMS: 5}
	case "wait":
		<-ctx.Done()
		return nil, ctx.Err()
	case "panic":
		panic("echo")
	case "bug":
		return nil, errors.New("a bug")
	default:
		return nil, &tools.Error{Code: e.fail, Message: "as told"}
	}
}

func (e echoed) Subject() tools.Subject { return tools.Subject{Command: e.text} }
func (e echoed) Code() string {
	if e.text == "" && e.fallback != "" { // as bash does with stdout and stderr
		return e.fallback
	}
	return e.text
}
func (e echoed) Source() tools.Source       { return tools.Source{} }
func (e echoed) Text() string               { return e.text }
func (e echoed) Structured(pruning any) any { return pruning }

func (e echoed) Prune(s string) (tools.Output, error) {
	if s == "unreadable" {
		return nil, errors.New("no match in it")
	}
	e.text = s
	return e, nil
}

// scripted is a pruner implemented by a func.
type scripted func(context.Context, pruneclient.Request) (pruneclient.Result, error)

func (s scripted) Prune(ctx context.Context, r pruneclient.Request) (pruneclient.Result, error) {
	return s(ctx, r)
}
func (scripted) Endpoint() string { return "scripted" }

func answering(text string, err error) scripted {
	return func(context.Context, pruneclient.Request) (pruneclient.Result, error) {
		return pruneclient.Result{Text: text}, err
	}
}

func newPipeline(pruner pruneclient.Pruner) *Pipeline {
	return &Pipeline{Machine: fsm.MustCompile(fsm.RequestTable()), Tools: []tools.Tool{echo()}, Pruner: pruner}
}

func echoRequest(args map[string]any) Request {
	return Request{Params: map[string]any{"name": "echo", "arguments": args}, Session: &Session{}}
}

// way returns the Spec of each row that a call took.
func way(c *Execution) []string {
	var specs []string
	for _, s := range c.Machine().Steps() {
		specs = append(specs, s.Spec)
	}
	return specs
}

// scenarios together take every row of the table.
func scenarios() map[string]func(*Pipeline) *Execution {
	run := func(pruner pruneclient.Pruner, args map[string]any, end func(*Execution)) func(*Pipeline) *Execution {
		return func(p *Pipeline) *Execution {
			p.Pruner = pruner
			c := p.Run(context.Background(), echoRequest(args))
			end(c)
			return c
		}
	}
	written := func(c *Execution) { c.Written(context.Background()) }
	lost := func(c *Execution) { c.WriteFailed(context.Background(), errors.New("gone")) }
	ask := map[string]any{"text": "long", "question": "what?"}
	fails := func(code pruneclient.ErrorCode) pruneclient.Pruner {
		return answering("", &pruneclient.Error{Code: code, Message: "as told"})
	}
	return map[string]func(*Pipeline) *Execution{
		"raw":                run(answering("short", nil), map[string]any{"text": "long"}, written),
		"raw, lost":          run(nil, map[string]any{"text": "long"}, lost),
		"off":                run(nil, ask, written),
		"empty":              run(answering("short", nil), map[string]any{"question": "what?"}, written),
		"pruned":             run(answering("short", nil), ask, written),
		"pruned, lost":       run(answering("short", nil), ask, lost),
		"pruner late":        run(fails(pruneclient.Timeout), ask, written),
		"pruner fails":       run(fails(pruneclient.HTTPError), ask, written),
		"pruner talks":       run(fails(pruneclient.InvalidResponse), ask, written),
		"unreadable":         run(answering("unreadable", nil), ask, written),
		"tool fails":         run(nil, map[string]any{"fail": "io_error"}, written),
		"tool late":          run(nil, map[string]any{"fail": "timeout"}, written),
		"tool panics":        run(nil, map[string]any{"fail": "panic"}, written),
		"arguments":          run(nil, map[string]any{"bad": true}, written),
		"malformed":          func(p *Pipeline) *Execution { return p.Run(context.Background(), Request{Malformed: "not JSON"}) },
		"repeated":           repeated,
		"cancelled at start": cancelledAtStart,
	}
}

func repeated(p *Pipeline) *Execution {
	p.RepeatRaw, p.Pruner = true, answering("short", nil)
	request := echoRequest(map[string]any{"text": "long", "question": "what?"})
	params := request.Params
	p.Run(context.Background(), request).Written(context.Background())
	request.Params = params
	c := p.Run(context.Background(), request)
	c.Written(context.Background())
	return c
}

// What was brought back is not pruned again, whatever is asked, unless this is the request that replaces it.
func TestWhatWasBroughtBackIsNotPruned(t *testing.T) {
	for text, reason := range map[string]string{"long": "", "brought back": "no_focus_question"} {
		p := newPipeline(answering("short", nil))
		p.Printed = func(text string) bool { return text == "brought back" }
		c := p.Run(t.Context(), echoRequest(map[string]any{"text": text, "question": "what?"}))
		assert.Equal(t, reason, c.Pruning().Reason, text)
		p.Printed = nil
		c = p.Run(t.Context(), echoRequest(map[string]any{"text": text, "question": "what?", "prune_id": "prn_3ddf8b97"}))
		assert.Empty(t, c.Pruning().Reason, text)
	}
	p := newPipeline(answering("short", nil))
	p.Printed = func(string) bool { return false }
	c := p.Run(t.Context(), echoRequest(map[string]any{"text": "long", "question": "what?", "prune_id": "prn_3ddf8b97"}))
	assert.Equal(t, "no_focus_question", c.Pruning().Reason)
}

func cancelledAtStart(p *Pipeline) *Execution {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return p.Run(ctx, echoRequest(nil))
}

// TestTheTableDecides removes each row of the table in turn. Then either the table is
// refused, or the requests that took the row take another path, and none loops for ever.
func TestTheTableDecides(t *testing.T) {
	ways := make(map[string][]string)
	for name, play := range scenarios() {
		c := play(newPipeline(nil))
		ways[name] = way(c)
		require.True(t, c.Machine().Done(), "%s ended in %s", name, c.Machine().State())
	}
	for _, row := range fsm.RequestTable().Rows {
		definition, err := fsm.Compile(fsm.RequestTable().Without(row.Spec))
		if err != nil {
			continue
		}
		users := 0
		for name, play := range scenarios() {
			if !slices.Contains(ways[name], row.Spec) {
				continue
			}
			users++
			p := newPipeline(nil)
			p.Machine = definition
			assert.NotEqual(t, ways[name], way(play(p)), "without row %s, scenario %q", row.Spec, name)
		}
		assert.NotZero(t, users, "no scenario takes row %s", row.Spec)
	}
}

// Without the row for a missing question, the next rows of the table decide.
func TestTheOrderOfTheRowsIsTheOrderOfTheConditions(t *testing.T) {
	p := newPipeline(nil)
	p.Machine = fsm.MustCompile(fsm.RequestTable().Without("T15"))
	c := p.Run(t.Context(), echoRequest(map[string]any{"text": "long"}))
	assert.Equal(t, "disabled_or_unconfigured", c.Pruning().Reason)

	p = newPipeline(nil)
	p.MaxPruneBytes = 3
	p.Pruner = answering("short", nil)
	c = p.Run(t.Context(), echoRequest(map[string]any{"text": "long", "question": "what?"}))
	assert.True(t, c.Pruning().Applied, "the limit belongs to a row that only the HTTP table has")
	p.Machine = fsm.MustCompile(fsm.HTTPRequestTable())
	c = p.Run(t.Context(), echoRequest(map[string]any{"text": "long", "question": "what?"}))
	assert.Equal(t, "too_large", c.Pruning().Reason)
}

func TestCancellationReachesTheTool(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := newPipeline(nil)
	p.Emit = func(e fsm.Event) {
		if e.Name == "tool.exec_start" {
			cancel()
		}
	}
	c := p.Run(ctx, echoRequest(map[string]any{"fail": "wait"}))
	assert.Equal(t, fsm.InternalError, c.Machine().State())
	assert.Equal(t, NoAnswer, c.Answer().Kind)
}

// A panic in the log must not change the path of a request.
func TestABrokenLogChangesNothing(t *testing.T) {
	for name, play := range scenarios() {
		quiet, broken := newPipeline(nil), newPipeline(nil)
		broken.Emit = func(fsm.Event) { panic("disk full") }
		assert.Equal(t, way(play(quiet)), way(play(broken)), name)
	}
}

func TestMetadataOfAToolErrorGivesTheFirstReasonThatHolds(t *testing.T) {
	cases := []struct {
		pruner   pruneclient.Pruner
		question string
		want     string
	}{
		{answering("", nil), "", "no_focus_question"},
		{nil, "", "no_focus_question"},
		{nil, "what?", "disabled_or_unconfigured"},
		{answering("", nil), "what?", "output_empty"},
	}
	for _, c := range cases {
		call := newPipeline(c.pruner).Run(t.Context(), echoRequest(map[string]any{"fail": "io_error", "question": c.question}))
		assert.Equal(t, PruningMetadata{Reason: c.want}, call.Pruning())
	}
}

func TestNothingIsPrunedThatCannotBeKept(t *testing.T) {
	p := newPipeline(answering("short", nil))
	request := echoRequest(map[string]any{"text": "long", "question": "what?"})
	p.Keep = func(context.Context, string) (string, error) { return "prn_1", nil }
	assert.Equal(t, "prn_1", p.Run(t.Context(), request).Answer().PruneID)

	p.Keep = func(context.Context, string) (string, error) {
		return "", &fs.PathError{Op: "open", Path: "/home", Err: syscall.ENOSPC}
	}
	p.Pruner = scripted(func(context.Context, pruneclient.Request) (pruneclient.Result, error) {
		t.Error("the pruner was called")
		return pruneclient.Result{}, nil
	})
	request = echoRequest(map[string]any{"text": "long", "question": "what?"})
	call := p.Run(t.Context(), request)
	answer := call.Answer()
	assert.Equal(t, "long", answer.Text)
	assert.Equal(t, "not pruned: the original could not be stored", answer.Notice)
	assert.Equal(t, StoreFull, answer.Fallback)
	assert.Contains(t, way(call), "T20 E9")
	assert.Equal(t, "pruner_error", answer.Pruning.Reason)
	require.NotNil(t, answer.Pruning.Error)
	assert.Equal(t, "store_full: the original could not be stored: no space left on device", answer.Pruning.Error.Message)
}

// Where storing takes a trip to a database, the pruner works meanwhile. Its answer is used only if the original is stored.
func TestThePrunerWorksWhileTheOriginalIsStored(t *testing.T) {
	p := newPipeline(nil)
	pruned, lost := make(chan struct{}), false
	p.Pruner = scripted(func(ctx context.Context, r pruneclient.Request) (pruneclient.Result, error) {
		close(pruned)
		if lost {
			<-ctx.Done() // the pruner is told that it works in vain
		}
		return pruneclient.Result{Text: "short " + r.RecoveryID}, ctx.Err()
	})
	p.KeepBeside = func(_ context.Context, _ string, failed func()) (string, func() error) {
		return "prn_1", func() error {
			<-pruned
			return nil
		}
	}
	request := echoRequest(map[string]any{"text": "long", "question": "what?"})
	answer := p.Run(t.Context(), request).Answer()
	assert.Equal(t, "short prn_1", answer.Text)
	assert.Equal(t, "prn_1", answer.PruneID)

	pruned, lost = make(chan struct{}), true
	p.KeepBeside = func(_ context.Context, _ string, failed func()) (string, func() error) {
		go func() {
			<-pruned
			failed()
		}()
		return "prn_1", func() error { return syscall.ENOSPC }
	}
	answer = p.Run(t.Context(), request).Answer()
	assert.Equal(t, "long", answer.Text)
	assert.Equal(t, StoreFull, answer.Fallback)
	assert.Empty(t, answer.PruneID)
}

// Storing an original is cancelled together with its call.
func TestACancelledCallWaitsForNoStore(t *testing.T) {
	p := newPipeline(answering("short", nil))
	ctx, cancel := context.WithCancel(t.Context())
	p.Keep = func(ctx context.Context, _ string) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	}
	call := p.Run(ctx, echoRequest(map[string]any{"text": "long", "question": "what?"}))
	assert.Equal(t, fsm.InternalError, call.Machine().State())
}

func TestAPruneIDIsGivenOnlyForTextThatWasCut(t *testing.T) {
	p := newPipeline(answering("long", nil))
	p.Keep = func(context.Context, string) (string, error) { return "prn_1", nil }
	answer := p.Run(t.Context(), echoRequest(map[string]any{"text": "long", "question": "what?"})).Answer()
	assert.True(t, answer.Pruning.Applied)
	assert.Empty(t, answer.PruneID)
}

// pruned_bytes measures the pruner's answer, whatever a tool makes of it.
func TestPrunedBytesOfAnEmptyAnswer(t *testing.T) {
	p := newPipeline(answering("", nil))
	call := p.Run(t.Context(), echoRequest(map[string]any{"text": "long", "fallback": "other stream", "question": "what?"}))
	assert.Zero(t, *call.Pruning().PrunedBytes)
}

func TestDurationsAreMeasured(t *testing.T) {
	now := time.Unix(0, 0)
	p := newPipeline(scripted(func(context.Context, pruneclient.Request) (pruneclient.Result, error) {
		now = now.Add(250 * time.Millisecond)
		return pruneclient.Result{}, nil
	}))
	p.Now = func() time.Time { return now }
	pruning := p.Run(t.Context(), echoRequest(map[string]any{"text": "long", "question": "what?"})).Pruning()
	assert.EqualValues(t, 250, *pruning.PrunerDurationMS)
	assert.Zero(t, *pruning.PrunedBytes, "an empty answer is an answer")
}

// TestNamesInPathsStayWhole: a name may be empty, or end in the separator of names.
func TestNamesInPathsStayWhole(t *testing.T) {
	for path, want := range map[string]string{"": "arguments", "a": "arguments.a", "env.A.": "arguments.env.A.", "env.": "arguments.env."} {
		p := newPipeline(nil)
		p.Tools = []tools.Tool{{Name: "x", Check: func(map[string]any) (tools.Call, []tools.Issue) {
			return nil, []tools.Issue{{Path: path, Code: "custom"}}
		}}}
		answer := p.Run(t.Context(), Request{Params: map[string]any{"name": "x", "arguments": map[string]any{}}}).Answer()
		assert.Equal(t, []Issue{NewIssue(want, "custom")}, answer.Issues)
	}
}

func TestTheLogCutsWhatAClientSent(t *testing.T) {
	long := strings.Repeat("é", 1000)
	p, logged := newPipeline(nil), fsm.Event{}
	p.Tools[0].Check = func(map[string]any) (tools.Call, []tools.Issue) {
		var issues []tools.Issue
		for i := range 1000 {
			issues = append(issues, tools.Issue{Path: fmt.Sprintf("%05d%s", i, long), Code: "custom"})
		}
		return nil, issues
	}
	p.Emit = func(e fsm.Event) { logged = e }
	call := p.Run(t.Context(), echoRequest(nil))
	assert.Len(t, call.Answer().Issues, 1000, "the answer has all of them")
	require.Equal(t, "tool.request_invalid", logged.Name)
	require.NoError(t, logged.Check())
	assert.Less(t, len(logged.Data["message"].(string)), 20_000)
	assert.Len(t, logged.Data["validation_errors"], 100)
	assert.Less(t, len(fmt.Sprint(logged.Data["validation_errors"])), 20_000)
}

func TestParamsAreCheckedWhole(t *testing.T) {
	cases := map[string]struct {
		params any
		want   []Issue
	}{
		"no params":              {nil, []Issue{NewIssue("", "invalid_type")}},
		"a list":                 {[]any{}, []Issue{NewIssue("", "invalid_type")}},
		"nothing in it":          {map[string]any{}, []Issue{NewIssue("arguments", "invalid_type"), NewIssue("name", "invalid_type")}},
		"unknown tool":           {map[string]any{"name": "x", "arguments": map[string]any{}}, []Issue{NewIssue("name", "invalid_enum_value")}},
		"arguments are null":     {map[string]any{"name": "echo", "arguments": nil}, []Issue{NewIssue("arguments", "invalid_type")}},
		"the tool's own, sorted": {map[string]any{"name": "echo", "arguments": map[string]any{"bad": true}}, []Issue{NewIssue("arguments", "unrecognized_keys"), NewIssue("arguments.bad", "custom")}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer := newPipeline(nil).Run(t.Context(), Request{Params: c.params}).Answer()
			assert.Equal(t, InvalidParams, answer.Kind)
			assert.Equal(t, c.want, answer.Issues)
		})
	}
}

// TestOneByteIsNotEmpty: only an output without any byte is empty.
func TestOneByteIsNotEmpty(t *testing.T) {
	for text, reason := range map[string]string{"": "output_empty", "x": "", "\n": "", "xy": ""} {
		asked := 0
		pruner := scripted(func(_ context.Context, r pruneclient.Request) (pruneclient.Result, error) {
			asked++
			return pruneclient.Result{Text: r.Text}, nil
		})
		p := newPipeline(pruner)
		c := p.Run(t.Context(), echoRequest(map[string]any{"text": text, "question": "what?"}))
		took := slices.ContainsFunc(c.Machine().Steps(), func(s fsm.Step) bool { return s.Trigger == fsm.OutputEmpty })
		assert.Equal(t, reason != "", took, "%q", text)
		assert.Equal(t, reason == "", asked == 1, "%q", text)
	}
}

// TestIssuesAreSorted: by path, then by code, each once.
func TestIssuesAreSorted(t *testing.T) {
	want := []Issue{NewIssue("", "invalid_type"), NewIssue("a", "custom"), NewIssue("a", "too_big"), NewIssue("a.b", "custom"), NewIssue("b", "custom")}
	assert.Equal(t, want, SortIssues([]Issue{want[4], want[2], want[1], want[3], want[2], want[0], want[1]}))
}
