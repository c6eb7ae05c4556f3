package mcpserver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
)

// TestParamsAreDecodedOnce erases the bytes of the params after they were first decoded: the call needs them no more.
func TestParamsAreDecodedOnce(t *testing.T) {
	s := newTestServer(Config{})
	var session Session
	m := Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nap","arguments":{"seconds":0},"_meta":{"progressToken":1}}}`))
	require.NotNil(t, m.params().object)
	clear(m.Params)
	reply := s.Answer(t.Context(), &session, m)
	body, err := reply.Begin(t.Context())
	require.NoError(t, err)
	reply.Written(t.Context())
	assert.Contains(t, string(body), `"content":"slept <well> & long"`)
}

// spanned is an observer that keeps the latest delivery.
type spanned struct{ last *states.Delivery }

func (o *spanned) Answering(*states.Delivery) {}

func (o *spanned) Ended(d *states.Delivery) { o.last = d }

// A valid traceparent reaches the log and the observers; anything else in its place reaches neither.
func TestTraceContext(t *testing.T) {
	const span = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for meta, want := range map[string]string{
		`{"traceparent":"` + span + `"}`: span,
		`{"traceparent":"` + span + `","tracestate":"` + strings.Repeat("a=b,", 1<<16) + `"}`: span,
		`{"traceparent":"` + span + `","tracestate":[7],"baggage":{}}`:                        span,
		`{"traceparent":"` + span + ` "}`:                                                     "",
		`{"traceparent":"` + span + `\n"}`:                                                    "",
		`{"traceparent":"` + strings.ToUpper(span) + `"}`:                                     "",
		`{"traceparent":"ff` + span[2:] + `"}`:                                                "",
		`{"traceparent":"00-` + strings.Repeat("0", 32) + span[35:] + `"}`:                    "",
		`{"traceparent":"` + span[:36] + strings.Repeat("0", 16) + `-01"}`:                    "",
		`{"traceparent":"` + strings.Repeat(span, 1<<14) + `"}`:                               "",
		`{"traceparent":"rm -rf"}`:                                                            "",
		`{"traceparent":7}`:                                                                   "",
		`{"traceparent":["` + span + `"]}`:                                                    "",
		`{}`:                                                                                  "",
	} {
		s := newTestServer(Config{})
		var logged []fsm.Event
		observer := new(spanned)
		s.config.Pipeline.Observers = []states.Observer{observer}
		s.config.Pipeline.Emit = func(e fsm.Event) { logged = append(logged, e) }
		var session Session
		reply := s.Answer(t.Context(), &session,
			Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nap","arguments":{},"_meta":`+meta+`}}`)))
		_, err := reply.Begin(t.Context())
		require.NoError(t, err)
		reply.Written(t.Context())
		assert.Equal(t, want, observer.last.Parent, meta)
		require.Equal(t, "tool.request_received", logged[0].Name)
		if want == "" {
			assert.NotContains(t, logged[0].Data, "traceparent", meta)
		} else {
			assert.Equal(t, want, logged[0].Data["traceparent"])
		}
	}
}

// A client that names no model costs nothing.
func TestTheModelIsLookedForWithoutAllocations(t *testing.T) {
	p := newParams(map[string]any{"_meta": map[string]any{"progressToken": "t"}})
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.model() }))
	for _, said := range []any{`{"model":"m"}`, map[string]any{"model": "m"}} {
		assert.Equal(t, "m", newParams(map[string]any{"_meta": map[string]any{"x-codex-turn-metadata": said}}).model())
	}
}
