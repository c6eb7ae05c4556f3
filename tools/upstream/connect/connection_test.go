package connect

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// client is a client that records the latest question.
type client struct {
	Caller
	asked string
}

func (c *client) Session() any { return c }
func (c *client) Capabilities() json.RawMessage {
	return json.RawMessage(`{"roots":{},"elicitation":{}}`)
}
func (c *client) Ask(_ context.Context, method string, params json.RawMessage) (json.RawMessage, *tools.RPCError, error) {
	c.asked = method + " " + string(params)
	return json.RawMessage(`{}`), nil, nil
}

// TestQuestionsWithoutParams: a client may refuse "params": null, and then its
// connection is of no use.
func TestQuestionsWithoutParams(t *testing.T) {
	user := &client{}
	c := &connection{owner: user, gone: make(chan struct{})}
	_, err := c.asked(t.Context(), transport.JSONRPCRequest{Method: "roots/list"})
	require.NoError(t, err)
	assert.Equal(t, "roots/list ", user.asked)
}

// TestAQuestionInAnAnswerBelongsToItsCall checks a transport that says during which call the upstream asks.
func TestAQuestionInAnAnswerBelongsToItsCall(t *testing.T) {
	alice, bob := &client{}, &client{}
	c := &connection{calls: map[string]*pendingCall{}, gone: make(chan struct{})}
	of, _ := c.begin(alice)
	_, end := c.begin(bob)
	question := transport.JSONRPCRequest{Method: "elicitation/create", Params: json.RawMessage(`{}`)}
	answer, err := c.asked(context.WithValue(t.Context(), pendingKey{}, of), question)
	require.NoError(t, err)
	assert.Nil(t, answer.Error)
	assert.NotEmpty(t, alice.asked)
	assert.Empty(t, bob.asked)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	end(gone)
	caller, calling := c.only()
	assert.True(t, calling)
	assert.Nil(t, caller)
	assert.Nil(t, c.last[1].caller, "what a cancelled call was given is not kept")
	c.last[1].cancelled = time.Now().Add(-2 * cancelledFor)
	caller, _ = c.only()
	assert.Same(t, alice, caller.(*queued).Caller)
}

// unread is a client that does not read for a while.
type unread struct {
	client
	reads <-chan struct{}
	mu    sync.Mutex
	got   []any
}

func (*unread) ProgressToken() any { return "his" }
func (u *unread) Notify(_ string, params any) {
	<-u.reads
	u.mu.Lock()
	defer u.mu.Unlock()
	u.got = append(u.got, params.(map[string]any)["progress"])
}

// TestAClientThatDoesNotReadHoldsUpNobodyElse: on a connection that several share, neither its progress nor its updates stop the reader.
func TestAClientThatDoesNotReadHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := make(chan struct{})
		alice := &unread{reads: reads}
		c := &connection{calls: map[string]*pendingCall{}, gone: make(chan struct{})}
		of, end := c.begin(alice)
		for n := range 100_000 {
			c.progress(map[string]any{"progressToken": of.token, "progress": n})
		}
		s := &Server{watched: watched{"a": {}}}
		s.watched["a"][alice] = s.apart(func(string) { <-reads })
		s.updated("a")
		ended := make(chan struct{})
		go func() {
			end(t.Context())
			close(ended)
		}()
		synctest.Wait()
		select {
		case <-ended:
			t.Fatal("the answer must not overtake the progress")
		default:
		}
		close(reads)
		<-ended
		assert.Less(t, len(alice.got), 5000, "what finds no room is left out")
		for n, got := range alice.got {
			require.Equal(t, n, got)
		}
	})
}

// patient is a client that never answers.
type patient struct {
	client
	asked chan context.Context
}

