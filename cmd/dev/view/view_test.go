package view

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/chromium"
)

// program is the built mcp-pruner.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "view-test-")
	if err == nil {
		program = filepath.Join(dir, "mcp-pruner")
		build := exec.Command("go", "build", "-o", program, "./cmd/mcp-pruner")
		build.Dir = filepath.Join("..", "..", "..")
		var out []byte
		if out, err = build.CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// browser starts a Chromium, or skips the test.
func browser(t *testing.T) *chromium.Browser {
	t.Helper()
	b, stop, err := chromium.Start(t.Context())
	if errors.Is(err, chromium.ErrNone) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(stop)
	return b
}

// eval runs JavaScript and returns what it comes to.
func eval[T any](t *testing.T, b *chromium.Browser, script string) T {
	t.Helper()
	got, err := chromium.Eval[T](b, script)
	require.NoError(t, err, script)
	return got
}

// until waits for a condition of the page.
func until(t *testing.T, b *chromium.Browser, script string) {
	t.Helper()
	require.Eventually(t, func() bool {
		got, err := chromium.Eval[bool](b, script)
		return err == nil && got
	}, 30*time.Second, 20*time.Millisecond, script)
}

// calm checks that the page complained of nothing, and asked nobody but its host.
func calm(t *testing.T, b *chromium.Browser, host string) {
	t.Helper()
	assert.Empty(t, b.Problems())
	assert.Empty(t, eval[[]string](t, b, `window.refused`), "refused by the policy")
	for _, address := range b.Fetched() {
		assert.True(t, strings.HasPrefix(address, "file://") || host != "" && strings.HasPrefix(address, "http://"+host+"/"), address)
	}
}

// live is a running `mcp-pruner view`.
type live struct {
	host, file string
}

var announced = regexp.MustCompile(`^http://(127\.0\.0\.1:\d+)/ is opened by this file, once: (.*)$`)

// view starts the program's verb. It ends with the test.
func view(t *testing.T, h Home, args ...string) live {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, h.Program, append([]string{"view", "--no-open"}, args...)...)
	cmd.Env, cmd.Dir = h.Env(), h.Dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(stderr)
	require.True(t, lines.Scan(), "it said nothing")
	m := announced.FindStringSubmatch(lines.Text())
	require.NotNil(t, m, lines.Text())
	go func() {
		for lines.Scan() { // so that it never waits for us
		}
	}()
	return live{m[1], m[2]}
}

// open opens the page by its file, and waits until all sessions were read.
func (l live) open(t *testing.T, b *chromium.Browser) {
	t.Helper()
	_, err := b.Open("file://" + l.file)
	require.NoError(t, err)
	require.Equal(t, "http://"+l.host+"/", eval[string](t, b, `location.href`))
	require.Empty(t, eval[string](t, b, `document.documentElement.dataset.error || ''`))
}

func newHome(t *testing.T) Home {
	t.Helper()
	return Home{t.TempDir(), program}
}

var begun = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// A session with hooks: its window, its cuts line by line with the reason, and its net.
func TestSessionsTab(t *testing.T) {
	b, h := browser(t), newHome(t)
	_, err := h.Scripted("s1", "shop", begun, 1, true)
	require.NoError(t, err)
	_, err = h.Scripted("s2", "other", begun, 1, false)
	require.NoError(t, err)
	l := view(t, h)
	l.open(t, b)
	until(t, b, `document.querySelectorAll('#sessions .row').length === 2 && !document.querySelector('#sessions').textContent.includes('reading')`)
	eval[bool](t, b, `([...document.querySelectorAll('#sessions .row')].find(r => r.textContent.includes('shop')).click(), true)`)
	until(t, b, `document.getElementById('session-name').textContent.startsWith('shop')`)
	picture(t, b, "sessions.png")
	calm(t, b, l.host)
}

// picture keeps a screenshot in the folder that VIEW_SCREENSHOTS names.
func picture(t *testing.T, b *chromium.Browser, name string) {
	t.Helper()
	dir := os.Getenv("VIEW_SCREENSHOTS")
	if dir == "" {
		return
	}
	image, err := b.Screenshot()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), image, 0o600))
}
