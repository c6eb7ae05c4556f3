package proxy

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

const countPath = messagesPath + "/count_tokens"

// talk is a session of a client of Anthropic's API whose model thinks.
type talk struct {
	t        *testing.T
	r        *rig
	model    string
	messages []any
	before   []byte // the latest request
	refused  []string
}

func newTalk(t *testing.T, r *rig, model string) *talk {
	k := &talk{t: t, r: r, model: model, messages: []any{map[string]any{"role": "user", "content": "turn 1: fix the bug"}}}
	r.up.answer = k.check(r)
	return k
}

// check answers as an API does that checks what thinking is bound to.
func (k *talk) check(r *rig) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if _, message := tooltest.CheckThinking(r.up.last()); message != "" {
			k.refused = append(k.refused, message)
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, message)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	}
}

func (k *talk) body() []byte {
	return ordered("model", k.model, "system", strings.Repeat("You are an agent. ", 2000), "tools", claudeTools, "messages", k.messages)
}

// call sends the request, then adds the model's answer, which begins with thinking or does not, and the output of its call.
func (k *talk) call(thinks bool) (sent []byte) {
	k.before = k.body()
	sent = k.r.post(k.t, messagesPath, k.before)
	n := len(k.messages) / 2
	id := fmt.Sprintf("toolu_01A2b3C4d5E6f7G8h9%04d", n)
	var answer []any
	if thinks {
		signature, err := tooltest.SignThinking(sent)
		require.NoError(k.t, err)
		answer = append(answer, map[string]any{"type": "thinking", "thinking": "hm", "signature": signature})
	}
	k.messages = append(k.messages,
		map[string]any{"role": "assistant", "content": append(answer, map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": fmt.Sprintf("run %d", n)}})},
		map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": output(n)}}})
	return sent
}

// Of a model that binds its thinking, and of one that is not known, nothing is cleared before thinking: no request is refused.
// What stands behind the last thinking is cleared as far as that pays, and stays so when the model thinks again. A cache with marks
// writes more again, so that fewer clearings pay where a read costs a twentieth, and none where it costs a fortieth.
func TestNothingIsClearedBeforeBoundThinking(t *testing.T) {
	for model, pays := range map[string]int{"claude-opus-5-5": 8, "claude-fable-5-2": 0, "claude-saga-1": 15} {
		k := newTalk(t, newRig(t, database(t), GC), model)
		for range 25 {
			sent := k.call(true)
			require.Zero(t, cleared(sent))
		}
		for range 25 {
			k.call(false)
		}
		sent := string(k.call(true))
		assert.Equal(t, pays, strings.Count(sent, "[cleared "), "%s: behind the thinking", model)
		for n := range 24 {
			assert.True(t, strings.Contains(sent, fmt.Sprintf("output of call %d,", n)), "result %d stands before the last of the thinking", n)
		}
		for range 10 {
			next := string(k.call(true))
			assert.Equal(t, strings.Count(sent, "[cleared "), strings.Count(next, "[cleared "), "decisions in force stay, and there are no new ones")
		}
		assert.Empty(t, k.refused, model)
	}
	k := newTalk(t, newRig(t, database(t), GC), "claude-opus-5")
	k.r.up.answer = nil // its API checks nothing
	for range 25 {
		k.call(true)
	}
	assert.Positive(t, cleared(k.r.up.last()))
}

// say ends the turn with the model's words, after which the person says something. With words alone nothing of it was sent yet.
func (k *talk) say(words string) {
	sent := k.r.post(k.t, messagesPath, k.body())
	signature, err := tooltest.SignThinking(sent)
	require.NoError(k.t, err)
	k.messages = append(k.messages,
		map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "thinking", "thinking": "done", "signature": signature}, map[string]any{"type": "text", "text": "It is done."}}},
		map[string]any{"role": "user", "content": words})
}

// Where the person begins a turn, what is old goes together with all thinking before it, and stays away; thinking within the turn
// stays. No request is refused, also by other proxies that get some of the requests.
func TestWhatIsOldGoesWhereATurnBegins(t *testing.T) {
	random := rand.New(rand.NewPCG(53, 1))
	for _, model := range []string{"claude-opus-5-5", "claude-fable-5-2", "claude-haiku-5-5", "claude-sonnet-5-5"} {
		file := database(t)
		k := newTalk(t, newRig(t, file, GC), model)
		proxies := []*rig{k.r, newRig(t, file, GC), newRig(t, file, GC)}
		for turn := range 3 {
			thoughts := 0
			for range 14 {
				next := proxies[random.IntN(3)]
				next.up.answer, k.r = k.check(next), next
				sent := string(k.call(true))
				assert.Equal(t, thoughts, strings.Count(sent[strings.LastIndex(sent, "turn "):], `"thinking"`)/2, "thinking within a turn stays")
				thoughts++
				for _, r := range proxies { // each sends the same, whichever gets it
					r.up.answer = k.check(r)
					assert.Equal(t, sent, string(r.post(t, messagesPath, k.before)))
				}
				if turn > 0 {
					assert.Positive(t, cleared([]byte(sent)))
					assert.NotContains(t, sent[:strings.LastIndex(sent, "turn ")], `"thinking"`)
				}
			}
			k.say(fmt.Sprintf("turn %d", turn+2))
			for _, r := range proxies {
				r.advance(2 * time.Hour)
			}
		}
		assert.Empty(t, k.refused, model)
		k.left()
	}
}

