package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// What a small compressed body becomes counts. A request that finds no room is told so in the words of its API, small ones need none,
// and another subject has its own.
func TestBodiesFindRoomOrAreRefused(t *testing.T) {
	r := newRig(t, database(t), GC)
	r.server.bodies, r.server.room = web.NewBudget(64<<20, time.Minute, time.Minute), time.Millisecond
	send := func(subject, path string, body []byte, encoding string) (int, string) {
		t.Helper()
		q := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+path, bytes.NewReader(body))
		q.Header.Set("Content-Encoding", encoding)
		got := httptest.NewRecorder()
		r.server.ServeHTTP(got, q.WithContext(agent.WithSubject(q.Context(), subject)))
		if got.Code == http.StatusServiceUnavailable {
			assert.NotEmpty(t, got.Header().Get("Retry-After"))
		}
		return got.Code, got.Body.String()
	}
	plain := []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat("x", 1<<20) + `"}]}`)
	packed := zipped(t, plain)

	first, beyond := r.server.bodies.Hold("bob"), r.server.bodies.Hold("bob")
	require.NoError(t, first.Grow(t.Context(), 32<<20))
	require.NoError(t, beyond.Grow(t.Context(), 1))
	for path, words := range map[string]string{messagesPath: `"type":"error"`, chatPath: `"error":{`, compressPath: "send fewer large ones"} {
		status, text := send("bob", path, map[bool][]byte{true: plain, false: packed}[path == compressPath], "gzip")
		assert.Equal(t, http.StatusServiceUnavailable, status, path)
		assert.Contains(t, text, words)
		assert.Contains(t, text, "try again, or send fewer large ones at a time")
	}
	assert.Empty(t, r.up.bodies)
	status, _ := send("bob", messagesPath, []byte(`{"messages":[]}`), "")
	assert.Equal(t, http.StatusOK, status, "a small one waits for nobody")
	for range 3 { // what they took they give back
		status, _ = send("ann", messagesPath, packed, "gzip")
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, packed, r.up.last())
	}
	beyond.Release()
	first.Release()
	status, _ = send("bob", messagesPath, packed, "gzip")
	assert.Equal(t, http.StatusOK, status)
}

// One subject's answers in progress have a limit, which is nobody else's.
func TestAnswersInProgressHaveALimit(t *testing.T) {
	r := newRig(t, database(t), GC)
	kept, _ := r.server.answers.LoadOrStore("bob", new(atomic.Int64))
	kept.(*atomic.Int64).Store(maxAnswers - 1)
	send := func(subject string) int {
		q := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+messagesPath, strings.NewReader(`{"messages":[]}`))
		got := httptest.NewRecorder()
		r.server.ServeHTTP(got, q.WithContext(agent.WithSubject(q.Context(), subject)))
		return got.Code
	}
	assert.Equal(t, []int{200, 200}, []int{send("bob"), send("bob")}, "what has ended does not count")
	kept.(*atomic.Int64).Store(maxAnswers)
	assert.Equal(t, []int{429, 429, 200}, []int{send("bob"), send("bob"), send("ann")})
	kept, _ = r.server.answers.LoadOrStore("", new(atomic.Int64))
	kept.(*atomic.Int64).Store(maxAnswers)
	assert.Equal(t, 200, send(""))
}

// zipped returns a body with gzip's compression.
func zipped(t *testing.T, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(plain)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// prepared returns what a proxy sends on when room bytes are left, and how many it counts until the answer; nil if it found no room.
func prepared(t *testing.T, r *rig, room int, body []byte, encoding string) (sent *http.Request, counted int) {
	t.Helper()
	r.server.bodies, r.server.room = web.NewBudget(int64(room), time.Minute, time.Minute), time.Millisecond
	beyond, held := r.server.bodies.Hold(""), r.server.bodies.Hold("")
	require.NoError(t, beyond.Grow(t.Context(), int64(room+1)))
	q := httptest.NewRequest(http.MethodPost, messagesPath, bytes.NewReader(body))
	q.Header.Set("Content-Encoding", encoding)
	sent = r.server.prepare(httptest.NewRecorder(), q, wire.APIOf(messagesPath), held)
	now, cancel := context.WithCancel(t.Context())
	cancel()
	return sent, room - sort.Search(room, func(n int) bool {
		rest := r.server.bodies.Hold("")
		defer rest.Release()
		return rest.Grow(now, int64(n+1)) != nil
	})
}

// What is held of a request counts, and once: the text that was unpacked until it was read, what is made of its values until it is rewritten,
// and the body until the answer. Few bytes that unpack to many, and more values than a history has, pass unchanged.
func TestWhatIsHeldCounts(t *testing.T) {
	r := newRig(t, database(t), GC)
	messages := func(n int) []byte {
		return []byte(`{"messages":[{"role":"user","content":""}` + strings.Repeat(`,{"role":"user","content":""}`, n-1) + `]}`)
	}
	exchangeOf := func(q *http.Request) *exchange {
		x, _ := q.Context().Value(exchangeKey{}).(*exchange)
		return x
	}
	large := []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat("x", 2<<20) + `"}]}`)
	_, counted := prepared(t, r, 32<<20, large, "")
	assert.Equal(t, len(large)-2*smallBody, counted)
	sent, counted := prepared(t, r, 32<<20, zipped(t, large), "gzip")
	assert.Zero(t, counted)
	assert.Zero(t, len(exchangeOf(sent).outcome.Body), "the text that was unpacked")
	sent, _ = prepared(t, r, 16<<20, messages(30_000), "")
	assert.True(t, sent == nil, "what is made of 90,000 values finds no room")
	sent, _ = prepared(t, r, 64<<20, messages(30_000), "")
	assert.True(t, exchangeOf(sent) != nil)

	many := messages(90_000)
	for encoding, body := range map[string][]byte{"": many, "gzip": zipped(t, []byte(`{"messages":[{"role":"user","content":"`+strings.Repeat("x", maxBody-100)+`"}]}`))} {
		sent, counted = prepared(t, r, 24<<20, body, encoding)
		if assert.True(t, sent != nil, encoding) {
			assert.True(t, exchangeOf(sent) == nil, "it passes %s", encoding)
			got, err := io.ReadAll(sent.Body)
			require.NoError(t, err)
			assert.Equal(t, len(body), len(got))
			assert.Equal(t, max(0, len(body)-2*smallBody), counted)
		}
	}
}

