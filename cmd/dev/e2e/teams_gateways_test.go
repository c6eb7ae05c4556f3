//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			script := strings.NewReplacer("8787", port, " &\n", " & echo $! >>started\n",
				"sleep 1", "until [ -s ~/.local/state/mcp-pruner/proxy-"+port+".url ]; do sleep .1; done").Replace(block[1])
			sh := exec.Command("sh", "-e", "-c", "trap 'kill $(cat started)' TERM\n"+script+"\nwait")
			sh.Dir, sh.Env = dir, []string{"PATH=" + programs + ":" + os.Getenv("PATH"), "HOME=" + dir}
			log, err := os.Create(filepath.Join(dir, "log"))
			require.NoError(t, err)
			defer func() { _ = log.Close() }()
			sh.Stdout, sh.Stderr = log, log
			require.NoError(t, sh.Start())
			t.Cleanup(func() {
				_ = sh.Process.Signal(syscall.SIGTERM)
				_ = sh.Wait()
			})
			require.Eventually(t, func() bool { return exists(filepath.Join(dir, "told")) }, time.Minute, 50*time.Millisecond, "%s", read(t, log.Name()))
			url, key, _ := strings.Cut(read(t, filepath.Join(dir, "told")), "\n")
			messages := toldMessages(t)
			got := shrunk(t, url, strings.TrimSpace(key), gateway, messages)
			assert.Less(t, 10*len(got), 6*len(messages), "of %d bytes %d were left", len(messages), len(got))
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
