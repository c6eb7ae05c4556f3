package proxy

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Requests that are not understood pass through byte for byte.
func TestEverythingElsePassesThrough(t *testing.T) {
	r := newRig(t, database(t), GC)
	for _, body := range []string{``, `{`, `[]`, `"x"`, `{"messages":7}`, `{"messages":[{"role":"user"}]}`, `{"messages":[{"role":"user","content":[{"type":}]}]}`,
		"{\"messages\":[\"\xff\xfe\"]}", `{"input":"just a question"}`, `{"contents":[{"role":"user","parts":[{"functionResponse":{"response":3}}]}]}`} {
		for _, api := range apis {
			assert.Equal(t, body, string(r.post(t, api.path, []byte(body))))
		}
	}
	for _, twice := range []string{`{"messages":[],`, `{"mess\u0061ges":[],`, `{"messages":[{"role":"user","content":"else"}],`} {
		for _, body := range []string{twice + string(claudeHistory(40)[1:]), strings.Replace(twice, "{", strings.TrimSuffix(string(claudeHistory(40)), "}")+",", 1)} {
			body = strings.TrimSuffix(strings.TrimSuffix(body, ","), "}") + "}"
			require.True(t, json.Valid([]byte(body)))
			assert.True(t, body == string(r.post(t, "/v1/messages", []byte(body))), "%s: which of them counts is unknown", twice)
		}
	}
	odd := []byte("  " + string(full(claudeHistory(3))) + "\n")
	assert.Equal(t, string(odd), string(r.post(t, "/v1/messages", odd)))
	assert.Equal(t, "anything", string(r.post(t, "/v1/files", []byte("anything"))))
}

// If the store fails, requests pass through and only the saving is lost.
func TestABrokenStoreStopsNothing(t *testing.T) {
	r := newRig(t, database(t), GC)
	sent := r.post(t, "/v1/messages", claudeHistory(40))
	require.NoError(t, r.store.Close())
	r.advance(time.Hour)
	assert.Equal(t, string(sent), string(r.post(t, "/v1/messages", claudeHistory(40))), "what was decided holds")
	more := claudeHistory(60)
	assert.Contains(t, string(r.post(t, "/v1/messages", more)), "output of call 59,")
	assert.Contains(t, r.logged(), "proxy.passed_through")
}

// A ledger that is removed, truncated or replaced switches clearing off for every session at once. The proxy says so, opens another one,
// and clears again, without a restart.
func TestALostLedgerHeals(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(file string) error{
		"removed":           os.Remove,
		"replaced":          func(file string) error { return os.Rename(file, file+".old") },
		"emptied":           func(file string) error { return os.Truncate(file, 0) },
		"replaced in place": func(file string) error { return os.WriteFile(file, make([]byte, 1<<16), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up, file := newUpstream(t), database(t)
			p := startChild(t, up.URL, file, childRetry+"=15s") // longer than what comes before the next try
			p.post(t, claudeHistory(40))
			require.Positive(t, cleared(up.last()))
			require.NoError(t, spoil(file))
			p.post(t, full(claudeHistory(40)))
			assert.True(t, bytes.Equal(full(claudeHistory(40)), up.last()), "its ids would lead nowhere")
			assert.Equal(t, Passing, p.health(t).Status)
			other := bytes.Replace(full(claudeHistory(41)), []byte("fix the bug"), []byte("add a test"), 1)
			p.post(t, other)
			assert.True(t, bytes.Equal(other, up.last()), "another session")
			require.Eventually(t, func() bool {
				p.post(t, other)
				return cleared(up.last()) > 0
			}, time.Minute, 10*time.Millisecond)
			assert.Equal(t, OK, p.health(t).Status)
			log := p.end(t)
			assert.Equal(t, 1, strings.Count(log, `"ledger.failed"`), log)
			assert.Equal(t, 1, strings.Count(log, `"ledger.restored"`))
		})
	}
}

