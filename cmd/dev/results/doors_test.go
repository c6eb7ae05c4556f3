//go:build unix

package results

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// upstream is the model's API behind the proxy.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	body []byte // of the last request
}

// run runs the program and returns what it printed, its notes on the standard error last.
func run(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	p := command.Process{Args: args, Env: environment(dir), Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs}
	require.Equal(t, command.OK, command.Execute(t.Context(), verbs.Root(p), p), errs.String())
	return strings.TrimSuffix(out.String(), "\n") + "\n" + errs.String()
}

func environment(dir string, more ...string) []string {
	return append([]string{"HOME=" + dir, "XDG_STATE_HOME=" + dir + "/state", "XDG_CONFIG_HOME=" + dir + "/config", "XDG_CACHE_HOME=" + dir + "/cache",
		"MCP_PRUNER_OTHER_TOOLS=all", // else the results of other servers stay whole
		"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH")}, more...)
}

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		assert.NoError(t, err)
		u.mu.Lock()
		u.body = body
		u.mu.Unlock()
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(u.Close)
	return u
}

// proxy runs the verb proxy until the returned function is called, and returns its address. Each result has a proxy of
// its own, because equal results in equal conversations are one result to a proxy.
func (u *upstream) proxy(t *testing.T) (address string, end func()) {
	t.Helper()
	from, stderr := io.Pipe()
	p := command.Process{Args: []string{"proxy", "--policy", "prune", "--upstream", u.URL}, Env: environment(t.TempDir()), Stdin: strings.NewReader(""),
		Stdout: io.Discard, Stderr: stderr}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- command.Execute(ctx, verbs.Root(p), p)
		_ = stderr.Close()
	}()
	lines := bufio.NewScanner(from)
	require.True(t, lines.Scan(), "the proxy ended: %v", lines.Err())
	var ready struct {
		Data struct {
			File string `json:"url_file"`
		}
	}
	require.NoError(t, json.Unmarshal(lines.Bytes(), &ready), lines.Text())
	url, err := os.ReadFile(ready.Data.File) // with the secret
	require.NoError(t, err, lines.Text())
	go func() { _, _ = io.Copy(io.Discard, from) }() // the rest of the event log
	return strings.TrimSpace(string(url)), func() {
		cancel()
		<-ended
	}
}

// through passes a result through a door and returns what the model is shown.
func (u *upstream) through(t *testing.T, door string, s *Sample) string {
	t.Helper()
	var out string
	switch door {
	case "hook":
		out = hooked(t, s)
	case "server":
		out = served(t, s)
	case "proxy":
		out = u.forwarded(t, s)
	default:
		out = pruned(t, s)
	}
	return scrub(out)
}

var ways = []struct {
	re   *regexp.Regexp
	text string
}{
	{regexp.MustCompile("`[^`\n]* recover [\\w.-]+"), "`mcp-pruner recover ID"},
	{regexp.MustCompile(`prn_[0-9a-z]+`), "prn_ID"},
}

// scrub replaces what differs from run to run.
func scrub(text string) string {
	for _, w := range ways {
		text = w.re.ReplaceAllString(text, w.text)
	}
	return text
}

func hooked(t *testing.T, s *Sample) string {
	t.Helper()
	dir := t.TempDir()
	transcript := filepath.Join(dir, "session.jsonl")
	require.NoError(t, os.WriteFile(transcript, []byte(s.Transcript()), 0o600))
	args := []string{"hook", s.client}
	if s.client == "gemini" {
		args = append(args, "--replace")
	}
	answer := run(t, dir, s.Event(transcript), args...)
	if answer == "\n" {
		return s.shown()
	}
	return s.answered(answer)
}

func (u *upstream) forwarded(t *testing.T, s *Sample) string {
	t.Helper()
	address, end := u.proxy(t)
	defer end()
	path, body := s.Request()
	res, err := http.Post(address+path, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	u.mu.Lock()
	defer u.mu.Unlock()
	return s.received(u.body)
}

// pruned passes the text through the verb prune.
func pruned(t *testing.T, s *Sample) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "output.txt")
	if read := s.call().File; read != "" {
		file = filepath.Join(dir, filepath.Base(read))
	}
	require.NoError(t, os.WriteFile(file, []byte(s.text), 0o600))
	args := []string{"prune", "-q", s.question, file}
	if s.call().Kind == history.Grep {
		args = append(args, "--kind", "grep")
	}
	return run(t, dir, "", args...)
}

