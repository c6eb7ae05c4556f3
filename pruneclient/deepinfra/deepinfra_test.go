package deepinfra_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/deepinfra"
)

const secret = "sk-very-secret"

// model is a fake reranker that counts its calls.
type model struct {
	*httptest.Server
	calls atomic.Int32
}

func newModel(t *testing.T, answer http.HandlerFunc) *model {
	t.Helper()
	m := &model{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.calls.Add(1)
		answer(w, r)
	}))
	t.Cleanup(m.Close)
	return m
}

func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func newClient(t *testing.T, s deepinfra.Settings) *deepinfra.Client {
	t.Helper()
	if s.Key == "" {
		s.Key = secret
	}
	c, err := deepinfra.New(s)
	require.NoError(t, err)
	return c
}

func requireError(t *testing.T, err error, kind deepinfra.ErrorKind, status int) {
	t.Helper()
	var failed *deepinfra.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, deepinfra.Error{Kind: kind, Status: status}, *failed)
	assert.NotContains(t, err.Error(), secret)
}

func TestScoreReadsAnswers(t *testing.T) {
	worst := math.Inf(-1)
	for name, tc := range map[string]struct {
		body string
		want []float64 // nil: parse error
	}{
		"scores":                {`{"scores":[0.5,-3,1e3]}`, []float64{0.5, -3, 1e3}},
		"short list":            {`{"scores":[0]}`, []float64{0, worst, worst}},
		"null score":            {`{"scores":[1,null,-9]}`, []float64{1, worst, -9}},
		"long list":             {`{"scores":[1,2,3,4]}`, []float64{1, 2, 3}},
		"results, score":        {`{"results":[{"index":2,"score":9},{"index":0,"score":-1}]}`, []float64{-1, worst, 9}},
		"results, relevance":    {`{"results":[{"index":1,"relevance_score":0.5,"document":{"text":"b"}}]}`, []float64{worst, 0.5, worst}},
		"index out of range":    {`{"results":[{"index":7,"score":9},{"index":-1,"score":9},{"index":1,"score":1}]}`, []float64{worst, 1, worst}},
		"other fields":          {`{"scores":[1,2,3],"input_tokens":5,"inference_status":{"status":"ok"}}`, []float64{1, 2, 3}},
		"no scores":             {`{"scores":[]}`, nil},
		"only nulls":            {`{"scores":[null]}`, nil},
		"no list":               {`{}`, nil},
		"html":                  {`<html>`, nil},
		"NaN":                   {`{"scores":[NaN,1,2]}`, nil},
		"infinite":              {`{"scores":[1e999,1,2]}`, nil},
		"strings":               {`{"scores":["1","2","3"]}`, nil},
		"results without index": {`{"results":[{"score":1}]}`, nil},
		"bare numbers":          {`[1,2,3]`, []float64{1, 2, 3}},
		"bare results":          {` [{"index":2,"score":9},{"index":0,"score":1}]`, []float64{1, worst, 9}},
		"scores are results":    {`{"scores":[{"index":1,"score":9}]}`, []float64{worst, 9, worst}},
		"results are numbers":   {`{"results":[3,2,1]}`, []float64{3, 2, 1}},
		"result":                {`{"result":[3,2,1]}`, []float64{3, 2, 1}},
		"output":                {`{"output":[{"index":0,"score":5}]}`, []float64{5, worst, worst}},
		"data":                  {`{"object":"list","data":[{"index":0,"relevance_score":5}],"usage":{"total_tokens":3}}`, []float64{5, worst, worst}},
		"nested scores":         {`{"output":{"scores":[3,2,1]}}`, []float64{3, 2, 1}},
		"nested results":        {`{"result":{"results":[{"index":1,"score":2}]}}`, []float64{worst, 2, worst}},
		"one list per question": {`{"scores":[[3,2,1]]}`, []float64{3, 2, 1}},
		"bare list of one":      {`[[{"index":1,"score":2}]]`, []float64{worst, 2, worst}},
		"one document":          {`{"scores":[7]}`, []float64{7, worst, worst}},
		"index 1.0":             {`{"results":[{"index":1.0,"score":9}]}`, []float64{worst, 9, worst}},
		"empty, then another":   {`{"scores":[],"results":[{"index":1,"score":9}]}`, []float64{worst, 9, worst}},
		"scores first":          {`{"results":[9,9,9],"scores":[1,2,3]}`, []float64{1, 2, 3}},
		"null, then another":    {`{"scores":null,"data":[1,2,3]}`, []float64{1, 2, 3}},
		"mixed":                 {`[1,{"index":1,"score":2},3]`, nil},
		"lists of several":      {`{"scores":[[1,2,3],[4,5,6]]}`, nil},
		"too deep":              {`{"data":{"output":{"result":{"scores":[1,2,3]}}}}`, nil},
		"another field":         {`{"embeddings":[1,2,3]}`, nil},
		"index a string":        {`{"results":[{"index":"0","score":1}]}`, nil},
		"half an index":         {`{"results":[{"index":0.5,"score":1}]}`, nil},
		"infinite in results":   {`[{"index":0,"score":1e999},{"index":1,"score":1}]`, nil},
		"booleans":              {`[true,1,2]`, nil},
		"a number":              {`1`, nil},
		"null":                  {`null`, nil},
		"two values":            {`[1,2,3] [4]`, nil},
		"empty":                 {``, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, answers(200, tc.body))
			got, err := newClient(t, deepinfra.Settings{Endpoint: m.URL}).Score(t.Context(), "q", []string{"a", "b", "c"})
			if tc.want == nil {
				requireError(t, err, deepinfra.ParseError, 0)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, got.Of)
		})
	}
}