// A proxy whose ledger cannot be opened when it starts opens it later.
func TestALedgerThatCannotBeOpenedHeals(t *testing.T) {
	up, dir := newUpstream(t), t.TempDir()
	file := filepath.Join(dir, "folder", "ledger.db")
	require.NoError(t, os.WriteFile(filepath.Dir(file), nil, 0o600))
	p := startChild(t, up.URL, file)
	p.post(t, claudeHistory(40))
	assert.Zero(t, cleared(up.last()))
	assert.Equal(t, Passing, p.health(t).Status)
	require.NoError(t, os.Remove(filepath.Dir(file)))
	require.Eventually(t, func() bool {
		p.post(t, claudeHistory(40))
		return cleared(up.last()) > 0
	}, time.Minute, 10*time.Millisecond)
}

// A value of one request that the ledger cannot hold is that request's error: for the others the ledger works, and its text is shown to nobody.
func TestAValueThatCannotBeStoredStopsNobodyElse(t *testing.T) {
	r := newRig(t, database(t), GC)
	r.engine.Store = &unfit{r.store}
	body := string(full(claudeHistory(40)))
	assert.Equal(t, body, string(r.post(t, "/v1/messages", []byte(body))))
	assert.Equal(t, []any{OK, ""}, []any{r.server.state(t.Context()).Status, r.server.state(t.Context()).Message})
	assert.Contains(t, r.logged(), "mcp_pruner.warning")
	assert.NotContains(t, r.logged(), "ledger.failed")
}

type unfit struct{ contextgc.Ledger }

func (unfit) Put(context.Context, ...contextgc.Entry) ([]string, error) {
	return nil, fmt.Errorf("store segments: %w: a secret path", contextgc.ErrValue)
}

// If another process keeps the store locked, requests pass through without delay, with the earlier
// decisions applied.
func TestASlowStoreStopsNothing(t *testing.T) {
	file := database(t)
	r := newRig(t, file, GC)
	sent := r.post(t, "/v1/messages", claudeHistory(40))
	r.server.feeding.Wait()
	release := holdLock(t, file)
	r.server.patience = 50 * time.Millisecond
	got := string(r.post(t, "/v1/messages", claudeHistory(60)))
	assert.Equal(t, strings.Count(string(sent), "[cleared "), strings.Count(got, "[cleared "), "nothing new while the store is locked")
	assert.Contains(t, r.logged(), "proxy.passed_through")
	release()
	r.server.patience = patience
	got = string(r.post(t, "/v1/messages", claudeHistory(61)))
	assert.Greater(t, strings.Count(got, "[cleared "), strings.Count(string(sent), "[cleared "))
}

// A proxy that starts while another process keeps the store locked sends what was decided before, for each session: reading needs
// no lock, and a request that comes while the proxy waits to try the store again reads, too.
func TestALockedStoreIsRead(t *testing.T) {
	file := database(t)
	before := newRig(t, file, GC)
	another := bytes.Replace(claudeHistory(40), []byte("fix the bug"), []byte("add a test"), 1)
	bodies := [][]byte{claudeHistory(40), another}
	var sent []string
	for _, body := range bodies {
		sent = append(sent, string(before.post(t, "/v1/messages", body)))
		require.NotEqual(t, string(body), sent[len(sent)-1])
	}
	before.server.feeding.Wait()
	defer holdLock(t, file)()
	r := newRig(t, file, GC)
	r.server.health.retry = patience
	r.server.health.failed(nil, errors.New("the ledger is locked"))
	for i, body := range bodies {
		assert.True(t, sent[i] == string(r.post(t, "/v1/messages", body)), "session %d", i)
	}
}

// holdLock takes the write lock of a ledger, as another process does. It returns what gives it back.
func holdLock(t *testing.T, file string) (release func()) {
	t.Helper()
	other, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file))
	require.NoError(t, err)
	locked, err := other.Conn(t.Context())
	require.NoError(t, err)
	_, err = locked.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	return func() {
		_, err := locked.ExecContext(t.Context(), "ROLLBACK")
		require.NoError(t, err)
		require.NoError(t, other.Close())
	}
}

