package proxy

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// freePort returns a port that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// Several clients that start at once get one proxy, which is independent of them and ends when nobody needs it.
func TestEnsure(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test program takes no verb there")
	}
	state := t.TempDir()
	port := strconv.Itoa(freePort(t))
	env := append(os.Environ(), childMode+"=1", "XDG_STATE_HOME="+state, "ANTHROPIC_API_KEY=sk-ant-hidden")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0], "--ensure", "--port", port)
			cmd.Env = env
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, string(out))
			assert.Empty(t, string(out), "it would go to the model")
		})
	}
	all.Wait()
	lookup := func(name string) (string, bool) { return state, name == "XDG_STATE_HOME" }
	access, err := secret.Load(lookup)
	require.NoError(t, err)
	key, err := secret.LoadProof(lookup)
	require.NoError(t, err)
	address, other := "http://127.0.0.1:"+port, secret.Proof(secret.New())
	now, err := Ask(t.Context(), address, key)
	require.NoError(t, err)
	assert.Equal(t, OK, now.Status)
	_, err = Ask(t.Context(), address, other)
	assert.ErrorContains(t, err, "cannot prove that it is this user's proxy")
	log, err := os.ReadFile(filepath.Join(state, "mcp-pruner", "proxy-"+port+".log"))
	require.NoError(t, err)
	assert.NotContains(t, string(log), string(access))
	assert.NotContains(t, string(log), string(key))
	assert.ErrorContains(t, Stop(t.Context(), address, other), "cannot prove that it is this user's proxy")
	require.NoError(t, Stop(t.Context(), address, key), "uninstall ends it")
	require.Eventually(t, func() bool { _, err := Ask(t.Context(), address, key); return NotRunning(err) }, time.Minute, 10*time.Millisecond)
}

// What --end-idle says holds for a proxy in the background, too.
func TestEnsureWithATime(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test program takes no verb there")
	}
	state, port := t.TempDir(), strconv.Itoa(freePort(t))
	cmd := exec.Command(os.Args[0], "--ensure", "--port", port, "--end-idle", "2s")
	cmd.Env = append(os.Environ(), childMode+"=1", "XDG_STATE_HOME="+state)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	key, err := secret.LoadProof(func(name string) (string, bool) { return state, name == "XDG_STATE_HOME" })
	require.NoError(t, err)
	require.Eventually(t, func() bool { _, err := Ask(t.Context(), "http://127.0.0.1:"+port, key); return NotRunning(err) }, time.Minute, 3*time.Second)
}

func TestAProxyThatNobodyUsesEnds(t *testing.T) {
	idle := newServer(nil, nil, nil)
	ctx, stop := idle.endIdle(t.Context(), 50*time.Millisecond)
	defer stop()
	idle.health.active.Add(1)
	select {
	case <-ctx.Done():
		t.Fatal("a request is in progress")
	case <-time.After(200 * time.Millisecond):
	}
	idle.health.active.Add(-1)
	<-ctx.Done()
}
