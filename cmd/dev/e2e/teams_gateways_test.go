//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/proxy"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// TestBehindAGateway follows docs/TEAMS.md for a team that has a gateway: the commands start a proxy, and what the gateway would be told
// of it makes a conversation's messages fewer bytes.
func TestBehindAGateway(t *testing.T) {
	if missing != nil {
		t.Skip("the program was not built: see the top")
	}
	for gateway, tells := range map[string]string{"litellm": `echo "$HEADROOM_API_BASE/v1/compress"; echo "$HEADROOM_API_KEY"`, "agentgateway": `echo "http://127.0.0.1:8787$PRUNER_COMPRESS"; echo`} {
		t.Run(gateway, func(t *testing.T) {
			dir, port := t.TempDir(), fmt.Sprint(freePort(t))
			block := regexp.MustCompile("(?s)```\n(mcp-pruner proxy[^`]*?" + gateway + " -[^`]*?)```").FindStringSubmatch(read(t, "../../../docs/TEAMS.md"))
			require.NotNil(t, block)
			programs := filepath.Join(dir, "programs")
			require.NoError(t, os.Mkdir(programs, 0o700))
			stub := strings.ReplaceAll("#!/bin/sh\n("+tells+") >told.new\nmv told.new told\n", "8787", port)
			require.NoError(t, os.WriteFile(filepath.Join(programs, gateway), []byte(stub), 0o700))
			require.NoError(t, os.Symlink(pruner, filepath.Join(programs, "mcp-pruner")))
			sh := exec.Command("sh", "-e", "-c", strings.ReplaceAll(block[1], "8787", port))
			sh.Dir, sh.Env = dir, []string{"PATH=" + programs + ":" + os.Getenv("PATH"), "HOME=" + dir}
			endsProxy(t, dir, port)
			said, err := sh.CombinedOutput()
			require.NoError(t, err, string(said))
			url, key, _ := strings.Cut(read(t, filepath.Join(dir, "told")), "\n")
			messages := toldMessages(t)
			if gateway == "litellm" { // which makes Chat Completions of all
				messages = toldChat(t)
			}
			got := shrunk(t, url, strings.TrimSpace(key), gateway, messages)
			assert.Less(t, 10*len(got), 6*len(messages), "of %d bytes %d were left", len(messages), len(got))
			var says struct {
				Before int `json:"tokens_before"`
				After  int `json:"tokens_after"`
			}
			response, err := http.Get(strings.TrimSpace(read(t, filepath.Join(dir, ".local/state/mcp-pruner/proxy-"+port+".url"))) + "/healthz")
			require.NoError(t, err)
			defer func() { _ = response.Body.Close() }()
			require.NoError(t, json.NewDecoder(response.Body).Decode(&says))
			assert.Less(t, 10*says.After, 6*says.Before)
		})
	}
}

// toldMessages are those of a conversation in which files are read.
func toldMessages(t *testing.T) []byte {
	t.Helper()
	c := &conversation{name: "talk", calls: 60}
	var body struct{ Messages json.RawMessage }
	require.NoError(t, json.Unmarshal(c.history(), &body))
	return bytes.ReplaceAll(bytes.ReplaceAll(body.Messages, []byte(`"Bash"`), []byte(`"Read"`)), []byte(`"command":"run `), []byte(`"file_path":"/src/`))
}

// toldChat are those of a conversation in which commands run, as LiteLLM tells of it.
func toldChat(t *testing.T) []byte {
	t.Helper()
	type object = map[string]any
	messages := []object{{"role": "system", "content": "You are an agent."}, {"role": "user", "content": "look at the outputs"}}
	for i := range 60 {
		id := fmt.Sprintf("call_%024d", i)
		call := object{"id": id, "type": "function", "function": object{"name": "Bash", "arguments": fmt.Sprintf(`{"command":"run %d"}`, i)}}
		messages = append(messages, object{"role": "assistant", "content": nil, "tool_calls": []object{call}},
			object{"role": "tool", "tool_call_id": id, "content": strings.Repeat(fmt.Sprintf("a line of run %d\n", i), 200)})
	}
	text, err := json.Marshal(messages)
	require.NoError(t, err)
	return text
}

// endsProxy ends the proxy that --ensure starts, after the test.
func endsProxy(t *testing.T, home, port string) {
	t.Helper()
	t.Cleanup(func() {
		key, err := secret.LoadProof(func(name string) (string, bool) { return filepath.Join(home, ".local/state"), name == "XDG_STATE_HOME" })
		assert.NoError(t, err)
		assert.NoError(t, proxy.Stop(context.Background(), "http://127.0.0.1:"+port, key))
	})
}

// shrunk asks as a gateway does.
func shrunk(t *testing.T, url, key, gateway string, messages []byte) []byte {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(fmt.Sprintf(`{"messages":%s,"model":"claude-opus-5"}`, messages)))
	require.NoError(t, err)
	r.Header.Set("User-Agent", gateway+"/1.92.0")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, "%.300s", raw)
	var answer struct{ Messages json.RawMessage }
	require.NoError(t, json.Unmarshal(raw, &answer))
	return answer.Messages
}
