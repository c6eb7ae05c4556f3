package verbs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// A gateway and a pruner go on without their database, and say so where somebody looks. What nobody could store is not cut.
func TestALostDatabaseIsSaid(t *testing.T) {
	database, config := storetest.Start(t), filepath.Join(t.TempDir(), "servers.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"mcpServers":{"none":{"url":"http://127.0.0.1:1/mcp"}}}`), 0o600))
	env := []string{"MCP_PRUNER_STORE=" + database.Database(t), "MCP_PRUNER_METRICS=127.0.0.1:0", "HOME=" + t.TempDir(), "PRUNER_URL=embedded"}
	said := map[string]func() string{}
	prune := func() map[string]any { return nil }
	for name, r := range map[string]*running{
		"pruner": start(t, env...), "gateway": startVerb(t, gatewayCommand, []string{"--http", config}, env...),
	} {
		metrics := ""
		require.Eventually(t, func() bool {
			metrics = regexp.MustCompile(`http://[^"]+/metrics`).FindString(r.stderr.String())
			return metrics != ""
		}, time.Minute, time.Millisecond, name)
		if name == "pruner" {
			prune = func() (answer map[string]any) {
				status, text := r.post(t, "/prune", fmt.Sprintf(`{"query":"which upload failed?","code":%q}`, strings.Repeat("INFO it works\n", 500)+"ERROR the upload failed\n"))
				require.Equal(t, http.StatusOK, status)
				require.NoError(t, json.Unmarshal([]byte(text), &answer))
				return answer
			}
		}
		said[name] = func() string {
			health := textAt(t, strings.TrimSuffix(r.url, "/mcp")+"/healthz")
			return regexp.MustCompile(`"ok":\w+,"status":"\w+"`).FindString(health) + regexp.MustCompile(`\nmcp_pruner_database_up \d`).FindString(textAt(t, metrics))
		}
	}
	all := func(want string) {
		t.Helper()
		for name, say := range said {
			assert.Equal(t, want, say(), name)
		}
	}
	all(`"ok":true,"status":"ok"` + "\nmcp_pruner_database_up 1")
	assert.Contains(t, prune()["pruned_code"], "(filtered ")
	database.Stop(t, "immediate")
	whole := prune()
	assert.NotContains(t, whole["pruned_code"], "(filtered ")
	assert.Equal(t, "recovery_unavailable", whole["error_msg"])
	all(`"ok":true,"status":"passing"` + "\nmcp_pruner_database_up 0")
	database.Start(t)
	require.Eventually(t, func() bool {
		return strings.HasSuffix(said["pruner"](), "1") && strings.HasSuffix(said["gateway"](), "1")
	}, time.Minute, 50*time.Millisecond)
	all(`"ok":true,"status":"ok"` + "\nmcp_pruner_database_up 1")
	assert.Contains(t, prune()["pruned_code"], "(filtered ")
}

// textAt returns what an address answers, which is a success.
func textAt(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	require.NoError(t, err)
	defer answer.Body.Close()
	assert.Equal(t, http.StatusOK, answer.StatusCode)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(body)
}

func TestHealth(t *testing.T) {
	for path, want := range map[string]int{"/healthz": command.OK, "/health": command.OK, "/elsewhere": command.Fail} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				http.NotFound(w, r)
			}
		}))
		u, err := url.Parse(server.URL)
		require.NoError(t, err)
		var stderr bytes.Buffer
		for _, p := range []command.Process{
			{Args: []string{"health", "--port", u.Port()}, Env: []string{"JEEVES_MCP_PRUNER_PORT=1"}},
			{Args: []string{"health"}, Env: []string{"JEEVES_MCP_PRUNER_PORT=" + u.Port(), "MCP_PRUNER_PORT=1"}},
			{Args: []string{"doctor", "--port", "0"}, Env: []string{"JEEVES_MCP_PRUNER_PORT=", "MCP_PRUNER_PORT=" + u.Port()}},
		} {
			p.Stdout, p.Stderr = &bytes.Buffer{}, &stderr
			assert.Equal(t, want, Run(p), "%s: %s", path, &stderr)
		}
		server.Close()
	}
	var stderr bytes.Buffer
	p := command.Process{Args: []string{"health"}, Env: []string{"MCP_PRUNER_PORT=none"}, Stdout: &bytes.Buffer{}, Stderr: &stderr}
	assert.Equal(t, command.Usage, Run(p))
	assert.Contains(t, stderr.String(), "--port: want an integer")
}
