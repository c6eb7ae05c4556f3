//go:build e2e

package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// quietCodex is a configuration of Codex with its own provider and its default model.
const quietCodex = `# mine
check_for_update_on_startup = false
[features]
unbounded_connection_retries = false
plugins = false
[analytics]
enabled = false
[otel]
exporter = "none"
`

// Invented logins of Codex.
const (
	withKey     = "key"
	withChatGPT = "ChatGPT"
)

// backends stands in for OpenAI's API and for ChatGPT's, at their own addresses, and for everything else on the Internet.
type backends struct {
	*internet
	model http.Handler
	mu    sync.Mutex
	calls []asked // requests to a model, plain
}

// withBackends gives the world an Internet of stand-ins.
func withBackends(t *testing.T, w *world) *backends {
	b := &backends{internet: newInternet(t, w), model: w.model}
	b.to = b
	return b
}

// ServeHTTP answers as the backends do, as far as clients need it.
func (b *backends) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/wham/accounts/check"):
		_, _ = io.WriteString(w, `{"accounts":[{"id":"acc-1","workspace_backend_origin":"https://eu.chatgpt.com","account_routing_override":"NO_CONSTRAINT"}]}`)
	case r.Method == http.MethodPost && (strings.HasSuffix(r.URL.Path, "/responses") || strings.HasSuffix(r.URL.Path, "/messages")):
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Content-Encoding") == "zstd" {
			z, _ := zstd.NewReader(nil)
			body, _ = z.DecodeAll(body, nil)
		}
		b.mu.Lock()
		b.calls = append(b.calls, asked{path: r.URL.Path, header: r.Header.Clone(), body: body})
		b.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		if strings.HasSuffix(r.URL.Path, "/responses") {
			r.URL.Path = "/v1/responses"
		}
		b.model.ServeHTTP(w, r)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/alpha/search"):
		_, _ = io.WriteString(w, `{"output":"turn0search0: it rains in Paris (`+mockmodel.Cited+`)"}`)
	case r.Header.Get("Upgrade") != "":
		w.WriteHeader(http.StatusUpgradeRequired)
	default:
		http.NotFound(w, r)
	}
}

// modelCalls lists the requests to a model so far.
func (b *backends) modelCalls() []asked {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.calls)
}

// hostsOf lists the hosts that got requests whose path ends in a text.
func (b *backends) hostsOf(end string) (hosts []string) {
	for _, r := range b.requests() {
		if strings.HasSuffix(r.path, end) && !slices.Contains(hosts, r.host) {
			hosts = append(hosts, r.host)
		}
	}
	return hosts
}

