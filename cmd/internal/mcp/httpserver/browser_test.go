//go:build unix

package httpserver

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

//go:embed testdata/attack.html
var attackPage string

// TestAPageInABrowserCannotReachBash lets a real browser open a page that tries every way in which a page
// could make the server run a command: a form, requests without and with a CORS preflight, and DNS
// rebinding. The same page against a careless server shows that the attempts are real.
func TestAPageInABrowserCannotReachBash(t *testing.T) {
	browser := findBrowser(t)
	careless := newCareless(t)
	visit(t, browser, careless.server.URL, func() bool { // otherwise the browser made no real attempt
		return careless.ran("form") && careless.ran("simple") && careless.ran("beacon") && careless.ran("rebound")
	})
	assert.False(t, careless.ran("asked"), "a preflight without an answer stops a request")

	p := newPlace(t, nil)
	told := visit(t, browser, p.url, func() bool { return true })
	entries, err := os.ReadDir(p.root)
	require.NoError(t, err)
	assert.Empty(t, entries, "a page in a browser ran a command: %v", told)
	assert.False(t, p.logged("tool.request_received", ""), "a page's request got as far as a machine")
	assert.Equal(t, "403", told["rebound"], "the answer to the page whose name points here")
	assert.Equal(t, "403", told["health"], "not even whether the server is there can be read")
	assert.Contains(t, told["asked"], "TypeError", "the browser keeps the answer from the page")
}

func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	fmt.Fprint(os.Stderr, "\nSKIPPED: no Chromium on PATH, so nothing shows that a web page cannot reach bash (apt-get install chromium)\n\n")
	t.Skip("no Chromium on PATH")
	return ""
}

// careless is a server that executes whatever arrives.
type careless struct {
	server *httptest.Server
	mu     sync.Mutex
	asked  map[string]bool
}

func newCareless(t *testing.T) *careless {
	t.Helper()
	c := &careless{asked: make(map[string]bool)}
	c.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			return
		}
		body, _ := io.ReadAll(r.Body)
		var m struct {
			Params struct{ Arguments struct{ Command string } }
		}
		_ = json.Unmarshal(bytes.TrimSpace(body), &m)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked[strings.TrimPrefix(m.Params.Arguments.Command, "touch ")] = true
	}))
	t.Cleanup(c.server.Close)
	return c
}

func (c *careless) ran(try string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[try]
}

// visit opens the page with a target and returns the page's report of its attempts. It waits until arrived
// returns true. The page is at http://evil.test, and all of its other paths lead to the target. This
// simulates DNS rebinding: a name server that first returns the page's server and then this machine.
func visit(t *testing.T, browser, target string, arrived func() bool) map[string]string {
	t.Helper()
	aim, err := url.Parse(target)
	require.NoError(t, err)
	reports := make(chan map[string]string, 1)
	mux := http.NewServeMux()
	mux.Handle("/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { // the Host header stays the page's
		r.Out.URL.Scheme, r.Out.URL.Host = aim.Scheme, aim.Host
		r.Out.Host = r.In.Host
	}})
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, strings.ReplaceAll(attackPage, "TARGET", target))
	})
	mux.HandleFunc("/report", func(_ http.ResponseWriter, r *http.Request) {
		var report map[string]string
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&report))
		reports <- report
	})
	evil := httptest.NewServer(mux)
	defer evil.Close()
	stop := open(t, browser, strings.Replace(evil.URL, "127.0.0.1", "evil.test", 1))
	defer stop()
	select {
	case report := <-reports:
		require.Eventually(t, arrived, 20*time.Second, 10*time.Millisecond, "of %v", report)
		return report
	case <-time.After(time.Minute):
		require.Fail(t, "the page did not report")
		return nil
	}
}

// open opens a page in a headless browser.
func open(t *testing.T, browser, page string) (stop func()) {
	t.Helper()
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-features=HttpsUpgrades", "--user-data-dir="+t.TempDir(),
		"--host-resolver-rules=MAP evil.test 127.0.0.1", page)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said bytes.Buffer
	cmd.Stderr = &said
	require.NoError(t, cmd.Start())
	return func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the browser said: %s", said.String())
		}
	}
}