func (p *patient) Session() any { return p }
func (p *patient) Ask(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, *tools.RPCError, error) {
	p.asked <- ctx
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

// asks has a server ask n questions, and returns the code and text of each answer.
func asks(c *connection, method, params string, n int) <-chan string {
	answers := make(chan string, n)
	for i := range n {
		go func() {
			answer, _ := c.asked(context.Background(), transport.JSONRPCRequest{ID: mcp.NewRequestId(int64(i)), Method: method, Params: json.RawMessage(params)})
			answers <- fmt.Sprint(answer.Error.Code, " ", answer.Error.Message)
		}()
	}
	return answers
}

// TestQuestionsHaveALimit: further questions are refused at once, and a long one counts as several.
func TestQuestionsHaveALimit(t *testing.T) {
	for params, fit := range map[string]int{`{}`: maxQuestions, `{"x":"` + strings.Repeat("x", 1<<20) + `"}`: maxQuestions / 2} {
		user := &patient{asked: make(chan context.Context)}
		c := &connection{owner: user, gone: make(chan struct{})}
		answers := asks(c, "elicitation/create", params, fit+3)
		for range fit {
			<-user.asked
		}
		for range 3 {
			assert.Equal(t, "-32603 too many questions wait for an answer", <-answers)
		}
		c.lost()
		for range fit {
			assert.Contains(t, <-answers, "-32800 the question was cancelled")
		}
		assert.Empty(t, c.questions)
	}
}

// TestQuestionsEndWithTheirCall: those of a call that was cancelled or answered are answered with an error, and further ones of a
// cancelled one are refused. Those that belong to no call stay.
func TestQuestionsEndWithTheirCall(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		user := &patient{asked: make(chan context.Context)}
		c := &connection{owner: user, calls: map[string]*pendingCall{}, gone: make(chan struct{})}
		roots := asks(c, "roots/list", `{}`, 1)
		<-user.asked
		_, endFirst := c.begin(user)
		_, endOther := c.begin(user)
		of := asks(c, "elicitation/create", `{}`, 1)
		ctx := <-user.asked
		task := asks(c, "elicitation/create", `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}`, 1)
		<-user.asked

		gone, cancel := context.WithCancel(t.Context())
		if cancelled {
			cancel()
		}
		endFirst(gone)
		require.NoError(t, ctx.Err(), "it may belong to the other call")
		endOther(gone)
		assert.Equal(t, "-32800 the question was cancelled, or the call that it belongs to has ended", <-of)
		if cancelled {
			assert.Equal(t, "-32603 the call that it belongs to was cancelled", <-asks(c, "elicitation/create", `{}`, 1))
		}
		assert.Empty(t, roots)
		assert.Empty(t, task)
		assert.Len(t, c.questions, 2)
		cancel()
		c.lost()
		<-roots
		<-task
	}
}

// hung is the transport to a server that takes no notification.
type hung struct {
	transport.Interface
	sent atomic.Int32
}

func (h *hung) SendNotification(ctx context.Context, _ mcp.JSONRPCNotification) error {
	h.sent.Add(1)
	<-ctx.Done()
	return ctx.Err()
}

// TestAServerThatTakesNoNotificationsIsSentFew: a client that announces changed roots without end does not use up all connections.
func TestAServerThatTakesNoNotificationsIsSentFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := &hung{}, New(Config{Name: "box", Problem: "it hangs"}, Options{})
		s.conn = &connection{link: link{transport: h}}
		for range 1000 {
			s.Tell("notifications/roots/list_changed", nil)
		}
		synctest.Wait()
		assert.EqualValues(t, maxTelling, h.sent.Load())
		time.Sleep(listWithin)
		synctest.Wait()
		s.Tell("notifications/roots/list_changed", nil)
		synctest.Wait()
		assert.EqualValues(t, maxTelling+1, h.sent.Load())
		s.end()
	})
}

// TestLongURIsThatAreWatchedHaveALimit: one client's subscriptions do not fill the memory.
func TestLongURIsThatAreWatchedHaveALimit(t *testing.T) {
	s := New(Config{Name: "box", Problem: "it is away"}, Options{})
	s.watched[strings.Repeat("u", 600<<10)] = map[any]func(string){1: nil}
	refusal := func(uri string) string {
		_, refused := s.Watch(t.Context(), uri, 2, nil, nil)
		require.NotNil(t, refused)
		return refused.Message
	}
	for _, letter := range []string{"u", "v"} {
		assert.Contains(t, refusal(strings.Repeat(letter, 600<<10)), "too many resources")
	}
	assert.Contains(t, refusal("w:"), "it is away")
	assert.Equal(t, 601, s.watched.size())
}

// TestAPersonMayTakeLongerThanTheTransport: over HTTP it gives a question a deadline, and its answer the same one.
func TestAPersonMayTakeLongerThanTheTransport(t *testing.T) {
	over, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	user := &patient{asked: make(chan context.Context)}
	c := &connection{owner: user, gone: make(chan struct{})}
	asked := make(chan *transport.JSONRPCResponse)
	go func() {
		answer, _ := c.asked(over, transport.JSONRPCRequest{ID: mcp.NewRequestId("q,1"), Method: "elicitation/create"})
		asked <- answer
	}()
	require.NoError(t, (<-user.asked).Err())
	c.cancelled(map[string]any{"requestId": "q,1"})

	body, err := json.Marshal(<-asked)
	require.NoError(t, err)
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		all, _ := io.ReadAll(r.Body)
		got <- string(all)
	}))
	defer server.Close()
	send := func(body string) error {
		request, err := http.NewRequestWithContext(over, http.MethodPost, server.URL, strings.NewReader(body))
		require.NoError(t, err)
		answer, err := (&http.Client{Transport: readableHTTP{}}).Do(request)
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}
	require.NoError(t, send(string(body)))
	assert.Equal(t, string(body), <-got)
	assert.ErrorIs(t, send(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`), context.DeadlineExceeded, "what is no answer")
}
