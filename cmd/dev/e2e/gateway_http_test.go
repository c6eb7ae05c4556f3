//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dialogue is a client of a server over stdio that answers the server's requests.
type dialogue struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	log     bytes.Buffer
	answers map[string]string // results by the method of the server's request
	hello   string            // the result of initialize

	replies chan wireMessage
	mu      sync.Mutex
	told    []string // methods of the server's notifications and requests
}

type wireMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// converse starts our program and initializes the connection. The caller ends the server with end.
func converse(w *world, capabilities string, answers map[string]string, args ...string) *dialogue {
	w.t.Helper()
	return converseWith(w, exec.Command(pruner, args...), capabilities, answers)
}

// converseWith is converse for any server. The command's environment is added to the world's.
func converseWith(w *world, cmd *exec.Cmd, capabilities string, answers map[string]string) *dialogue {
	w.t.Helper()
	d := &dialogue{t: w.t, cmd: cmd, answers: answers, replies: make(chan wireMessage, 100)}
	d.cmd.Dir, d.cmd.Env, d.cmd.Stderr = w.dir, slices.Concat(w.env, cmd.Env), &d.log
	var err error
	d.in, err = d.cmd.StdinPipe()
	require.NoError(w.t, err)
	out, err := d.cmd.StdoutPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, d.cmd.Start())
	go d.listen(out)
	d.hello = d.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"e2e","version":"1"}}`)
	d.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return d
}

// listen reads until the server ends, and then closes replies.
func (d *dialogue) listen(out io.Reader) {
	defer close(d.replies)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m wireMessage
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		if m.Method == "" {
			d.replies <- m
			continue
		}
		d.mu.Lock()
		d.told = append(d.told, m.Method)
		d.mu.Unlock()
		if m.ID != nil {
			d.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, d.answers[m.Method]))
		}
	}
}

func (d *dialogue) say(line string) { _, _ = io.WriteString(d.in, line+"\n") }

// ask sends a request and returns its result or its error.
func (d *dialogue) ask(method, params string) string {
	d.t.Helper()
	d.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	select {
	case m, ok := <-d.replies:
		require.True(d.t, ok, "the server ended: %s", method)
		return string(m.Result) + string(m.Error)
	case <-time.After(2 * time.Minute):
		require.Fail(d.t, "no answer", method)
		return ""
	}
}

func (d *dialogue) call(tool, args string) string {
	d.t.Helper()
	return d.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{"progressToken":"mine"}}`, tool, args))
}

func (d *dialogue) heard(method string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.told {
		if m == method {
			n++
		}
	}
	return n
}

// end closes the server's input and returns what it wrote to standard error.
func (d *dialogue) end() string {
	d.t.Helper()
	require.NoError(d.t, d.in.Close())
	for range d.replies { // until standard output ends
	}
	require.NoError(d.t, d.cmd.Wait())
	return d.log.String()
}