func TestScoreFails(t *testing.T) {
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		status int
	}{
		"401": {answers(401, `{"detail":"`+secret+`"}`), 401},
		"429": {answers(429, ``), 429},
		"500": {answers(500, ``), 500},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, 307},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "999")
			_, _ = io.WriteString(w, `{"scores":[1]}`)
		}, 0},
		"too slow": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, tc.answer)
			_, err := newClient(t, deepinfra.Settings{Endpoint: m.URL, Timeout: 200 * time.Millisecond}).Score(t.Context(), "q", []string{"a"})
			requireError(t, err, deepinfra.HTTPError, tc.status)
			assert.EqualValues(t, 1, m.calls.Load())
		})
	}
}

func TestScoreWithoutAKeySendsNothing(t *testing.T) {
	for _, key := range []string{"", " \n", "sk-one\nsk-two", "sk\x00"} {
		m := newModel(t, answers(200, `{"scores":[1]}`))
		c, err := deepinfra.New(deepinfra.Settings{Endpoint: m.URL, Key: key})
		require.NoError(t, err)
		_, err = c.Score(t.Context(), "q", []string{"a"})
		requireError(t, err, deepinfra.ConfigError, 0)
		assert.Zero(t, m.calls.Load())
	}
}

func TestScoreTrimsTheKey(t *testing.T) {
	m := newModel(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer "+secret, r.Header.Get("Authorization"))
		answers(200, `{"scores":[1]}`)(w, r)
	})
	_, err := newClient(t, deepinfra.Settings{Endpoint: m.URL, Key: " " + secret + "\r\n"}).Score(t.Context(), "q", []string{"a"})
	require.NoError(t, err)
}

// Endpoints disagree on the request. The one that fits is found, and found once.
func TestScoreTriesBothForms(t *testing.T) {
	for name, tc := range map[string]struct {
		path   string
		wants  string // the field the endpoint accepts
		status int
		calls  int32 // for two different questions
	}{
		"query, at once":          {"/rerank", "query", 422, 2},
		"queries, on second try":  {"/rerank", "queries", 422, 3},
		"queries after a 400":     {"/rerank", "queries", 400, 3},
		"default model, at once":  {"/v1/inference/Qwen/Qwen3-Reranker-0.6B", "queries", 422, 2},
		"default model elsewhere": {"/v1/inference/Qwen/Qwen3-Reranker-0.6B", "query", 422, 3},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				_ = json.NewDecoder(r.Body).Decode(&body)
				assert.Equal(t, "Bearer "+secret, r.Header.Get("Authorization"))
				assert.Equal(t, []any{"<a>", "b"}, body["documents"])
				assert.Len(t, body, 2)
				if _, ok := body[tc.wants]; !ok {
					w.WriteHeader(tc.status)
					return
				}
				_, _ = io.WriteString(w, `{"scores":[1,2]}`)
			})
			c := newClient(t, deepinfra.Settings{Endpoint: m.URL + tc.path})
			for _, question := range []string{"one", "two"} {
				got, err := c.Score(t.Context(), question, []string{"<a>", "b"})
				require.NoError(t, err)
				assert.Equal(t, []float64{1, 2}, got.Of)
			}
			assert.Equal(t, tc.calls, m.calls.Load())
		})
	}
}

func TestScoreRefusedInBothForms(t *testing.T) {
	m := newModel(t, answers(422, ``))
	_, err := newClient(t, deepinfra.Settings{Endpoint: m.URL}).Score(t.Context(), "q", []string{"a"})
	requireError(t, err, deepinfra.HTTPError, 422)
	assert.EqualValues(t, 2, m.calls.Load())
}