// A request of 20 MB is rewritten like any other.
func TestTwentyMegabytes(t *testing.T) {
	r := newRig(t, database(t), GC)
	body := claudeHistory(60)
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("QUJD", 5<<20) + `"}}`
	body = bytes.Replace(body, []byte(`"content":"fix the bug"`), []byte(`"content":[{"type":"text","text":"fix the bug"},`+image+`]`), 1)
	require.Greater(t, len(body), 20<<20)
	got := r.post(t, "/v1/messages", body)
	assert.Less(t, len(got), len(body)-100_000)
	assert.True(t, bytes.Contains(got, []byte(image[1:])), "the image is what it was, but for a mark of ours")
	assert.True(t, bytes.Equal(got, r.post(t, "/v1/messages", body)))
}

func TestErrorsArriveUnchanged(t *testing.T) {
	r := newRig(t, database(t), GC)
	for _, status := range []int{400, 401, 429, 529, 500} {
		r.up.answer = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Request-Id", "req_1")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"type":"error"}`)
		}
		res, err := http.Post(r.proxy.URL+"/v1/messages", "application/json", bytes.NewReader(claudeHistory(2)))
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, status, res.StatusCode)
		assert.Equal(t, `{"type":"error"}`, string(body))
		assert.Equal(t, "7", res.Header.Get("Retry-After"))
		assert.Equal(t, "req_1", res.Header.Get("Request-Id"))
	}
	assert.Empty(t, r.usages)
}

func TestCompressedRequests(t *testing.T) {
	r := newRig(t, database(t), GC)
	send := func(body []byte, encoding string) []byte {
		req, err := http.NewRequest(http.MethodPost, r.proxy.URL+"/v1/responses", bytes.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Encoding", encoding)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return r.up.last()
	}
	pack := func(body []byte) []byte { return zipped(t, body) }
	small := pack(responsesHistory(2))
	assert.Equal(t, small, send(small, "gzip"), "unchanged, so as it came")
	assert.Equal(t, "gzip", r.up.heads[0].Get("Content-Encoding"))
	plain := func() string { return string(r.up.lastUnpacked()) }
	send(pack(responsesHistory(40)), "gzip")
	got := plain()
	assert.Contains(t, got, "[cleared ")
	assert.Equal(t, "gzip", r.up.heads[1].Get("Content-Encoding"), "packed as it came")
	assert.Equal(t, "zzz", string(send([]byte("zzz"), "zstd")))
	assert.Equal(t, "zzz", string(send([]byte("zzz"), "br")))
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	packed := z.EncodeAll(responsesHistory(2), nil)
	assert.Equal(t, packed, send(packed, "zstd"), "unchanged, so as it came")
	last := func() http.Header { return r.up.heads[len(r.up.heads)-1] }
	assert.Equal(t, "zstd", last().Get("Content-Encoding"))
	sent := send(z.EncodeAll(responsesHistory(40), nil), "zstd")
	assert.Equal(t, got, plain(), "the same bytes, however they are packed")
	assert.Equal(t, "zstd", last().Get("Content-Encoding"))
	assert.Less(t, len(sent), len(got)/4)
	bomb := z.EncodeAll(make([]byte, maxBody+1), nil)
	assert.Equal(t, bomb, send(bomb, "zstd"))
	assert.Equal(t, pack(make([]byte, maxBody+1)), send(pack(make([]byte, maxBody+1)), "gzip"))
}

func TestKeysPassThroughAndAreKeptNowhere(t *testing.T) {
	file := database(t)
	r := newRig(t, file, GC)
	req, err := http.NewRequest(http.MethodPost, r.proxy.URL+"/v1/messages?key=secret-three", bytes.NewReader(claudeHistory(40)))
	require.NoError(t, err)
	req.Header.Set("X-Api-Key", "secret-one")
	req.Header.Set("Authorization", "Bearer secret-two")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, "secret-one", r.up.heads[0].Get("X-Api-Key"))
	assert.Equal(t, "Bearer secret-two", r.up.heads[0].Get("Authorization"))
	assert.Empty(t, r.up.heads[0].Get("X-Forwarded-For"))
	found, _, err := r.store.Search(context.Background(), contextgc.Query{Project: "Go-http-client", Text: "secret"})
	require.NoError(t, err)
	assert.Empty(t, found)
	assert.NotContains(t, fmt.Sprint(r.logged()), "secret")
}

