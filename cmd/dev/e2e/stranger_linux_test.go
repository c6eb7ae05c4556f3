//go:build e2e

package e2e

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAStrangerOnTheProxysPort proves that Claude Code, set up by "init claude --proxy", sends neither the key nor the secret nor
// the prompt to a program that has the proxy's port, whether it is another user's or this one's.
func TestAStrangerOnTheProxysPort(t *testing.T) {
	for name, uid := range map[string]int{"another user's": 65534, "one's own": os.Getuid()} {
		t.Run(name, func(t *testing.T) {
			if os.Getuid() != 0 && uid != os.Getuid() {
				t.Skip("needs root to become another user")
			}
			w := newWorld(t, both()[0], done)
			w.withState()
			w.env = slices.DeleteFunc(w.env, func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_BASE_URL=") })
			var mu sync.Mutex
			var sent bytes.Buffer
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				_ = r.Write(&sent)
			}))
			_ = s.Listener.Close()
			s.Listener = listenAs(t, uid)
			s.Start()
			defer s.Close()
			init := exec.Command(pruner, "init", "claude", "--proxy")
			init.Dir, init.Env = w.dir, w.env
			out, err := init.CombinedOutput()
			require.NoError(t, err, string(out))
			settings := filepath.Join(w.home, "settings.json")
			text, err := os.ReadFile(settings)
			require.NoError(t, err)
			_, port, err := net.SplitHostPort(s.Listener.Addr().String())
			require.NoError(t, err)
			w.write(settings, strings.ReplaceAll(string(text), "8787", port), 0o600)

			out, err = w.own("count the lines").CombinedOutput()
			require.NoError(t, err, string(out))
			assert.Contains(t, string(out), "what listens on 127.0.0.1:"+port+" is not a proxy of yours")
			assert.Contains(t, string(out), "so the prompt is stopped")
			assert.Empty(t, w.model.Requests())
			mu.Lock()
			defer mu.Unlock()
			for _, part := range []string{"sk-secret-anthropic", "mcpp_", "count the lines", "/v1/messages"} {
				assert.NotContains(t, sent.String(), part)
			}
		})
	}
}

// listenAs listens on a free port as another user.
func listenAs(t *testing.T, uid int) net.Listener {
	t.Helper()
	opened := make(chan net.Listener)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine, as it is not unlocked
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(uid), 0, 0)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		assert.NoError(t, err)
		opened <- l
	}()
	return <-opened
}
