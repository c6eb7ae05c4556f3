//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// The first commands of docs/TEAMS.md start a gateway and a proxy that answer to the key of Alice and to nobody else. What needs the
// system's administrator is done in a server of this test, and nothing is installed.
func TestTheFirstCommandsOfATeam(t *testing.T) {
	if missing != nil {
		t.Skip("the program was not built: see the top")
	}
	db, dir := storetest.Start(t), t.TempDir()
	block := regexp.MustCompile("(?s)```\n(sudo apt-get.*?)```").FindStringSubmatch(read(t, "../../../docs/TEAMS.md"))
	require.NotNil(t, block)
	gateway, proxy := freePort(t), freePort(t)
	upstream := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(upstream.Close)
	script := strings.NewReplacer("8010", fmt.Sprint(gateway), "8787", fmt.Sprint(proxy)+" --upstream "+upstream.URL, " &\n", " & echo $! >>started\n").Replace(block[1])

	programs := filepath.Join(dir, "programs")
	require.NoError(t, os.Mkdir(programs, 0o700))
	admin := "#!/bin/sh\n[ \"$1\" = apt-get ] && exit\nshift 2\nPGUSER=pruner exec \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(programs, "sudo"), []byte(admin), 0o700))
	require.NoError(t, os.Symlink(pruner, filepath.Join(programs, "mcp-pruner")))
	self, err := os.Executable()
	require.NoError(t, err)
	servers := fmt.Sprintf(`{"mcpServers":{"far":{"command":%q,"args":["fake-server","team"]}}}`, self)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "servers.json"), []byte(servers), 0o600))
	output, err := os.Create(filepath.Join(dir, "output"))
	require.NoError(t, err)
	defer func() { _ = output.Close() }()
	socket := regexp.MustCompile(`host=([^&]+)`).FindStringSubmatch(db.Name("postgres"))[1]
	sh := exec.Command("sh", "-e", "-c", "trap 'kill $(cat started)' TERM\n"+script+"\nwait")
	sh.Dir, sh.Stdout, sh.Stderr = dir, output, output
	sh.Env = []string{"PATH=" + programs + ":" + os.Getenv("PATH"), "HOME=" + dir, "USER=somebody", "PGUSER=somebody", "PGHOST=" + socket}
	require.NoError(t, sh.Start())
	t.Cleanup(func() {
		_ = sh.Process.Signal(syscall.SIGTERM)
		_ = sh.Wait()
	})

	said := func() string { return read(t, output.Name()) }
	require.Eventually(t, func() bool { return strings.Contains(said(), "1 key ") }, time.Minute, 50*time.Millisecond, "%s", said())
	key := strings.TrimSpace(read(t, filepath.Join(dir, "alice.key")))
	post := func(url, header, value, body string) int {
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set(header, value)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0 // not there yet
		}
		defer func() { _ = response.Body.Close() }()
		_, _ = io.Copy(io.Discard, response.Body)
		return response.StatusCode
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`
	mcp, model := fmt.Sprintf("http://127.0.0.1:%d/mcp", gateway), fmt.Sprintf("http://127.0.0.1:%d/nowhere", proxy)
	require.Eventually(t, func() bool { return post(mcp, "Authorization", "Bearer "+key, list) == http.StatusOK }, time.Minute, 50*time.Millisecond, "%s", said())
	assert.Equal(t, http.StatusUnauthorized, post(mcp, "Authorization", "Bearer "+key+"x", list))
	require.Eventually(t, func() bool { return post(model, "X-Mcp-Pruner-Key", key, "{}") > 0 }, time.Minute, 50*time.Millisecond, "%s", said())
	assert.NotEqual(t, http.StatusUnauthorized, post(model, "X-Mcp-Pruner-Key", key, "{}"))
	assert.Equal(t, http.StatusUnauthorized, post(model, "X-Mcp-Pruner-Key", key+"x", "{}"))
	saves(t, key, strings.TrimSuffix(mcp, "/mcp"), strings.TrimSuffix(model, "/nowhere"))
	assert.NotContains(t, said(), key)
	assert.NotContains(t, said(), "trace_failed", "a fresh machine lacks nothing")
}