func TestForeignPagesAreRefused(t *testing.T) {
	r := newRig(t, database(t), GC)
	for header, value := range map[string]string{"Host": "evil.example", "Origin": "https://evil.example"} {
		req, err := http.NewRequest(http.MethodPost, r.proxy.URL+"/v1/messages", strings.NewReader("{}"))
		require.NoError(t, err)
		req.Header.Set(header, value)
		if header == "Host" {
			req.Host = value
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, http.StatusForbidden, res.StatusCode)
	}
	assert.Empty(t, r.up.bodies)
}

// The events of a stream arrive one by one, and a stream cut by the upstream is cut for the client.
func TestStreams(t *testing.T) {
	r := newRig(t, database(t), GC)
	next := make(chan struct{})
	r.up.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":3,"cache_read_input_tokens":900,"cache_creation_input_tokens":50}}}`+"\n\n")
		w.(http.Flusher).Flush()
		<-next
		_, _ = io.WriteString(w, `data: {"type":"message_delta","usage":{"output_tokens":12}}`+"\n\n")
		w.(http.Flusher).Flush()
		<-next
		panic(http.ErrAbortHandler)
	}
	res, err := http.Post(r.proxy.URL+"/v1/messages", "application/json", bytes.NewReader(claudeHistory(2)))
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	buf := make([]byte, 4096)
	n, err := res.Body.Read(buf)
	require.NoError(t, err)
	assert.Contains(t, string(buf[:n]), "message_start", "before the second was made")
	next <- struct{}{}
	n, err = res.Body.Read(buf)
	require.NoError(t, err)
	assert.Contains(t, string(buf[:n]), "message_delta")
	next <- struct{}{}
	_, err = io.ReadAll(res.Body)
	require.Error(t, err, "the cut shows")
	r.proxy.Close()
	require.Len(t, r.usages, 1)
	u := r.usages[0]
	assert.Equal(t, []any{"claude-x", 3, 900, 50, 12}, []any{u.Model, u.Input, u.Read, u.Written, u.Output})
}

// What a lost ledger still reports does not switch off the one that was opened in its place.
func TestTheLastErrorsOfALostLedgerAreNotTheNextOnes(t *testing.T) {
	r := newRig(t, database(t), GC)
	old := r.server.work.Load()
	old.close = r.store.Close
	next, err := store.OpenLedger(store.LedgerFile{File: database(t), Patience: patience})
	require.NoError(t, err)
	t.Cleanup(func() { _ = next.Close() })
	r.server.health.open = func(context.Context) (*work, error) {
		e := clearing.Engine{Store: next, Index: r.engine.Index, Machine: r.engine.Machine, Runs: r.runs, Policy: r.engine.Policy, Clears: true, Now: r.clock}
		return &work{engine: &e, feed: old.feed, usage: old.usage}, nil
	}
	require.NoError(t, os.Remove(r.store.Name()))
	body := full(claudeHistory(40))
	assert.Equal(t, string(body), string(r.post(t, "/v1/messages", body)), "its ids would lead nowhere")
	assert.Contains(t, string(r.post(t, "/v1/messages", body)), "[cleared ")
	r.server.feeding.Wait()
	r.server.health.failed(old, errors.New("late"))
	assert.Equal(t, OK, r.server.state(t.Context()).Status)
	gone, leave := context.WithCancel(t.Context())
	leave()
	r.server.work.Load().engine.Now = func() time.Time { return r.clock().Add(time.Hour) } // the ledger is looked at again
	assert.Equal(t, OK, r.server.state(gone).Status, "who asks and goes away stops nobody's clearing")
	assert.Equal(t, 1, strings.Count(strings.Join(r.logged(), " "), "ledger.failed"))
	assert.Equal(t, 1, strings.Count(strings.Join(r.logged(), " "), "ledger.restored"))
}
