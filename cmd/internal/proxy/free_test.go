package proxy

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// smallHistory is a history of which nothing is cleared while the cache is warm, and much once it is cold: results are short.
func smallHistory(path string, n int) []byte {
	list := steps(n, idForms["long"])
	for i := range list {
		if len(list[i].output) > 2000 {
			list[i].output = list[i].output[:2000]
		}
	}
	return renderings[path](list)
}

const messagesPath = "/v1/messages"

// A cache is cold once its lifetime has passed, which the request itself may say. What is due is cleared in that very request.
func TestAPauseMakesClearingFree(t *testing.T) {
	responses := responsesHistory
	retained := func(n int) []byte {
		return bytes.Replace(responses(n), []byte(`"model"`), []byte(`"prompt_cache_retention":"24h","model"`), 1)
	}
	hour := func(n int) []byte {
		return bytes.Replace(smallHistory(messagesPath, n), []byte(`"model"`), []byte(`"cache_control":{"type":"ephemeral", "ttl" : "1h"},"model"`), 1)
	}
	small := func(n int) []byte { return smallHistory(messagesPath, n) }
	for name, c := range map[string]struct {
		path    string
		history func(int) []byte
		calls   int
		warm    time.Duration
		cold    time.Duration
	}{
		"Anthropic":            {messagesPath, small, 9, 5 * time.Minute, 7 * time.Minute},
		"Anthropic, an hour":   {messagesPath, hour, 9, 59 * time.Minute, 62 * time.Minute},
		"OpenAI":               {"/v1/responses", responses, 4, 30 * time.Minute, 62 * time.Minute},
		"OpenAI, a day":        {"/v1/responses", retained, 4, 10 * time.Hour, 25 * time.Hour},
		"Gemini":               {geminiPath, func(n int) []byte { return smallHistory(geminiPath, n) }, 9, 30 * time.Minute, 62 * time.Minute},
		"Anthropic, next day":  {messagesPath, small, 9, time.Minute, 20 * time.Hour},
		"Anthropic, next week": {messagesPath, small, 9, time.Minute, 160 * time.Hour},
	} {
		r := newRig(t, database(t), GC)
		for n := 1; n < c.calls; n++ {
			require.Zero(t, cleared(r.post(t, c.path, c.history(n))), name)
		}
		r.advance(c.warm)
		require.Zero(t, cleared(r.post(t, c.path, c.history(c.calls))), "%s: the cache is warm", name)
		r.advance(c.cold)
		got := r.post(t, c.path, c.history(c.calls+1))
		assert.Positive(t, cleared(got), name)
		assert.Equal(t, string(got), string(r.post(t, c.path, c.history(c.calls+1))), name)
	}
}

const geminiPath = "/v1beta/models/gemini-3-pro:generateContent"

// A client that changes its model, its tools, its system prompt or the beginning of its history breaks the cache itself: what
// follows the change is written again anyway, and what is due there is cleared.
func TestWhatTheClientBreaksIsFree(t *testing.T) {
	replace := func(old, new string) func([]byte) []byte {
		return func(body []byte) []byte { return bytes.Replace(body, []byte(old), []byte(new), 1) }
	}
	for name, c := range map[string]struct {
		change func([]byte) []byte
		free   bool
	}{
		"another model":                               {replace(`"model":"claude-opus-5"`, `"model":"claude-opus-4-8"`), true},
		"another tool list":                           {replace(`{"name":"Bash"}`, `{"name":"Bash"},{"name":"other"}`), true},
		"another system prompt":                       {replace(`You are an agent.`, `You are another agent.`), true},
		"an edited history":                           {replace(`output of call 0,`, `edited output of call 0,`), true},
		"a header of the client in the system prompt": {replace(`x-anthropic-billing-header: cch=1`, `x-anthropic-billing-header: cch=2`), false},
		"nothing":                                     {replace("xx", "xx"), false},
	} {
		r := newRig(t, database(t), GC)
		history := func(n int) []byte {
			return replace(`"system":"You`, `"system":[{"type":"text","text":"x-anthropic-billing-header: cch=1"},{"type":"text","text":"You`)(
				replace(` ","tools"`, ` "}],"tools"`)(smallHistory(messagesPath, n)))
		}
		for n := 1; n < 9; n++ {
			require.Zero(t, cleared(r.post(t, messagesPath, history(n))), name)
		}
		got := r.post(t, messagesPath, c.change(history(9)))
		assert.Equal(t, c.free, cleared(got) > 0, name)
	}
}

// A new process knows from the ledger when a session was used last. What it does not know it takes for warm.
func TestPausesAreKnownAfterARestart(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		used  bool
		free  bool
	}{
		"at once":                  {time.Second, true, false},
		"next day":                 {24 * time.Hour, true, true},
		"a session never seen yet": {24 * time.Hour, false, false},
	} {
		file := database(t)
		r := newRig(t, file, GC)
		for n := 1; n < 9; n++ {
			require.Zero(t, cleared(r.post(t, messagesPath, smallHistory(messagesPath, n))))
		}
		r.proxy.Close() // waits for the requests, whose usage is reported after the answer
		r.server.feeding.Wait()
		if c.used {
			require.NoError(t, r.store.AddUsage(t.Context(), contextgc.Usage{Session: r.usages[0].Session, API: "anthropic-messages"}))
		}
		again := newRig(t, file, GC)
		again.engine.Now = func() time.Time { return time.Now().Add(c.after) }
		assert.Equal(t, c.free, cleared(again.post(t, messagesPath, smallHistory(messagesPath, 9))) > 0, name)
	}
}

// A replica that had a session's request long ago learns from the ledger that another one had one since.
func TestAnotherReplicaKeptTheCacheWarm(t *testing.T) {
	for name, used := range map[string]bool{"used since": true, "not used since": false} {
		r := newRig(t, database(t), GC)
		r.engine.Now = func() time.Time { return time.Now().Add(-24 * time.Hour) }
		for n := 1; n < 9; n++ {
			require.Zero(t, cleared(r.post(t, messagesPath, smallHistory(messagesPath, n))))
		}
		r.server.feeding.Wait()
		r.engine.Now = time.Now
		if used {
			require.NoError(t, r.store.AddUsage(t.Context(), contextgc.Usage{Session: idOf(t, smallHistory(messagesPath, 9)), API: "anthropic-messages"}))
		}
		assert.Equal(t, !used, cleared(r.post(t, messagesPath, smallHistory(messagesPath, 9))) > 0, name)
	}
}

// idOf returns the session of a request.
func idOf(t *testing.T, body []byte) string {
	c, err := wire.APIOf(messagesPath).Parse(body)
	require.NoError(t, err)
	return c.Session
}

// A client that breaks its cache again and again clears what is due each time, also where the answers have no usage.
func TestEachBreakIsFree(t *testing.T) {
	r := newRig(t, database(t), GC)
	had := 0
	for n := 9; n <= 36; n += 9 {
		body := bytes.Replace(smallHistory(messagesPath, n), []byte("You are an agent."), []byte("You are "+strings.Repeat("n", n)), 1)
		r.post(t, messagesPath, smallHistory(messagesPath, n-1))
		got := cleared(r.post(t, messagesPath, body))
		assert.Greater(t, got, had, "request %d", n)
		had = got
	}
}