// everythingOverHTTP starts the public "everything" server over streamable HTTP and waits until it listens.
func everythingOverHTTP(w *world, port int) (end func()) {
	w.t.Helper()
	dir, err := installFrom("clients/servers/package.json", "mcp-pruner-e2e-servers")
	if err != nil {
		w.t.Skip(err)
	}
	cmd := w.node(filepath.Join(dir, "node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "streamableHttp")
	cmd.Env = append(append([]string{}, w.env...), fmt.Sprintf("PORT=%d", port))
	log, err := cmd.StderrPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, cmd.Start())
	end = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	w.t.Cleanup(end)
	lines := bufio.NewScanner(log)
	for lines.Scan() && !strings.Contains(lines.Text(), "listening") {
	}
	require.Contains(w.t, lines.Text(), "listening")
	go io.Copy(io.Discard, log) //nolint:errcheck // until it ends
	return end
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestGatewayOfAServerOverHTTP proves that the gateway works with a public server over streamable HTTP that requires a
// header. Calls, progress, requests to the client and changed lists pass through. After a restart of the server, which
// forgets its sessions, the next call gets a new session. The header's value is not in the gateway's command line,
// events or errors.
func TestGatewayOfAServerOverHTTP(t *testing.T) {
	w := newWorld(t, clientNamed(t, "claude"), done)
	port := freePort(t)
	end := everythingOverHTTP(w, port)
	target, err := url.Parse(fmt.Sprintf("http://127.0.0.1:%d", port))
	require.NoError(t, err)
	through := httputil.NewSingleHostReverseProxy(target)
	through.FlushInterval, through.ErrorLog = -1, log.New(io.Discard, "", 0)
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hunter2hunter2" || r.URL.Query().Get("key") != "hunter3hunter3" {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		through.ServeHTTP(rw, r)
	}))
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	config := filepath.Join(w.home, "http.json")
	w.write(config, fmt.Sprintf(`{"mcpServers":{"far":{"url":"%s/mcp?key=${FAR_KEY}","headers":{"Authorization":"Bearer ${FAR_TOKEN}"}}}}`, front.URL), 0o600)
	w.env = append(w.env, "FAR_TOKEN=hunter2hunter2", "FAR_KEY=hunter3hunter3")

	d := converse(w, `{"sampling":{},"elicitation":{},"roots":{"listChanged":true}}`, map[string]string{
		"sampling/createMessage": `{"role":"assistant","model":"m","content":{"type":"text","text":"sampled 4711"}}`,
		"elicitation/create":     `{"action":"decline"}`,
		"roots/list":             `{"roots":[{"uri":"file:///crate","name":"crate"}]}`,
	}, "gateway", "--mode", "trim", "--bare", config)
	// The server registers some tools late and announces them on its event stream.
	require.Eventually(t, func() bool {
		return strings.Contains(d.ask("tools/list", `{}`), `"trigger-sampling-request"`)
	}, time.Minute, 100*time.Millisecond)
	echo := `{"content":[{"type":"text","text":"Echo: a <b> & \"c\""}]}`
	assert.JSONEq(t, echo, d.call("echo", `{"message":"a <b> & \"c\""}`))
	assert.Contains(t, d.call("trigger-long-running-operation", `{"duration":0.1,"steps":3}`), "Steps: 3")
	assert.Equal(t, 3, d.heard("notifications/progress"))
	assert.Contains(t, d.call("trigger-sampling-request", `{"prompt":"how many?"}`), "sampled 4711")
	assert.Contains(t, d.call("trigger-elicitation-request", `{}`), "declined")
	assert.Equal(t, 1, d.heard("elicitation/create"))

	end() // the sessions end with the server
	end = everythingOverHTTP(w, port)
	anew := `},{"type":"text","text":"[the MCP server far was started anew since your last call: what it kept in memory is lost]"}]}`
	assert.JSONEq(t, strings.Replace(echo, "}]}", anew, 1), d.call("echo", `{"message":"a <b> & \"c\""}`), "in a new session, at the first attempt")

	end()
	lost := d.call("echo", `{"message":"x"}`)
	assert.Contains(t, lost, "the MCP server far did not answer")
	assert.Contains(t, lost, `"isError":true`)

	shown, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", d.cmd.Process.Pid))
	require.NoError(t, err)
	events := d.end()
	assert.Contains(t, events, "gateway.upstream_ready")
	for _, secret := range []string{"hunter2", "hunter3"} {
		assert.NotContains(t, string(shown), secret, "ps")
		assert.NotContains(t, events, secret)
		assert.NotContains(t, lost, secret)
	}
}

// TestGatewayColdStart proves that the gateway's first list has every server's tools, without saved lists. With saved
// lists, the list stays complete even if a server never answers.
func TestGatewayColdStart(t *testing.T) {
	w, servers := gatewayWorld(t, clientNamed(t, "claude"), false)
	config := w.serversFile("servers.json", servers)
	d := converse(w, `{}`, nil, "gateway", "--mode", "group", config)
	first := d.ask("tools/list", `{}`)
	for _, tool := range grouped {
		assert.Contains(t, first, fmt.Sprintf(`"name":%q`, tool))
	}
	d.end()

	self, err := os.Executable()
	require.NoError(t, err)
	deaf := filepath.Join(w.home, "memory")
	w.write(deaf, "#!/bin/sh\nexec '"+servers["memory"].Command+"' \"$@\"\n", 0o755)
	memory := servers["memory"]
	memory.Command = deaf // the same command before and after, so that the saved list applies
	servers["memory"] = memory
	config = w.serversFile("servers.json", servers)
	d = converse(w, `{}`, nil, "gateway", "--mode", "group", config)
	before := d.ask("tools/list", `{}`)
	d.end()
	w.write(deaf, "#!/bin/sh\nexec '"+self+"' fake-server hang\n", 0o755)
	d = converse(w, `{}`, nil, "gateway", "--mode", "group", config)
	hints := regexp.MustCompile(`"annotations":\{[^{}]*\}`) // those of a server that has not answered count as the most careful ones
	assert.Equal(t, hints.ReplaceAllString(before, ""), hints.ReplaceAllString(d.ask("tools/list", `{}`), ""))
	assert.Contains(t, d.call("everything", `{"action":"echo","message":"x"}`), "Echo: x")
	d.end()
	w.nothingLeft()
}
