//go:build e2e

package e2e

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// gcProxy is `mcp-pruner proxy` between a client and the mock model.
type gcProxy struct {
	w        *world
	store    string
	upstream string // "": the world's model
	port     string
	options  []string
	addr     string // with the secret
	cmd      *exec.Cmd
}

// start starts the proxy. A restarted proxy gets the same address.
func (p *gcProxy) start() {
	args := []string{"proxy", "--port", cmp.Or(p.port, "0"), "--upstream", cmp.Or(p.upstream, p.w.model.URL), "--store", p.store}
	p.cmd = exec.Command(pruner, append(args, p.options...)...)
	p.cmd.Env = p.w.env
	stderr, err := p.cmd.StderrPipe()
	require.NoError(p.w.t, err)
	require.NoError(p.w.t, p.cmd.Start())
	lines := bufio.NewScanner(stderr)
	require.True(p.w.t, lines.Scan())
	var ready struct {
		Data struct {
			File string `json:"url_file"`
		}
	}
	require.NoError(p.w.t, json.Unmarshal(lines.Bytes(), &ready), lines.Text())
	address, err := os.ReadFile(ready.Data.File)
	require.NoError(p.w.t, err)
	p.addr = strings.TrimSpace(strings.TrimPrefix(string(address), "http://"))
	host, _, _ := strings.Cut(p.addr, "/")
	_, p.port, err = net.SplitHostPort(host)
	require.NoError(p.w.t, err)
	go func() {
		for lines.Scan() { // reads standard error, so that the proxy does not block
			continue
		}
	}()
}

// end interrupts the proxy and waits for its orderly end.
func (p *gcProxy) end() {
	require.NoError(p.w.t, p.cmd.Process.Signal(os.Interrupt))
	require.NoError(p.w.t, p.cmd.Wait())
}

func (p *gcProxy) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// restartOnDemand waits until the client's command creates the file ask. Then it kills and restarts the proxy, and
// creates the file answer.
func (p *gcProxy) restartOnDemand(ask, answer string, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
		if _, err := os.Stat(ask); err == nil {
			p.kill()
			p.start()
			p.w.write(answer, "", 0o644)
			return
		}
	}
}

const gcCalls = 60

// gcScript returns a session of 60 calls of the client's own shell. The proxy is killed and restarted during the middle
// call.
func gcScript(tool, argument, ask, answer string) []mockmodel.Turn {
	var turns []mockmodel.Turn
	for i := range gcCalls {
		command := fmt.Sprintf(`seq -f "line %%g of the output of call %d" 1 150`, i)
		if i == gcCalls/2 {
			command = fmt.Sprintf(`touch %s; while [ ! -e %s ]; do sleep 0.05; done; %s`, ask, answer, command)
		}
		turns = append(turns, mockmodel.Turn{Calls: []mockmodel.Call{{Tool: tool, Args: map[string]any{argument: command}}}})
	}
	return append(turns, done)
}

// TestContextGC runs a session of each real client through the proxy. It proves that each request to the model repeats
// the results of the request before it, except at a few clearings, and that cleared results can be recovered exactly.
func TestContextGC(t *testing.T) {
	every(t, func(t *testing.T, c client) {
		dir := t.TempDir()
		ask, answer := filepath.Join(dir, "ask"), filepath.Join(dir, "answer")
		w := newWorld(t, c, gcScript(c.shell, c.argument, ask, answer)...)
		p := &gcProxy{w: w, store: filepath.Join(dir, "ledger.db")}
		p.start()
		defer func() { p.kill() }()
		stop := make(chan struct{})
		defer close(stop)
		go p.restartOnDemand(ask, answer, stop)
		w.through(p)
		out, err := w.own("count the lines").CombinedOutput()
		require.NoError(t, err, string(out))
		w.checkClearings(p)
		p.end()
		verdict := w.ours("trace", "verify", filepath.Join(dir, "proxy-trace.jsonl"))
		assert.Regexp(t, `(?m)^note: \d+ records? of process .*, which was killed, comes? from its side file\nok: .* run 2\)`, verdict,
			"the run that the kill interrupted, what was cleared since the last batch, and the run after it")
		name := "sess_" // the client's own name of the session
		if c.name == "gemini" {
			name = "conv_" // Gemini CLI sends no name of the session
		}
		assert.Contains(t, w.ours("gc", "stats", "--store", p.store), name)
	})
}

