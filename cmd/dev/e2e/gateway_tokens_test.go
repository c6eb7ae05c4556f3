//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// listedServers are the columns of the table.
var listedServers = []string{"chrome-devtools", "everything", "filesystem", "memory", "playwright"}

// withBrowsers adds two servers that drive a browser. They start none before a call.
func withBrowsers(w *world, servers map[string]upstream) map[string]upstream {
	w.t.Helper()
	dir, err := installFrom("clients/servers/package.json", "mcp-pruner-e2e-servers")
	if err != nil {
		w.t.Skip(err)
	}
	chrome, err := installFrom("clients/chrome/package.json", "mcp-pruner-e2e-chrome")
	if err != nil {
		w.t.Skip(err)
	}
	node := servers["memory"].Command
	servers["playwright"] = upstream{node, []string{filepath.Join(dir, "node_modules/@playwright/mcp/cli.js"), "--headless"}, nil}
	servers["chrome-devtools"] = upstream{node, []string{filepath.Join(chrome, "node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"), "--headless", "--usageStatistics=false"}, nil}
	return servers
}

// offeredOf returns the tokens of each server's tools in a request to a model, in the client's own form, and the names of the tools.
func offeredOf(body []byte) (sizes map[string]int, names map[string][]string) {
	sizes, names = map[string]int{}, map[string][]string{}
	named := regexp.MustCompile(`^\{(?:"type":"(?:function|namespace)",)?(?:"function":\{)?"name":"(?:mcp_+)?(` + strings.Join(listedServers, "|") + `|chrome_devtools)(?:"|[-_]+(\w[^"]*)")`)
	end := int32(0)
	for _, v := range jsonspan.Find(body) {
		text := body[v.Start:v.End]
		m := named.FindSubmatch(text)
		if m == nil || v.Start < end {
			continue
		}
		end = v.End
		server := strings.ReplaceAll(string(m[1]), "_", "-")
		sizes[server] += tokens.EstimateAll(string(text))
		names[server] = append(names[server], string(m[2]))
	}
	return sizes, names
}

// reaching returns the command of a run of a client with servers, for the clients that using does not know, too.
func (w *world) reaching(servers map[string]upstream) (run func() (string, error)) {
	switch w.client.name {
	case "gemini", "copilot":
		entries := map[string]any{}
		for name, s := range servers {
			entries[name] = s.entry(map[string]any{"type": map[string]string{"gemini": "stdio", "copilot": "local"}[w.client.name], "tools": []string{"*"}})
		}
		file := filepath.Join(w.home, places[w.client.name].file)
		require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o755))
		w.set(file, "mcpServers", entries)
		return func() (string, error) {
			out, err := w.own("go on").CombinedOutput()
			return string(out), err
		}
	}
	return func() (string, error) {
		out, err := w.using(servers).CombinedOutput()
		return string(out), err
	}
}

// TestTokensOfWrappedServers writes the table of docs/GATEWAY.md: what each client tells its model of the tools of five public servers,
// directly and wrapped. It fails if the page has another one; with -update it writes the page. The names stay.
func TestTokensOfWrappedServers(t *testing.T) {
	rows := []string{"|client|" + strings.Join(listedServers, "|") + "|", "|---|" + strings.Repeat("---|", len(listedServers))}
	for _, name := range []string{"claude", "codex", "copilot", "gemini", "opencode"} {
		var c client
		if name == "copilot" {
			c = copilot(t)
		} else {
			c = clientNamed(t, name)
		}
		var sizes [2]map[string]int
		var names [2]map[string][]string
		for i := range 2 {
			w, servers := gatewayWorld(t, c, false)
			if servers = withBrowsers(w, servers); i == 1 {
				servers = wrappedServers(servers)
			}
			w.model.Play(done)
			out, err := w.reaching(servers)()
			require.NoError(t, err, "%s: %s", name, out)
			requests := w.model.Requests()
			longest := slices.MaxFunc(requests, func(a, b mockmodel.Request) int { return len(a.Body) - len(b.Body) })
			sizes[i], names[i] = offeredOf(longest.Body)
			require.Len(t, sizes[i], len(listedServers), "%s: %v", name, sizes[i])
			w.nothingLeft()
		}
		row := "|" + name
		for _, server := range listedServers {
			slices.Sort(names[0][server])
			slices.Sort(names[1][server])
			assert.Equal(t, names[0][server], names[1][server], "%s %s", name, server)
			row += fmt.Sprintf("|%d→%d", sizes[0][server], sizes[1][server])
		}
		rows = append(rows, row+"|")
	}
	const page, begin, end = "../../../docs/GATEWAY.md", "<!-- written by TestTokensOfWrappedServers -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found)
	written, after, _ := strings.Cut(rest, end)
	now := strings.Join(rows, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+now+end+after), 0o644))
		return
	}
	assert.Equal(t, now, written)
}

// TestWrappedChromeIsTheSame proves that a wrapped server that drives a real Chrome gives the same results as directly.
func TestWrappedChromeIsTheSame(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip(err)
	}
	w, servers := gatewayWorld(t, clientNamed(t, "claude"), false)
	s := withBrowsers(w, servers)["chrome-devtools"]
	s.Args = append(s.Args, "--isolated", "--executablePath="+browser, "--chromeArg=--no-sandbox")
	said := func(s upstream) (all []string) {
		d := converseWith(w, exec.Command(s.Command, s.Args...), `{}`, nil)
		for _, one := range [][2]string{
			{"new_page", `{"url":"data:text/html,<title>Shop</title><button>Buy 4711</button>"}`}, {"take_snapshot", `{}`},
			{"evaluate_script", `{"function":"() => document.title + 1.50"}`}, {"click", `{"uid":"no such"}`},
		} {
			all = append(all, d.call(one[0], one[1]))
		}
		require.NoError(t, d.in.Close())
		for range d.replies { // until standard output ends
		}
		_ = d.cmd.Wait() // ended by a signal where Chrome takes its time
		return all
	}
	direct := said(s)
	assert.Contains(t, strings.Join(direct, "\n"), "Buy 4711")
	assert.Equal(t, direct, said(wrappedServers(map[string]upstream{"chrome": s})["chrome"]))
	w.nothingLeft()
}