// server makes the call with this program's tool that does the same, or through the gateway.
func served(t *testing.T, s *Sample) string {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "shop")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o755))
	require.NoError(t, os.Mkdir(root, 0o755))
	call := s.call()
	ask := object{"context_focus_question": s.question}
	tool, args := string(call.Kind), []string{}
	switch call.Kind {
	case history.Read:
		name := filepath.Base(call.File)
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(strings.Repeat("\n", s.first-1)+s.text), 0o600))
		ask["file_path"] = name
		if s.first > 1 {
			ask["start_line"] = s.first
		}
	case history.Bash:
		ask["command"] = s.printer(t, dir)
	case history.Grep:
		s.plant(t, root)
		ask["pattern"] = call.Pattern
		for _, name := range []string{"-A", "-C"} {
			if s.args[name] != nil {
				ask["context_lines"] = s.args[name]
			}
		}
	default:
		return gatewayed(t, dir, s)
	}
	return serve(t, dir, root, args, tool, ask)
}

// printer writes a program that prints the result, and returns the command that runs it.
func (s *Sample) printer(t *testing.T, dir string) string {
	t.Helper()
	printed := filepath.Join(dir, "printed.txt")
	require.NoError(t, os.WriteFile(printed, []byte(s.text), 0o600))
	script := fmt.Sprintf("#!/bin/sh\n/bin/cat %s\nexit %d\n", printed, s.exit)
	name := program.FindStringSubmatch(s.call().Command)[1]
	for _, folder := range []string{"bin", "shop"} { // ./NAME runs in the root
		require.NoError(t, os.WriteFile(filepath.Join(dir, folder, name), []byte(script), 0o700))
	}
	return s.call().Command
}

// program matches the name of the program that a command runs.
var program = regexp.MustCompile(`^(?:\./)?([\w.-]+)`)

// plant writes the files of a search's matches.
func (s *Sample) plant(t *testing.T, root string) {
	t.Helper()
	files := map[string]map[int]string{}
	for _, m := range matches(s.text) {
		if files[m.file] == nil {
			files[m.file] = map[int]string{}
		}
		files[m.file][m.line] = m.text
	}
	require.NotEmpty(t, files, s.name)
	for name, lines := range files {
		var b strings.Builder
		for n := 1; len(lines) > 0; n++ {
			b.WriteString(lines[n] + "\n")
			delete(lines, n)
		}
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	}
}

// serve runs the server in a folder and makes one call.
func serve(t *testing.T, dir, root string, args []string, tool string, ask object) string {
	t.Helper()
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	p := command.Process{
		Args: args, Env: environment(dir, "PRUNER_URL=embedded", "MCP_PRUNER_CWD="+root, "MCP_PRUNER_LOG_LEVEL=error"),
		Stdin: in, Stdout: out, Stderr: io.Discard,
	}
	ended := make(chan int, 1)
	go func() { ended <- command.Execute(t.Context(), verbs.Root(p), p) }()
	defer func() {
		_ = stdin.Close()
		assert.Equal(t, command.OK, <-ended)
	}()
	answers := bufio.NewReader(stdout)
	say := func(id int, method string, params object) json.RawMessage {
		_, err := io.WriteString(stdin, encode(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})+"\n")
		require.NoError(t, err)
		for {
			line, err := answers.ReadBytes('\n')
			require.NoError(t, err)
			var answer struct {
				ID            int
				Result, Error json.RawMessage
			}
			require.NoError(t, json.Unmarshal(line, &answer), string(line))
			if answer.ID == id {
				require.Nil(t, answer.Error, string(line))
				return answer.Result
			}
		}
	}
	say(1, "initialize", object{"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": "claude-code", "version": "1"}})
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	require.NoError(t, json.Unmarshal(say(2, "tools/call", object{"name": tool, "arguments": ask}), &result))
	require.False(t, result.IsError, "%v", result.Content)
	var texts []string
	for _, part := range result.Content {
		texts = append(texts, part.Text)
	}
	return strings.ReplaceAll(strings.Join(texts, "\n"), root, "/shop")
}

// gatewayed calls a tool of another server, whose results are this one, through the gateway.
func gatewayed(t *testing.T, dir string, s *Sample) string {
	t.Helper()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		if json.NewDecoder(req.Body).Decode(&m) != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		var result any = object{}
		switch m.Method {
		case "initialize":
			result = object{"protocolVersion": m.Params.ProtocolVersion, "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "x", "version": "1"}}
		case "tools/list":
			result = object{"tools": []any{object{"name": "get", "description": "Returns it.", "inputSchema": object{"type": "object"}}}}
		case "tools/call":
			result = object{"content": []any{object{"type": "text", "text": s.text}}}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, encode(object{"jsonrpc": "2.0", "id": m.ID, "result": result}))
	}))
	defer other.Close()
	config, mapping := filepath.Join(dir, "servers.json"), filepath.Join(dir, "map.json")
	require.NoError(t, os.WriteFile(config, []byte(encode(object{"mcpServers": object{"other": object{"type": "http", "url": other.URL}}})), 0o600))
	require.NoError(t, os.WriteFile(mapping, []byte(`{"servers":{"other":{"prune_over":2000}}}`), 0o600))
	return serve(t, dir, dir, []string{"gateway", "--mode", "trim", "--map", mapping, config}, "other_get", object{"context_focus_question": s.question})
}
