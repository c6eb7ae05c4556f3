package verbs

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

// connected is a client's connection to the server on standard input and output.
type connected struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
	n   int
}

// serve runs the server until do returns.
func serve(t *testing.T, env []string, do func(*connected)) {
	t.Helper()
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	end := make(chan int, 1)
	p := command.Process{Env: env, Stdin: stdin, Stdout: stdout, Stderr: io.Discard}
	go func() {
		end <- command.Execute(t.Context(), Root(p), p)
		_ = stdout.Close()
	}()
	s := &connected{t: t, in: in, out: bufio.NewReader(out)}
	s.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"some-client","version":"1"}}`)
	do(s)
	require.NoError(t, in.Close())
	require.Equal(t, 0, <-end)
}

// answer is a result or an error of the protocol.
type answer struct {
	Result struct {
		Content    []struct{ Text string }
		Structured map[string]any `json:"structuredContent"`
		Meta       map[string]any `json:"_meta"`
		IsError    bool
		Tools      []struct {
			InputSchema struct {
				Properties map[string]struct{ Description string }
			}
		}
	}
	Error struct{ Code int }
}

func (s *connected) ask(method, params string) answer {
	s.t.Helper()
	s.n++
	_, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.n, method, params)
	require.NoError(s.t, err)
	line, err := s.out.ReadString('\n')
	require.NoError(s.t, err)
	var a answer
	require.NoError(s.t, json.Unmarshal([]byte(line), &a), line)
	return a
}

func (s *connected) call(tool, args string) answer {
	s.t.Helper()
	return s.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
}

// project returns the project that the descriptions of the tools name.
func (s *connected) project() string {
	s.t.Helper()
	for _, tool := range s.ask("tools/list", `{}`).Result.Tools {
		if m := regexp.MustCompile(`records under "(.+)"`).FindStringSubmatch(tool.InputSchema.Properties["project_id"].Description); m != nil {
			return m[1]
		}
	}
	require.Fail(s.t, "no tool names the project")
	return ""
}

// What a server answered is in the ledger without a model's doing. Another server finds, plans, stashes, pins and
// returns it, and each call is a request with its record.
func TestTheToolsOfTheLedger(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace.jsonl")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("one\ntwo\n"), 0o600))
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"MCP_PRUNER_CWD=" + dir, "MCP_PRUNER_TOOLSETS=core,gc",
		"MCP_PRUNER_GC_STORE=" + filepath.Join(dir, "state", "ledger.db"), "MCP_PRUNER_TRACE=" + trace}
	var shown [2]string
	serve(t, env, func(s *connected) { // what it answered is stored when it has ended
		shown[0] = s.call("read", `{"file_path":"notes.txt"}`).Result.Content[0].Text
		shown[1] = s.call("bash", `{"command":"echo from a command"}`).Result.Content[0].Text
	})
	calls := 2
	serve(t, env, func(s *connected) {
		project := s.project()
		ledger := func(tool, args string) answer {
			calls++
			return s.call(tool, fmt.Sprintf(`{"project_id":%q,%s}`, project, args))
		}
		a := ledger("context_gc_analyze", `"target_tokens":1`).Result
		assert.EqualValues(t, 2, a.Structured["total_candidates"])
		assert.Equal(t, []any{"s2"}, a.Structured["pruning_plan"].(map[string]any)["stash_segments"])
		assert.NotEmpty(t, a.Meta)
		a = ledger("context_gc_pin", `"segment_ids":["s1"]`).Result
		assert.Equal(t, []any{"s1"}, a.Structured["pinned_segments"])
		a = ledger("context_gc_prune", `"segment_ids":["s1"],"action":"delete","confirm":true`).Result
		assert.True(t, a.IsError)
		assert.Contains(t, a.Content[0].Text, "context_gc_unpin")
		a = ledger("context_gc_prune", `"segment_ids":["s1","s2"],"action":"stash"`).Result
		assert.Equal(t, []any{"s2"}, a.Structured["pruned_segments"])
		for i, text := range shown {
			assert.Equal(t, text, ledger("context_get", fmt.Sprintf(`"segment_id":"s%d"`, i+1)).Result.Content[0].Text)
			sum := sha256.Sum256([]byte(text)) // as if the proxy had cleared it
			id, err := recovery.Index{State: filepath.Join(dir, "state", "mcp-pruner")}.Claim(recovery.NewEntry(sum, filepath.Join(dir, "state", "ledger.db"), dir, 1))
			require.NoError(t, err)
			assert.Equal(t, text, ledger("context_get", fmt.Sprintf(`"segment_id":%q`, id)).Result.Content[0].Text)
			calls += 2 // of read
			assert.Equal(t, text, s.call("read", fmt.Sprintf(`{"file_path":%q}`, id)).Result.Content[0].Text)
			assert.True(t, s.call("read", fmt.Sprintf(`{"file_path":"s%d"}`, i+1)).Result.IsError, "a segment's id is one of many ledgers")
		}
		a = ledger("context_search", `"query":"command","tier":"stashed"`).Result
		assert.EqualValues(t, 1, a.Structured["total_matches"])
		assert.Equal(t, -32602, ledger("context_gc_prune", `"segment_ids":["s2"],"action":"delet"`).Error.Code)
	})
	records, err := os.ReadFile(trace)
	require.NoError(t, err)
	assert.Equal(t, calls, strings.Count(string(records), `"req:received"`), "a record each")
	for _, tool := range []string{"context_gc_analyze", "context_gc_prune", "context_gc_pin", "context_get", "context_search"} {
		assert.Contains(t, string(records), `"`+tool+`"`)
	}
}