// through makes the client send its requests to the proxy instead of the model.
func (w *world) through(p *gcProxy) {
	for i, entry := range w.env {
		w.env[i] = strings.Replace(entry, w.model.URL, "http://"+p.addr, 1)
	}
	if w.client.config != nil {
		w.client.config(w, "http://"+p.addr)
	}
}

var recoverable = regexp.MustCompile("recover (prn_[0-9a-f]{8})")

func (w *world) checkClearings(p *gcProxy) {
	t := w.t
	var texts [][]string // texts of the results, by request
	for _, r := range w.model.Requests() {
		var found []string
		for _, result := range resultsOf(t, r) {
			found = append(found, result.text)
		}
		if len(found) > 0 {
			texts = append(texts, found)
		}
	}
	require.GreaterOrEqual(t, len(texts), gcCalls-1)
	whole, breaks := map[int]string{}, 0
	for n, results := range texts {
		changed := false
		for i, text := range results {
			if !strings.Contains(text, "[cleared ") {
				whole[i] = text
			}
			changed = changed || n > 0 && i < len(texts[n-1]) && text != texts[n-1][i]
		}
		if changed {
			breaks++
		}
	}
	last := texts[len(texts)-1]
	cleared := 0
	for i, text := range last {
		m := recoverable.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		cleared++
		if cleared > 3 {
			continue
		}
		cmd := exec.Command(pruner, "recover", m[1])
		cmd.Dir, cmd.Env = w.dir, w.env
		got, err := cmd.Output()
		require.NoError(t, err)
		assert.Equal(t, whole[i], string(got), "the exact text of result %d", i)
		cmd = exec.Command(pruner, "recover", m[1])
		cmd.Dir, cmd.Env = w.home, w.env
		elsewhere, err := cmd.Output()
		assert.Error(t, err, "the client named the folder in which it works: another project is given nothing")
		assert.Empty(t, elsewhere)
	}
	assert.Greater(t, cleared, gcCalls/2, "results cleared at the end")
	assert.Greater(t, breaks, 0)
	assert.LessOrEqual(t, breaks, 2*gcCalls/5, "changes of what was sent before: each has to pay for what is written to the cache again")
	t.Logf("%s: %d requests, %d results cleared, %d clearings", w.client.name, len(texts), cleared, breaks)
}

// TestOpencodePlugin proves that the plugin that "gc settings" prints clears results in the same way as the proxy.
func TestOpencodePlugin(t *testing.T) {
	dir := t.TempDir()
	answer := filepath.Join(dir, "answer")
	c := other("opencode")
	w := newWorld(t, c, gcScript(c.shell, c.argument, filepath.Join(dir, "ask"), answer)...)
	w.write(answer, "", 0o644) // nothing is restarted
	p := &gcProxy{w: w, store: filepath.Join(dir, "ledger.db")}
	w.env = append(w.env, "MCP_PRUNER_GC_STORE="+p.store, "XDG_STATE_HOME="+dir)
	plugins := filepath.Join(w.home, ".config", "opencode", "plugins")
	require.NoError(t, os.MkdirAll(plugins, 0o755))
	w.write(filepath.Join(plugins, "mcp-pruner-gc.js"), w.ours("gc", "settings", "--for", "opencode"), 0o644)
	out, err := w.own("count the lines").CombinedOutput()
	require.NoError(t, err, string(out))
	w.checkClearings(p)
	assert.Contains(t, w.ours("trace", "verify", filepath.Join(dir, "mcp-pruner", "hook-trace.jsonl")), "ok: ")
}