func TestScoreRemembers(t *testing.T) {
	now := time.Now()
	ttl, items := time.Second, 2
	m := newModel(t, answers(200, `{"scores":[1]}`))
	c := newClient(t, deepinfra.Settings{Endpoint: m.URL, CacheTTL: &ttl, CacheMaxItems: &items, Now: func() time.Time { return now }})
	ask := func(question string, docs ...string) deepinfra.Scores {
		got, err := c.Score(t.Context(), question, docs)
		require.NoError(t, err)
		return got
	}
	assert.False(t, ask("a", "x").Cached)
	again := ask("a", "x")
	assert.True(t, again.Cached)
	assert.Zero(t, again.Latency)
	assert.Equal(t, []float64{1}, again.Of)
	assert.False(t, ask("b", "x").Cached, "another question")
	assert.False(t, ask("a", "x", "").Cached, "other documents")
	assert.False(t, ask("a", "x").Cached, "pushed out by two newer ones")
	now = now.Add(ttl)
	assert.False(t, ask("a", "x").Cached, "too old")
	assert.EqualValues(t, 5, m.calls.Load())
}

func TestScoreCacheOff(t *testing.T) {
	zero, none := time.Duration(0), 0
	for name, s := range map[string]deepinfra.Settings{"ttl": {CacheTTL: &zero}, "items": {CacheMaxItems: &none}} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, answers(200, `{"scores":[1]}`))
			s.Endpoint = m.URL
			c := newClient(t, s)
			for range 2 {
				got, err := c.Score(t.Context(), "q", []string{"a"})
				require.NoError(t, err)
				assert.False(t, got.Cached)
			}
		})
	}
}

func TestScoreForgetsFailures(t *testing.T) {
	status := atomic.Int32{}
	status.Store(500)
	m := newModel(t, func(w http.ResponseWriter, r *http.Request) {
		answers(int(status.Load()), `{"scores":[1]}`)(w, r)
	})
	c := newClient(t, deepinfra.Settings{Endpoint: m.URL})
	_, err := c.Score(t.Context(), "q", []string{"a"})
	requireError(t, err, deepinfra.HTTPError, 500)
	status.Store(200)
	_, err = c.Score(t.Context(), "q", []string{"a"})
	require.NoError(t, err)
}

// held is a model that answers once released, and says when a call arrives and
// when one is given up.
func held(t *testing.T) (m *model, release func(), arrived, gone chan struct{}) {
	t.Helper()
	open := make(chan struct{})
	arrived, gone = make(chan struct{}, 9), make(chan struct{}, 9)
	release = sync.OnceFunc(func() { close(open) })
	m = newModel(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		select {
		case <-open:
			_, _ = io.WriteString(w, `{"scores":[1]}`)
		case <-r.Context().Done():
			gone <- struct{}{}
		}
	})
	t.Cleanup(release)
	return m, release, arrived, gone
}

func TestScoreSharesTheCallUnderWay(t *testing.T) {
	m, release, arrived, _ := held(t)
	c := newClient(t, deepinfra.Settings{Endpoint: m.URL})
	type outcome struct {
		deepinfra.Scores
		error
	}
	ended := make(chan outcome, 5)
	ask := func(ctx context.Context) {
		got, err := c.Score(ctx, "q", []string{"a"})
		ended <- outcome{got, err}
	}
	// Whoever caused the call gives up; those who joined it still get their answer.
	first, giveUp := context.WithCancel(t.Context())
	go ask(first)
	<-arrived
	waiting := make(chan struct{}, 4)
	for range 4 {
		go func() { waiting <- struct{}{}; ask(t.Context()) }()
	}
	for range 4 {
		<-waiting
	}
	require.Eventually(t, func() bool { return c.Waiting() == 5 }, time.Minute, time.Millisecond)
	giveUp()
	require.ErrorIs(t, (<-ended).error, context.Canceled)
	release()
	for range 4 {
		o := <-ended
		require.NoError(t, o.error)
		assert.True(t, o.Cached)
	}
	assert.EqualValues(t, 1, m.calls.Load())
}

func TestScoreEndsACallNobodyWaitsFor(t *testing.T) {
	m, _, arrived, gone := held(t)
	c := newClient(t, deepinfra.Settings{Endpoint: m.URL})
	for range 2 { // the second one does not join the call being cancelled
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := c.Score(ctx, "q", []string{"a"})
			ended <- err
		}()
		<-arrived
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		<-gone
	}
}

func TestNewClient(t *testing.T) {
	for asked, want := range map[int]int{0: 64, 1: 1, -5: 1, 512: 512, 100000: 512} {
		assert.Equal(t, want, newClient(t, deepinfra.Settings{MaxDocs: asked}).MaxDocs(), fmt.Sprint(asked))
	}
	for _, endpoint := range []string{"rerank", "ftp://host/", "https://", "http://u:" + secret + "@[/"} {
		_, err := deepinfra.New(deepinfra.Settings{Endpoint: endpoint})
		assert.EqualError(t, err, "the DeepInfra endpoint must be an absolute http or https URL")
	}
}
