//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDockerHealthCheck runs what the image would run, with its environment, and its
// health check: it succeeds while the server runs, and fails afterwards.
func TestDockerHealthCheck(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	image := strings.ReplaceAll(string(text), "8005", freePort(t))
	env := strings.Fields(instruction(t, image, "ENV"))
	var health, entry, serve []string
	for name, into := range map[string]*[]string{"HEALTHCHECK": &health, "ENTRYPOINT": &entry, "CMD": &serve} {
		_, list, _ := strings.Cut(instruction(t, image, name), "[")
		require.NoError(t, json.Unmarshal([]byte("["+list), into), name)
	}
	require.Equal(t, entry[0], health[0])
	for _, args := range [][]string{serve, {"pruner"}, {"gateway", "--http", "servers.json"}} {
		t.Run(args[0], func(t *testing.T) {
			cmd, root := program(t, env...)
			config := fmt.Sprintf(`{"mcpServers":{"files":{"command":%q,"env":{"MCP_PRUNER_CWD":%q}}}}`, cmd.Path, root)
			require.NoError(t, os.WriteFile(filepath.Join(root, "servers.json"), []byte(config), 0o600))
			cmd.Dir, cmd.Args = root, append(cmd.Args, args...)
			logs, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			lines := bufio.NewScanner(logs)
			ready := false
			for !ready && lines.Scan() {
				ready = strings.Contains(lines.Text(), `"event":"mcp_pruner.ready","data":{"host"`)
			}
			require.True(t, ready)

			check := func() error {
				health := exec.Command(cmd.Path, health[1:]...)
				health.Env = env
				return health.Run()
			}
			assert.NoError(t, check())
			require.NoError(t, cmd.Process.Kill())
			_, _ = io.Copy(io.Discard, logs)
			require.Error(t, cmd.Wait())
			assert.Error(t, check())
		})
	}
}

// instruction returns the arguments of the image's last instruction of that name.
func instruction(t *testing.T, image, name string) (args string) {
	t.Helper()
	for line := range strings.Lines(image) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			args = strings.TrimSpace(rest)
		}
	}
	require.NotEmpty(t, args, name)
	return args
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
