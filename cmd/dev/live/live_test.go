package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/running"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// session writes a collection with one session of commands with large outputs, which no later step needs.
func session(t *testing.T) (collection string) {
	t.Helper()
	steps := []any{map[string]any{"k": "user", "text": "look at the outputs"}}
	for i := range 60 {
		id := fmt.Sprintf("toolu_01A2b3C4d5E6f7G8h9%04d", i)
		args := map[string]any{"command": fmt.Sprintf("run %d", i)}
		steps = append(steps, map[string]any{"k": "call"}, map[string]any{"k": "use", "id": id, "tool": "Bash", "args": args},
			map[string]any{"k": "result", "id": id, "tool": "Bash", "args": args, "out": strings.Repeat(fmt.Sprintf("a line of the output of command number %d\n", i), 150)})
	}
	line, err := json.Marshal(map[string]any{"id": "test", "src": "test", "steps": append(steps, map[string]any{"k": "call"})})
	require.NoError(t, err)
	collection = filepath.Join(t.TempDir(), "sessions")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(append(line, '\n'))
	require.NoError(t, errors.Join(err, z.Close()))
	require.NoError(t, os.WriteFile(collection+".jsonl.gz", b.Bytes(), 0o600))
	return collection
}

// TestWhatGatewaysRefuse: the checks are those that both gateways publish.
func TestWhatGatewaysRefuse(t *testing.T) {
	call, result := `{"role":"assistant","tool_calls":[{"id":"a"}]}`, `{"role":"tool","tool_call_id":"a","content":"x"}`
	block, answer := `{"content":[{"type":"tool_use","id":"b"}]}`, `{"content":[{"type":"tool_result","tool_use_id":"b"}]}`
	item, output := `{"type":"function_call","call_id":"c"}`, `{"type":"function_call_output","call_id":"c"}`
	for _, pair := range [][2]string{{call, result}, {block, answer}, {item, output}} {
		whole := "[" + pair[0] + "," + pair[1] + "]"
		assert.NoError(t, checkMessages([]byte(whole), []byte(whole)))
		for _, half := range []string{"[]", "[" + pair[0] + "]", "[" + pair[1] + "]", `["x",` + pair[0] + "," + pair[1] + "]"} {
			assert.Error(t, checkMessages([]byte(whole), []byte(half)), half)
		}
		assert.NoError(t, checkMessages([]byte("["+pair[0]+"]"), []byte("["+pair[0]+"]")), "it was a half before")
	}
}

// What the running proxy saves is what replay says, in the form of every API; and it saves most of that for a client that changes
// its own messages.
func TestTheProxySavesWhatReplaySays(t *testing.T) {
	program := filepath.Join(t.TempDir(), "mcp-pruner")
	build := exec.Command("go", "build", "-o", program, "./cmd/mcp-pruner")
	build.Dir = "../../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	file := session(t)
	require.NoError(t, run(context.Background(), file, []string{"test"}, program, true))
	require.NoError(t, runEdits(context.Background(), io.Discard, file, []string{"test"}, program))
	var behind strings.Builder
	require.NoError(t, runBehind(context.Background(), &behind, file, []string{"test"}, program))
	assert.Regexp(t, `litellm \| test \| 61 \| [1-9]\d* \| [1-9]`, behind.String())
	assert.Regexp(t, `agentgateway \| test \| 61 \| 0 \| 0.0 %`, behind.String(), "commands cannot be read again")
	assert.Regexp(t, `tool= \| test \| 61 \| [1-9]\d* \| [1-9]`, behind.String())
	for kind, saved := range map[string]string{liteLLM: `[1-9]\d* \| [1-9]`, agentgateway: `0 \| 0.0 %`} {
		assert.Regexp(t, `127.0.0.1:\d+/ \| test \| 61 \| `+saved, inFront(t, kind, program, file), kind)
	}
}

// inFront plays the session against a gateway that runs already, as make live GATEWAY=URL does, and returns what it prints.
func inFront(t *testing.T, kind, program, file string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	api := l.Addr().String()
	require.NoError(t, l.Close())
	proxy, end, err := running.Proxy(proxyCommand(context.Background(), program, t.TempDir(), "gc", "http://"+api), patience)
	require.NoError(t, err)
	defer func() { _ = end() }() // it was asked to end, and says so by its status
	g := newGateway(kind, proxy, "http://"+api)
	defer g.Close()
	var printed strings.Builder
	require.NoError(t, runReal(context.Background(), &printed, file, []string{"test"}, g.URL+"/", api))
	require.Empty(t, g.problems)
	return printed.String()
}

// What a transcript lost is made up for: ids, calls, and that parallel calls were those of one answer.
func TestValid(t *testing.T) {
	args := map[string]any{"command": "ls"}
	call, use := sessions.Step{Kind: sessions.Call}, sessions.Step{Kind: sessions.Use, ID: "a", Tool: "Bash", Args: args}
	result := sessions.Step{Kind: sessions.Result, Tool: "bash_execute", Args: args}
	of := func(s sessions.Step, id string) sessions.Step { s.ID = id; return s }
	kinds := func(steps ...sessions.Step) (text string) {
		ids := map[string]string{"": "-"}
		for _, s := range valid(sessions.Session{Steps: steps}).Steps {
			if _, known := ids[s.ID]; !known {
				ids[s.ID] = fmt.Sprint(len(ids))
			}
			text += fmt.Sprint(s.Kind, ids[s.ID], " ")
		}
		return text
	}
	assert.Equal(t, "call- use1 use2 result1 result2 call- ", kinds(call, use, call, use, of(result, "a"), of(result, "a"), call), "one id for all")
	assert.Equal(t, "call- use1 result1 use2 result2 ", kinds(call, use, result, result), "no ids, and a call too few")
	assert.Equal(t, "use1 result1 use2 result2 drop2 ", kinds(use, of(result, "a"), use, of(result, "a"), sessions.Step{Kind: sessions.Drop, ID: "a"}))
}

// A client changes one old message at a time, never one of the newest.
func TestEdit(t *testing.T) {
	var history []sessions.Step
	for i := range 40 {
		history = append(history, sessions.Step{Kind: sessions.User, Text: "text"}, sessions.Step{Kind: sessions.Result, Out: fmt.Sprintf("one\ntwo %d\nthree\n", i)})
	}
	before := slices.Clone(history)
	for turn := range 3 {
		edit(history, turn)
	}
	changed := 0
	for i := range history {
		if !assert.ObjectsAreEqual(before[i], history[i]) {
			changed++
			assert.Less(t, i, len(history)-untouched)
		}
	}
	assert.Equal(t, 2, changed, "a text, and a result twice")
}
