package main

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestServerHoldsNoClientSecrets: once the server answers, the kernel shows an
// environment without the client's keys and the server's settings; everything else is
// still there, and the settings hold.
func TestServerHoldsNoClientSecrets(t *testing.T) {
	cmd := exec.Command(built(t))
	cmd.Dir = t.TempDir()
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "PRUNER_URL=", "DEEPINFRA_API_KEY=own", "CODEX_PASSED=passed", "MCP_PRUNER_PASS_ENV=CODEX_PASSED",
		"ANTHROPIC_API_KEY=secret", "CLAUDE_CODE_MESSAGING_TOKEN=secret", "CODEX_API_KEY=secret", "OPENAI_API_KEY=secret",
		"MCP_PRUNER_STORE=postgres:///none?host=/nowhere", "PGPASSWORD=secret",
		"OTEL_EXPORTER_OTLP_HEADERS=api-key=secret", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=api-key=secret",
	}
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	answers, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"))
	require.NoError(t, err)
	answer, err := bufio.NewReader(answers).ReadString('\n')
	require.NoError(t, err)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, answer)

	environ, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/environ")
	require.NoError(t, err)
	assert.NotContains(t, string(environ), "secret")
	assert.NotContains(t, string(environ), "DEEPINFRA_API_KEY", "nor the server's own settings")
	assert.NotContains(t, string(environ), "MCP_PRUNER_PASS_ENV")
	assert.Contains(t, string(environ), "PATH=/usr/bin:/bin\x00")
	assert.Contains(t, string(environ), "CODEX_PASSED=passed\x00")
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
}