// codexLogin returns a world in which Codex, with its own provider and its default model, has a login.
func codexLogin(t *testing.T, login string, turns ...mockmodel.Turn) (*world, *backends) {
	c := both()[1]
	c.config = nil
	c.setUp = func(w *world) { w.env = append(w.env, "CODEX_HOME="+w.home) }
	w := newWorld(t, c, turns...)
	w.write(filepath.Join(w.home, "config.toml"), quietCodex, 0o600)
	part := func(v any) string { return base64.RawURLEncoding.EncodeToString([]byte(asJSON(t, v))) }
	token := part(map[string]any{"alg": "RS256", "typ": "JWT"}) + "." + part(map[string]any{"exp": time.Now().Add(30 * 24 * time.Hour).Unix(), "email": "a@example.com",
		"https://api.openai.com/auth": map[string]any{"chatgpt_account_id": "acc-1", "chatgpt_plan_type": "plus", "chatgpt_user_id": "u-1"}}) + ".c2ln"
	auth := map[string]any{"OPENAI_API_KEY": "sk-proj-invented"}
	if login == withChatGPT {
		auth = map[string]any{"OPENAI_API_KEY": nil, "auth_mode": "chatgpt", "last_refresh": time.Now().UTC().Format(time.RFC3339),
			"tokens": map[string]any{"id_token": token, "access_token": token, "refresh_token": "invented", "account_id": "acc-1"}}
	}
	w.write(filepath.Join(w.home, "auth.json"), asJSON(t, auth), 0o600)
	return w, withBackends(t, w)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// manyCommands is a session of Codex's default model, which calls commands from code, and one more answer.
func manyCommands() (turns []mockmodel.Turn) {
	for i := range 40 {
		code := fmt.Sprintf(`const r = await tools.exec_command({cmd: "seq -f 'line %%g of the output of call %d' 1 150"}); text(r.output)`, i)
		turns = append(turns, mockmodel.Turn{Calls: []mockmodel.Call{{Tool: "exec", Code: code}}})
	}
	return append(turns, done)
}

// checkCodexCalls checks where the requests of a login went, in which form, and that old results were cleared.
func (b *backends) checkCodexCalls(t *testing.T, login string) {
	t.Helper()
	calls := b.modelCalls()
	require.NotEmpty(t, calls)
	last := calls[len(calls)-1]
	assert.Contains(t, string(last.body), "[cleared ")
	assert.Empty(t, last.header.Get("Openai-Project"), "the secret of the run")
	for _, call := range calls {
		assert.NotRegexp(t, ours, fmt.Sprint(call.header))
	}
	if login == withKey {
		assert.Equal(t, []string{"api.openai.com"}, b.hostsOf("/responses"))
		assert.Equal(t, "/v1/responses", last.path)
		assert.Equal(t, "Bearer sk-proj-invented", last.header.Get("Authorization"))
		return
	}
	assert.Equal(t, []string{"eu.chatgpt.com"}, b.hostsOf("/codex/responses"), "the workspace's own address")
	assert.Equal(t, "/backend-api/codex/responses", last.path)
	assert.Equal(t, "acc-1", last.header.Get("Chatgpt-Account-Id"))
	assert.Regexp(t, `^Bearer eyJ`, last.header.Get("Authorization"))
	assert.Equal(t, "zstd", last.header.Get("Content-Encoding"), "packed as it came")
}

// TestCodexLogins proves that Codex with its own provider and its default model, with a key and with a login, works through the
// proxy of a run: its requests reach the provider of the login alone, old results are cleared, and the session is found without us.
func TestCodexLogins(t *testing.T) {
	for _, login := range []string{withKey, withChatGPT} {
		t.Run(login, func(t *testing.T) {
			w, b := codexLogin(t, login, manyCommands()...)
			state := w.withState()
			cmd := w.underProxy([]string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"}, "count the lines")
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			require.NoError(t, cmd.Run(), stdout.String()+stderr.String())
			assert.Contains(t, stdout.String(), "three times")
			assert.NotContains(t, stdout.String()+stderr.String(), "mcpp_")
			b.checkCodexCalls(t, login)
			w.leavesNothing(state)

			before := len(b.modelCalls())
			resume := exec.Command(installed(w.client.program), "exec", "--skip-git-repo-check", "resume", "--last", "and now?")
			resume.Dir, resume.Env = w.dir, w.env
			out, err := resume.CombinedOutput()
			require.NoError(t, err, string(out))
			later := b.modelCalls()[before:]
			require.NotEmpty(t, later)
			assert.Contains(t, string(later[len(later)-1].body), "count the lines", "the same session, without us")
			alone := toolsNamed(later[len(later)-1].body)
			assert.NotEmpty(t, alone)
			for _, r := range b.modelCalls()[:before] {
				assert.Equal(t, alone, toolsNamed(r.body), "Codex offers the same tools as without us")
			}
		})
	}
}

var toolName = regexp.MustCompile(`"(?:name|type)":"(\w+)"`)

// toolsNamed returns the names of the tools in a request, and the kinds of those of the API's own, such as web_search.
func toolsNamed(body []byte) (names []string) {
	head, _, _ := strings.Cut(string(body), `"role":"user"`)
	for _, m := range toolName.FindAllStringSubmatch(head, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestCodexSearchesTheWeb proves that a search of the web runs through the proxy as it does without us, with a key and with a login:
// by the API itself where the model calls its tools, and by a request of Codex's own where the model's code calls web.run. Codex's
// events and its requests are the same, but for the old results that were cleared.
func TestCodexSearchesTheWeb(t *testing.T) {
	for _, login := range []string{withKey, withChatGPT} {
		for _, model := range []string{"", "gpt-5.5"} {
			t.Run(login+" "+model, func(t *testing.T) {
				events, requests := searched(t, login, model, false)
				ourEvents, ourRequests := searched(t, login, model, true)
				assert.Equal(t, events, ourEvents)
				require.Len(t, ourRequests, len(requests))
				cleared := 0
				for i, request := range requests {
					require.Len(t, ourRequests[i], len(request))
					for n, part := range request {
						switch ours := ourRequests[i][n]; {
						case strings.Contains(ours, "[cleared ") && !strings.Contains(part, "[cleared "):
							assert.Contains(t, part, "line 300 of the output of call ")
							cleared++
						default:
							require.Equal(t, part, ours)
						}
					}
				}
				assert.NotZero(t, cleared)
			})
		}
	}
}

// searchTurns is a session that searches the web first and then runs many commands.
func searchTurns(direct bool) (turns []mockmodel.Turn) {
	first := mockmodel.Turn{Text: "I search.", Calls: []mockmodel.Call{{Tool: "exec", Code: `text(await tools.web__run({search_query: [{q: "weather in Paris"}]}))`}}}
	last := mockmodel.Turn{Text: "It rains ([source](" + mockmodel.Cited + "))."}
	if direct {
		first = mockmodel.Turn{Search: "weather in Paris", Text: "I look at it.", Calls: []mockmodel.Call{codexCall(direct, "date +%Y")}}
		last.Search = "rain in Paris"
	}
	turns = append(turns, first)
	for i := range 30 {
		turns = append(turns, mockmodel.Turn{Calls: []mockmodel.Call{codexCall(direct, fmt.Sprintf("seq -f 'line %%g of the output of call %d' 1 300", i))}})
	}
	return append(turns, last)
}

// searched runs Codex in such a session and returns Codex's events and the parts of its requests, without what differs from run to run.
func searched(t *testing.T, login, model string, proxied bool) (events []string, requests [][]string) {
	direct := model != ""
	w, b := codexLogin(t, login, searchTurns(direct)...)
	if direct {
		w.write(filepath.Join(w.home, "config.toml"), fmt.Sprintf("model = %q\n", model)+quietCodex, 0o600)
	}
	w.withState()
	args := []string{"exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "how is the weather?"}
	cmd := exec.Command(installed(w.client.program), args...)
	if proxied {
		cmd = w.underProxy(args)
	}
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.Output()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), `"action":{"type":"search","query":"weather in Paris"`)
	assert.Contains(t, string(out), "It rains ([source](https://example.com/found)).")
	for line := range strings.Lines(string(out)) {
		events = append(events, w.steady(line))
	}
	requests = w.parts(b)
	end := strings.Join(requests[len(requests)-1], "\n")
	if direct {
		assert.Contains(t, end, `"type":"web_search_call"`)
		assert.Empty(t, b.hostsOf("/alpha/search"))
	} else {
		assert.Contains(t, end, "it rains in Paris")
		assert.NotEmpty(t, b.hostsOf("/alpha/search"))
	}
	return events, requests
}

// ofTheRun matches what differs between two runs of the same session.
var ofTheRun = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|(unix_ms\\*":|create_time\\*":|input_tokens":|Wall time:? |Chunk ID: )[0-9a-f.]+`)

// steady returns a text without what differs from run to run.
func (w *world) steady(text string) string {
	return ofTheRun.ReplaceAllString(strings.ReplaceAll(text, filepath.Dir(w.dir), "/root"), "$1*")
}

// parts returns the requests for a search, and those to a model in parts: path, everything but the input, and each item of the input.
func (w *world) parts(b *backends) (requests [][]string) {
	for _, r := range b.requests() {
		if strings.HasSuffix(r.path, "/alpha/search") {
			requests = append(requests, []string{r.host + r.path, w.steady(string(r.body))})
		}
	}
	for _, call := range b.modelCalls() {
		var body map[string]any // Codex writes its members in any order
		require.NoError(w.t, json.Unmarshal(call.body, &body))
		input, _ := body["input"].([]any)
		delete(body, "input")
		parts := []string{call.path, w.steady(asJSON(w.t, body))}
		for _, item := range input {
			parts = append(parts, w.steady(asJSON(w.t, item)))
		}
		requests = append(requests, parts)
	}
	return requests
}

// TestInitCodexProxy proves that Codex, set up by "init codex --proxy", sends its requests through the proxy with a key and with a
// login, and that the undo leaves its configuration as it was, byte for byte.
func TestInitCodexProxy(t *testing.T) {
	for _, login := range []string{withKey, withChatGPT} {
		t.Run(login, func(t *testing.T) {
			w, b := codexLogin(t, login, manyCommands()...)
			w.withState()
			config := filepath.Join(w.home, "config.toml")
			w.ours("init", "codex", "--proxy")
			port := w.otherPort(config)
			served := exec.Command(pruner, "proxy", "--ensure", "--port", port)
			served.Env = w.env
			out, err := served.CombinedOutput()
			require.NoError(t, err, string(out))
			w.endProxy(port)
			run := exec.Command(installed(w.client.program), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "count the lines")
			run.Dir, run.Env = w.dir, w.env
			out, err = run.CombinedOutput()
			require.NoError(t, err, string(out))
			assert.Contains(t, string(out), "three times")
			b.checkCodexCalls(t, login)
			w.ours("init", "codex", "--proxy", "--uninstall")
			text, err := os.ReadFile(config)
			require.NoError(t, err)
			assert.Equal(t, quietCodex, string(text))
		})
	}
}

// TestClaudeSubscription proves that Claude Code with a subscription's bearer works through the proxy of a run, and that the bearer
// reaches Anthropic alone.
func TestClaudeSubscription(t *testing.T) {
	w := newWorld(t, both()[0], gcScript("Bash", "command", filepath.Join(t.TempDir(), "ask"), filepath.Join("/", "dev", "null"))...)
	b := withBackends(t, w)
	state := w.withState()
	w.env = slices.DeleteFunc(w.env, func(v string) bool {
		return strings.HasPrefix(v, "ANTHROPIC_BASE_URL=") || strings.HasPrefix(v, "ANTHROPIC_API_KEY=")
	})
	w.env = append(w.env, "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-invented")
	cmd := w.underProxy(nil, append(slices.Clone(w.client.direct), "count the lines")...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), stdout.String()+stderr.String())
	assert.Contains(t, stdout.String(), "three times")
	calls := b.modelCalls()
	require.NotEmpty(t, calls)
	for _, r := range b.requests() {
		if strings.Contains(fmt.Sprint(r.header), "sk-ant-oat01-") {
			assert.Equal(t, "api.anthropic.com", r.host)
		}
	}
	last := calls[len(calls)-1]
	assert.Equal(t, "Bearer sk-ant-oat01-invented", last.header.Get("Authorization"))
	assert.Empty(t, last.header.Get("X-Api-Key"))
	assert.Contains(t, string(last.body), "[cleared ")
	w.leavesNothing(state)
}