// left requires that the ledger has what of the session's thinking was left out, and that it goes with the session.
func (k *talk) left() {
	c, err := wire.APIOf(messagesPath).Parse(k.before)
	require.NoError(k.t, err)
	thoughts := func() (n int) {
		list, _, err := k.r.store.(*store.Ledger).Session(k.t.Context(), c.Session)
		require.NoError(k.t, err)
		for _, one := range list {
			if one.Tool == "thinking" && one.Tokens > 0 && existing.IsStub(one.Stub) {
				n++
			}
		}
		return n
	}
	assert.Positive(k.t, thoughts())
	_, err = k.r.store.Forget(k.t.Context(), contextgc.Forgotten{Session: c.Session})
	require.NoError(k.t, err)
	assert.Zero(k.t, thoughts())
	count, err := k.r.store.Count(k.t.Context(), math.MaxInt64)
	require.NoError(k.t, err)
	assert.Zero(k.t, count, "no row outlives the session")
}

// A new result was never sent: what thinks later is bound to what is sent of it.
func TestNewResultsOfBoundModelsArePruned(t *testing.T) {
	r := newRig(t, database(t), Both)
	k := newTalk(t, r, "claude-opus-5-5")
	k.call(true)
	last := k.messages[len(k.messages)-1].(map[string]any)["content"].([]any)[0].(map[string]any)
	last["content"] = passed("package", "--- FAIL: TestTotals (0.00s)\n    totals_test.go:12: got 3, want 4\nFAIL\tpackage/totals\t0.01s")
	for range 5 {
		assert.Contains(t, string(k.call(true)), "mcp-pruner recover prn_")
	}
	assert.Empty(t, k.refused)
}

// refusing lets an upstream refuse each request in which something was cleared.
func refusing(r *rig, status int, message string) {
	r.up.answer = func(w http.ResponseWriter, _ *http.Request) {
		if bytes.Contains(r.up.lastUnpacked(), []byte("[cleared ")) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, message)
			return
		}
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":7}}`)
	}
}

// askedInside sends a body without a connection, so that all is done when it returns. It returns what the upstream got.
func askedInside(r *rig, body []byte) string {
	r.server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+messagesPath, bytes.NewReader(body)))
	r.server.feeding.Wait()
	return string(r.up.last())
}

// A refusal within a stream of status 200 is no use of the session. A session whose thinking is bound is left alone, and nothing
// counts as replaced.
func TestARefusalInAStreamIsNoAnswer(t *testing.T) {
	for message, alone := range map[string]int{"overloaded": 0, bindingWords: 1} {
		for name, text := range map[string]string{
			"anthropic": "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"" + message + "\"}}\n\n",
			"plain":     `{"error": {"code": 400, "message": "` + message + `"}}`,
		} {
			r := newRig(t, database(t), GC)
			refusing(r, http.StatusOK, text)
			require.Contains(t, askedInside(r, claudeHistory(40)), "[cleared ")
			state := r.server.state(t.Context())
			assert.Equal(t, []bool{alone == 0, alone > 0}, []bool{state.Replaced > 0, state.Alone > 0}, name)
			assert.Empty(t, r.usages, name)
			assert.Equal(t, alone == 0, strings.Contains(askedInside(r, claudeHistory(41)), "[cleared "), name)
		}
	}
	r := newRig(t, database(t), GC)
	refusing(r, http.StatusOK, "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\ndata: {\"type\":\"error\"}\n\n")
	askedInside(r, claudeHistory(40))
	require.Len(t, r.usages, 1, "it began to answer, and bills that")
	assert.Positive(t, r.server.state(t.Context()).Replaced)
}

