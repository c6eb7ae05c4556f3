package states

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// watcher records the calls it receives.
type watcher struct {
	mu        sync.Mutex
	answering []*Delivery
	ended     []*Delivery
}

func (w *watcher) Answering(d *Delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answering = append(w.answering, d)
}

func (w *watcher) Ended(d *Delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, d)
}

func watched(text string) (*Pipeline, *watcher) {
	w := new(watcher)
	p := newPipeline(answering(text, nil))
	p.Observers = []Observer{w}
	p.Keep = func(context.Context, string) (string, error) { return "prn_1", nil }
	return p, w
}

func TestObserversLearnWhatWasDelivered(t *testing.T) {
	p, w := watched("short")
	c := p.Run(t.Context(), echoRequest(map[string]any{"text": "long text", "question": "what?"}))
	c.Answer()
	c.Answering(100)
	require.Len(t, w.answering, 1)
	require.Empty(t, w.ended)
	c.Written(t.Context())
	require.Len(t, w.ended, 1)
	d := w.ended[0]
	raw, notice := d.Raw()
	assert.Equal(t, "long text", raw)
	assert.Empty(t, notice)
	assert.Equal(t, "short", d.Text)
	assert.Equal(t, "what?", d.Question)
	assert.Equal(t, "prn_1", d.PruneID)
	assert.Equal(t, "echo", d.Tool)
	assert.False(t, d.Whole())
	assert.NoError(t, d.Err)
	assert.Equal(t, fsm.Responded, d.Machine.State())
	assert.NotEmpty(t, d.Session)
}

func TestACallEndsOnce(t *testing.T) {
	p, w := watched("")
	c := p.Run(t.Context(), echoRequest(map[string]any{"text": "x"}))
	c.Answer()
	c.Answering(50)
	lost := errors.New("gone")
	c.WriteFailed(t.Context(), lost)
	c.Written(t.Context())
	c.Cancel(t.Context())
	require.Len(t, w.ended, 1)
	assert.Equal(t, lost, w.ended[0].Err)
	assert.Equal(t, fsm.InternalError, c.Machine().State())
}

// An answer that the client has not read when the process ends does not count as delivered.
func TestAbandonEndsWhatIsNotWritten(t *testing.T) {
	p, w := watched("")
	for range 3 {
		c := p.Run(t.Context(), echoRequest(map[string]any{"text": "x"}))
		c.Answer()
		c.Answering(50)
	}
	done := p.Run(t.Context(), echoRequest(map[string]any{"text": "x"}))
	done.Answering(50)
	done.Written(t.Context())
	p.Abandon(t.Context())
	p.Abandon(t.Context())
	require.Len(t, w.ended, 4)
	for _, d := range w.ended[1:] {
		assert.Equal(t, errEnded, d.Err)
		assert.Equal(t, fsm.InternalError, d.Machine.State())
	}
}

// A call for which no client waits ends without an answer.
func TestACancelledCallIsNotAnswered(t *testing.T) {
	p, w := watched("")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := p.Run(ctx, echoRequest(map[string]any{"text": "x"}))
	c.Answering(0)
	require.Empty(t, w.answering)
	require.Len(t, w.ended, 1)
	assert.Zero(t, w.ended[0].Wire)
	assert.Empty(t, w.ended[0].Text)
}

// passed is an output that was answered by another server.
type passed struct{ echoed }

func (passed) Opaque() *tools.Opaque {
	return &tools.Opaque{Content: []json.RawMessage{json.RawMessage(`{"type":"image"}`)}}
}

func (p passed) Run(context.Context) (tools.Output, error) { return p, nil }

func TestAnOpaqueOutputIsTheAnswer(t *testing.T) {
	p, _ := watched("")
	p.Tools = []tools.Tool{{Name: "echo", Check: func(map[string]any) (tools.Call, []tools.Issue) { return passed{echoed{text: "[image]"}}, nil }}}
	a := p.Run(t.Context(), echoRequest(map[string]any{})).Answer()
	require.NotNil(t, a.Opaque)
	assert.Equal(t, "[image]", a.Text)
	assert.JSONEq(t, `{"type":"image"}`, string(a.Opaque.Content[0]))
}