// Four ordinary requests at once find room, and so does the largest one that Anthropic takes, in a proxy of 256 MiB.
func TestOrdinaryRequestsFindRoom(t *testing.T) {
	r := newRig(t, database(t), GC)
	assert.LessOrEqual(t, memoryLimit, 256<<20)
	sent, _ := prepared(t, r, bodyBudget/4, claudeHistory(500), "")
	assert.True(t, sent != nil)
	sent, _ = prepared(t, r, bodyBudget, []byte(`{"messages":[{"role":"user","content":"`+strings.Repeat("x", 32<<20)+`"}]}`), "")
	assert.True(t, sent != nil)
}

// A body that does not come is refused, and nothing of it is sent on.
func TestABodyThatDoesNotCome(t *testing.T) {
	r := newRig(t, database(t), GC)
	r.server.bodies = web.NewBudget(bodyBudget, time.Millisecond, time.Minute)
	in, out := io.Pipe()
	defer func() { _ = out.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.proxy.URL+messagesPath, in)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(q)
	require.NoError(t, err)
	assert.Equal(t, http.StatusRequestTimeout, res.StatusCode)
	require.NoError(t, res.Body.Close())
	assert.Empty(t, r.up.bodies)
}

// An original takes room until it was read.
func TestOriginalsFindRoomOrAreRefused(t *testing.T) {
	r := newRig(t, database(t), GC)
	r.server.patience, r.server.bodies = time.Millisecond, web.NewBudget(bodyBudget, time.Minute, time.Minute)
	r.server.work.Load().original = func(context.Context, string) (string, error) { return strings.Repeat("x", 1<<20), nil }
	first, beyond := r.server.bodies.Hold(""), r.server.bodies.Hold("")
	require.NoError(t, first.Grow(t.Context(), bodyBudget))
	require.NoError(t, beyond.Grow(t.Context(), 1))
	ask := func() int {
		got := httptest.NewRecorder()
		r.server.ServeHTTP(got, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+retrievePath+strings.Repeat("a", 24), nil))
		return got.Code
	}
	assert.Equal(t, http.StatusServiceUnavailable, ask())
	first.Release()
	beyond.Release()
	r.server.patience = patience
	assert.Equal(t, http.StatusOK, ask())
}

// deadlines is an answer that keeps the time until which it may be written.
type deadlines struct {
	*httptest.ResponseRecorder
	until time.Time
}

// SetWriteDeadline implements what http.ResponseController asks for.
func (d *deadlines) SetWriteDeadline(until time.Time) error {
	d.until = until
	return nil
}

// A gateway that does not read its answer does not hold the connection for ever.
func TestAnswersForGatewaysHaveADeadline(t *testing.T) {
	r := newRig(t, database(t), GC)
	r.server.work.Load().original = func(context.Context, string) (string, error) { return "x", nil }
	for path, body := range map[string]string{compressPath: `{"messages":[{"role":"user","content":"x"}]}`, retrievePath + strings.Repeat("a", 24): ""} {
		method := map[bool]string{true: http.MethodGet, false: http.MethodPost}[body == ""]
		got := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		r.server.ServeHTTP(got, httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body)))
		assert.Equal(t, http.StatusOK, got.Code)
		assert.WithinDuration(t, time.Now().Add(bodyStall), got.until, bodyStall/2, path)
	}
}

// An upstream's headers without end are no answer.
func TestHeadersOfAnUpstreamHaveALimit(t *testing.T) {
	r := newRig(t, database(t), GC)
	r.up.answer = func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Big", strings.Repeat("y", 2<<20)) }
	res, err := http.Post(r.proxy.URL+messagesPath, "application/json", strings.NewReader(`{"messages":[]}`))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusBadGateway, res.StatusCode)
}