// A refusal of a changed body never reaches the client: the body is sent once more as it came, packed or not, and the session is
// left alone from then on, by a new process, too. The proxy's report and the log say so.
func TestARefusedChangeLeavesTheSessionAlone(t *testing.T) {
	packings := map[string]func([]byte) []byte{
		"": func(b []byte) []byte { return b },
		"gzip": func(b []byte) []byte {
			var out bytes.Buffer
			z := gzip.NewWriter(&out)
			_, _ = z.Write(b)
			_ = z.Close()
			return out.Bytes()
		},
		"zstd": func(b []byte) []byte {
			z, _ := zstd.NewWriter(nil)
			return z.EncodeAll(b, nil)
		},
	}
	for packing, pack := range packings {
		file := database(t)
		r := newRig(t, file, GC)
		refusing(r, http.StatusBadRequest, `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`)
		send := func(r *rig, path string, n int) string {
			q, err := http.NewRequest(http.MethodPost, r.proxy.URL+path, bytes.NewReader(pack(claudeHistory(n))))
			require.NoError(t, err)
			if packing != "" {
				q.Header.Set("Content-Encoding", packing)
			}
			res, err := http.DefaultClient.Do(q)
			require.NoError(t, err)
			answer, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusOK, res.StatusCode, "%s: %s", packing, answer)
			r.server.feeding.Wait()
			return string(r.up.last())
		}
		assert.Equal(t, string(pack(claudeHistory(40))), send(r, messagesPath, 40), packing)
		require.Len(t, r.up.bodies, 2, "sent once more")
		assert.Equal(t, packing, r.up.heads[1].Get("Content-Encoding"))
		for n := 41; n < 45; n++ {
			assert.Equal(t, string(pack(claudeHistory(n))), send(r, messagesPath, n), packing)
		}
		assert.Equal(t, string(pack(claudeHistory(44))), send(r, countPath, 44), packing)
		require.Len(t, r.up.bodies, 7, "nothing else was sent twice")
		assert.Equal(t, 1, strings.Count(strings.Join(r.logged(), " "), "proxy.left_alone"))
		state := r.server.state(t.Context())
		assert.Equal(t, []any{OK, 1, string(clearing.Changed)}, []any{state.Status, state.Alone, state.AloneWhy})
		assert.Contains(t, state.Changes(), "0 results replaced; sessions left alone: 1 (the API refused a changed request")
		assert.Zero(t, r.usages[0].Cleared, "what was answered had nothing replaced")

		again := newRig(t, file, GC) // a new process
		again.advance(time.Hour)
		refusing(again, http.StatusBadRequest, "no")
		assert.Equal(t, 1, again.server.state(t.Context()).Alone)
		assert.Equal(t, string(pack(claudeHistory(60))), send(again, messagesPath, 60), packing)
		assert.Len(t, again.up.bodies, 1)
		other := bytes.Replace(claudeHistory(40), []byte("fix the bug"), []byte("add a test"), 1)
		again.up.answer = nil
		assert.Contains(t, string(again.post(t, messagesPath, other)), "[cleared ", "another session")
	}
}

// An API that counts tokens makes the same check.
func TestARefusedCountIsAskedOnceMore(t *testing.T) {
	r := newRig(t, database(t), GC)
	r.post(t, messagesPath, claudeHistory(40))
	refusing(r, http.StatusBadRequest, `{"error":{"message":"thinking block is bound to a different conversation"}}`)
	assert.Equal(t, string(claudeHistory(40)), string(r.post(t, countPath, claudeHistory(40))))
	r.server.feeding.Wait()
	assert.Equal(t, string(clearing.BoundThinking), r.server.state(t.Context()).AloneWhy)
	assert.Equal(t, string(claudeHistory(41)), string(r.post(t, messagesPath, claudeHistory(41))))
}

// Of a request that is refused as it came, too, the change is not the reason: the answer passes, the request was sent twice and not
// more often, and what is in force stays so. So does another status than 400, which says nothing of the body.
func TestARequestThatIsWrongByItself(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusTooManyRequests, http.StatusRequestEntityTooLarge} {
		r := newRig(t, database(t), GC)
		before := string(r.post(t, messagesPath, claudeHistory(40)))
		require.Contains(t, before, "[cleared ")
		r.up.answer = func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":{"message":"max_tokens is too large"}}`)
		}
		res, err := http.Post(r.proxy.URL+messagesPath, "application/json", bytes.NewReader(claudeHistory(40)))
		require.NoError(t, err)
		answer, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, status, res.StatusCode)
		assert.Contains(t, string(answer), "max_tokens is too large")
		if status == http.StatusBadRequest {
			assert.Len(t, r.up.bodies, 3)
		} else {
			assert.Len(t, r.up.bodies, 2)
		}
		r.up.answer = nil
		assert.Equal(t, before, string(r.post(t, messagesPath, claudeHistory(40))))
		assert.Zero(t, r.server.state(t.Context()).Alone)
	}
}

// The report is JSON that others read.
func TestHealthNamesTheSessionsLeftAlone(t *testing.T) {
	text, err := json.Marshal(Health{Alone: 2, AloneWhy: "why"})
	require.NoError(t, err)
	assert.Contains(t, string(text), `"left_alone":2,"left_alone_why":"why"`)
}
