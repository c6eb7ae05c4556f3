//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBaseURL compares each client's requests to its API's own address with its requests through the proxy. docs/GC.md
// lists the differences. Codex is left out, because its own provider tries a WebSocket first.
func TestBaseURL(t *testing.T) {
	every(t, func(t *testing.T, c client) {
		if c.name == "codex" {
			t.Skip("its own provider tries a WebSocket first")
		}
		w := newWorld(t, c, done)
		w.ownAddress()
		own, others := newInternet(t, w).turn(w)
		assert.NotEqual(t, proxied, own.host)

		w = newWorld(t, c, done)
		through, left := w.throughProxy()
		assert.Equal(t, own.path, through.path)
		if c.name != "claude" {
			assert.Equal(t, string(own.body), string(through.body))
			assert.ElementsMatch(t, others, left, "side requests, which come in any order")
			return
		}
		assert.Subset(t, []string{"/api/claude_code/settings", "/api/claude_code/policy_limits"}, others, "sent side by side, if at all before the end")
		assert.Empty(t, left)
		features := func(r asked) []string { return strings.Split(r.header.Get("Anthropic-Beta"), ",") }
		assert.Subset(t, features(own), features(through))
		missing := slices.DeleteFunc(features(own), func(f string) bool { return slices.Contains(features(through), f) })
		assert.ElementsMatch(t, []string{"prompt-caching-scope-2026-01-05", "cache-diagnosis-2026-04-07", "thinking-binding-controls-2026-08-01",
			"mid-conversation-system-clear-at-2026-08-21"}, missing)
		assert.Contains(t, string(own.body), `"scope":"global"`)
		assert.NotContains(t, string(through.body), `"scope"`)
		lifetimes := regexp.MustCompile(`"ttl":"[^"]*"`)
		assert.Equal(t, lifetimes.FindAllString(string(own.body), -1), lifetimes.FindAllString(string(through.body), -1))
		var one, two struct{ Tools json.RawMessage }
		require.NoError(t, json.Unmarshal(own.body, &one))
		require.NoError(t, json.Unmarshal(through.body, &two))
		assert.Equal(t, string(one.Tools), string(two.Tools), "tool search and all others")
	})
}

// ownAddress makes the client send requests to its API's own address.
func (w *world) ownAddress() {
	w.env = slices.DeleteFunc(w.env, func(v string) bool {
		return strings.HasPrefix(v, "ANTHROPIC_BASE_URL=") || strings.HasPrefix(v, "GOOGLE_GEMINI_BASE_URL=")
	})
	if w.client.name == "opencode" {
		w.opencodeAnthropic("")
	}
}

// opencodeAnthropic makes opencode use its own provider for Anthropic's API.
func (w *world) opencodeAnthropic(options string) {
	w.write(filepath.Join(w.home, ".config", "opencode", "opencode.json"), `{
  "model": "anthropic/claude-sonnet-4-5", "autoupdate": false, "share": "disabled",
  "provider": { "anthropic": { "options": { "apiKey": "sk-secret-anthropic"`+options+` } } }
}`, 0o600)
}

// proxied is the host that is recorded for requests through the proxy under test.
const proxied = "proxy"

// throughProxy runs the client with the proxy between it and the model. It returns the request for the model's turn and
// the paths of all other requests.
func (w *world) throughProxy() (turn asked, others []string) {
	n := newInternet(w.t, w)
	recorder := httptest.NewServer(n.record(proxied))
	w.t.Cleanup(recorder.Close)
	p := &gcProxy{w: w, store: filepath.Join(w.t.TempDir(), "ledger.db"), upstream: recorder.URL}
	p.start()
	w.t.Cleanup(p.kill)
	w.through(p)
	w.withSecretInHeader(p)
	turn, others = n.turn(w)
	assert.Equal(w.t, proxied, turn.host)
	return turn, others
}

// withSecretInHeader configures the proxy as "init --proxy" does, for the clients that it sets up.
func (w *world) withSecretInHeader(p *gcProxy) {
	address, key, _ := strings.Cut(p.addr, "/")
	switch w.client.name {
	case "claude":
		for i, entry := range w.env {
			w.env[i] = strings.Replace(entry, p.addr, address, 1)
		}
		w.env = append(w.env, "ANTHROPIC_CUSTOM_HEADERS=X-Mcp-Pruner-Secret: "+key)
	case "opencode":
		file := filepath.Join(w.t.TempDir(), "secret")
		w.write(file, key+"\n", 0o600)
		w.opencodeAnthropic(`, "baseURL": "http://` + address + `/v1", "headers": {"X-Mcp-Pruner-Secret": "{file:` + file + `}"}`)
	}
}

// turn runs the client and returns its request for the model's turn, without the parts that differ in every run, and
// the paths of all other requests.
func (n *internet) turn(w *world) (turn asked, others []string) {
	out, err := w.own("say hello").CombinedOutput()
	require.NoError(w.t, err, string(out))
	for _, r := range n.requests() {
		if len(r.body) > len(turn.body) {
			turn, r = r, turn
		}
		if r.path != "" {
			others = append(others, r.path)
		}
	}
	body := strings.ReplaceAll(string(turn.body), filepath.Dir(w.dir), "ROOT")
	turn.body = []byte(random.ReplaceAllString(body, "RANDOM"))
	return turn, others
}

// random matches the random ids of clients and the skills of Gemini CLI, which are in random order.
var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{64}|ses_[0-9A-Za-z]+|<skill>.*?</skill>`)
