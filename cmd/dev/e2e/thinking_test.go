//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/proxy"
)

// thinkingSession is a session of many results whose model thinks in each answer.
func thinkingSession(t *testing.T, c client) (w *world, p *gcProxy) {
	dir := t.TempDir()
	answer := filepath.Join(dir, "answer")
	w = newWorld(t, c, gcScript(c.shell, c.argument, filepath.Join(dir, "ask"), answer)...)
	w.write(answer, "", 0o644) // nothing is restarted
	w.model.Thinks = true
	return w, &gcProxy{w: w, store: filepath.Join(dir, "ledger.db")}
}

// TestThinkingStays proves that of a session of the client's default model, which thinks in each answer, no request is refused and
// no thinking is lost, through the proxy as without it.
func TestThinkingStays(t *testing.T) {
	for _, through := range []bool{false, true} {
		w, p := thinkingSession(t, both()[0])
		if through {
			p.start()
			defer p.kill()
			w.through(p)
		}
		w.checkThinking(through)
	}
}

// TestOpencodesThinkingStays proves the same of opencode, which lets the API drop blocks instead of refusing them.
func TestOpencodesThinkingStays(t *testing.T) {
	w, p := thinkingSession(t, other("opencode"))
	p.start()
	defer p.kill()
	w.write(filepath.Join(w.home, ".config", "opencode", "opencode.json"), `{
  "model": "anthropic/claude-opus-5-5", "autoupdate": false, "share": "disabled", "permission": { "external_directory": "allow" },
  "provider": { "anthropic": { "options": { "apiKey": "sk-secret-anthropic", "baseURL": "http://`+p.addr+`/v1" },
    "models": { "claude-opus-5-5": { "reasoning": true, "tool_call": true, "limit": { "context": 200000, "output": 64000 } } } } }
}`, 0o600)
	w.checkThinking(true)
}

// checkThinking runs the client and counts its thinking.
func (w *world) checkThinking(through bool) {
	out, err := w.own("count the lines").CombinedOutput()
	require.NoError(w.t, err, string(out))
	refused, dropped := w.model.Refused()
	requests := w.model.Requests()
	last := requests[len(requests)-1]
	var body struct{ Model string }
	require.NoError(w.t, json.Unmarshal(last.Body, &body))
	w.t.Logf("%s, through the proxy: %t: model %s, %d requests, %d refused, %d blocks dropped, %d blocks in the last one, %d results cleared in it", w.client.name, through,
		body.Model, len(requests), len(refused), dropped, strings.Count(string(last.Body), `"Thought `), strings.Count(string(last.Body), "[cleared "))
	assert.Empty(w.t, refused)
	assert.Zero(w.t, dropped)
	assert.Equal(w.t, gcCalls, strings.Count(string(last.Body), `"Thought `), "all thinking is sent back")
}

// TestARefusedChange proves that a client never sees that its API refused a changed request: it is asked once more as it came, and
// the session is left alone, which the proxy's report says.
func TestARefusedChange(t *testing.T) {
	w, p := thinkingSession(t, both()[0])
	w.model.Thinks = false // so that the proxy clears
	w.model.Refuses = func(body []byte) string {
		if bytes.Contains(body, []byte("[cleared ")) {
			return "no change, please"
		}
		return ""
	}
	p.start()
	defer p.kill()
	w.through(p)
	out, err := w.own("count the lines").CombinedOutput()
	require.NoError(t, err, string(out))
	refused, _ := w.model.Refused()
	assert.Len(t, refused, 1)
	assert.Len(t, w.results(), gcCalls)
	assert.NotContains(t, string(w.lastRequest()), "[cleared ")
	health := w.healthOf(p)
	assert.Equal(t, 1, health.Alone)
	assert.Contains(t, health.AloneWhy, "the API refused a changed request")
}

// healthOf returns the proxy's report on itself.
func (w *world) healthOf(p *gcProxy) (h proxy.Health) {
	address, key, _ := strings.Cut(p.addr, "/")
	q, err := http.NewRequest(http.MethodGet, "http://"+address+proxy.HealthPath, nil)
	require.NoError(w.t, err)
	q.Header.Set("X-Mcp-Pruner-Secret", key)
	res, err := http.DefaultClient.Do(q)
	require.NoError(w.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(w.t, err)
	require.NoError(w.t, json.Unmarshal(text, &h), string(text))
	return h
}
