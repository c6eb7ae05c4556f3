package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// How long the page may take, and how often it is looked at.
const (
	patience = 30 * time.Second
	tick     = 20 * time.Millisecond
)

// until waits for a condition of the page.
func until(t *testing.T, b *chromium.Browser, script string) {
	t.Helper()
	require.Eventually(t, func() bool {
		got, err := chromium.Eval[bool](b, script)
		return err == nil && got
	}, patience, tick, script)
}

// await runs JavaScript that makes a promise and returns what the promise comes to.
func await[T any](t *testing.T, b *chromium.Browser, script string) T {
	t.Helper()
	eval[bool](t, b, `(window.awaited = undefined, Promise.resolve(`+script+`).then(v => { window.awaited = [v]; }), true)`)
	until(t, b, `window.awaited !== undefined`)
	return eval[[]T](t, b, `window.awaited`)[0]
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

// view starts the program's verb. It ends with the test.
func view(t *testing.T, h Home, args ...string) live {
	t.Helper()
	l, err := Start(t.Context(), h.Program, h.Env(), h.Dir, args...)
	require.NoError(t, err)
	t.Cleanup(l.End)
	return live{l, l.Host, l.File}
}

type live struct {
	Live
	host, file string
}

// open opens the page by its file, and waits until all sessions were read.
func (l live) open(t *testing.T, b *chromium.Browser) {
	t.Helper()
	_, err := b.Open("file://" + l.file)
	require.NoError(t, err)
	require.Equal(t, "http://"+l.host+"/", eval[string](t, b, `location.href`))
	require.Empty(t, eval[string](t, b, `document.documentElement.dataset.error || ''`))
}

// run runs a verb of the program and returns what it printed.
func (h Home) run(args ...string) (string, error) {
	cmd := exec.Command(h.Program, args...)
	cmd.Env, cmd.Dir = h.Env(), filepath.Join(h.Dir, "shop")
	out, err := cmd.Output()
	return string(out), err
}

func newHome(t *testing.T) Home {
	t.Helper()
	return Home{t.TempDir(), program}
}

var begun = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// shop opens the live page of a session with hooks and one without, with the first of them selected.
func shop(t *testing.T) (*chromium.Browser, Home, *Session, live) {
	t.Helper()
	b, h := browser(t), newHome(t)
	s, err := h.Scripted("s1", "shop", begun, 1, true)
	require.NoError(t, err)
	_, err = h.Scripted("s2", "other", begun, 1, false)
	require.NoError(t, err)
	l := view(t, h)
	l.open(t, b)
	until(t, b, `document.querySelectorAll('#sessions .row').length === 2 && !document.querySelector('#sessions').textContent.includes('reading')`)
	selectSession(t, b, "shop")
	return b, h, s, l
}

// selectSession selects the session of a project.
func selectSession(t *testing.T, b *chromium.Browser, project string) {
	t.Helper()
	eval[bool](t, b, fmt.Sprintf(`([...document.querySelectorAll('#sessions .row')].find(r => r.textContent.includes(%q)).click(), true)`, project))
	until(t, b, fmt.Sprintf(`document.getElementById('session-name').textContent.startsWith(%q)`, project))
}

// choose selects the first row of a list that has a text.
func choose(t *testing.T, b *chromium.Browser, list, text string) {
	t.Helper()
	eval[bool](t, b, fmt.Sprintf(`([...document.querySelectorAll('#%s .row')].find(r => r.textContent.includes(%q)).click(), true)`, list, text))
}

func stat(t *testing.T, b *chromium.Browser, name string) float64 {
	t.Helper()
	return eval[float64](t, b, fmt.Sprintf(`Number(document.querySelector('[data-stat="session-%s"]').dataset.value)`, name))
}

// A session with hooks: its window, its cuts line by line with the reason, and the net that gain says.
func TestSessionsTab(t *testing.T) {
	b, h, _, l := shop(t)
	out, err := h.run("gain", "--json")
	require.NoError(t, err, out)
	var gain struct {
		Total struct {
			Results int     `json:"results"`
			Gross   float64 `json:"gross"`
			Rereads float64 `json:"rereads"`
			Net     float64 `json:"net"`
			Pct     float64 `json:"net_pct"`
		} `json:"total"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &gain))
	require.Greater(t, gain.Total.Results, 3)
	assert.InDelta(t, gain.Total.Net, stat(t, b, "net"), 1e-6)
	assert.InDelta(t, gain.Total.Gross, stat(t, b, "gross"), 1e-6)
	assert.Contains(t, eval[string](t, b, `document.getElementById('session-figures').textContent`), fmt.Sprintf("net (%.1f %%)", gain.Total.Pct))
	assert.Equal(t, 5, eval[int](t, b, `document.querySelectorAll('#window polygon').length`), "an area for each part")
	assert.Equal(t, float64(9), eval[float64](t, b, `Number(document.getElementById('window').getAttribute('aria-valuenow'))`))

	choose(t, b, "events", "Read ")
	until(t, b, `document.querySelectorAll('#lines .row').length > 10`)
	assert.Contains(t, eval[string](t, b, `document.getElementById('event').textContent`), "Where does openLedger count retries?")
	kept := eval[[]string](t, b, `(() => { const seen = new Set(), box = document.getElementById('lines');
		return [...box.querySelectorAll('.got')].filter(e => e.textContent).map(e => e.textContent); })()`)
	require.NotEmpty(t, kept)
	eval[int](t, b, `document.getElementById('lines').scrollTop = 20 * 405`)
	until(t, b, `document.getElementById('lines').textContent.includes('retries++')`)
	line := eval[map[string]string](t, b, `(() => { const r = [...document.querySelectorAll('#lines .row')].find(r => r.textContent.includes('retries++'));
		return { was: r.querySelector('.was').textContent, got: r.querySelector('.got').textContent, why: r.querySelector('.why').textContent } })()`)
	assert.Equal(t, line["was"], line["got"], "a line that answers the question is kept")
	assert.Contains(t, line["why"], "(+", "why it was kept, with the weight of each reason")
	gone := eval[map[string]string](t, b, `(() => { const r = [...document.querySelectorAll('#lines .row')].find(r => r.querySelector('.was.gone'));
		return { was: r.querySelector('.was').textContent, got: r.querySelector('.got').textContent, why: r.querySelector('.why').textContent } })()`)
	assert.Empty(t, gone["got"])
	assert.NotEmpty(t, gone["why"])
	picture(t, b, "sessions.png")
	calm(t, b, l.host)
}

// Restore puts the command or the text into the clipboard, and does nothing else.
func TestRestoreCopies(t *testing.T) {
	b, h, _, l := shop(t)
	choose(t, b, "events", "go test")
	until(t, b, `document.querySelectorAll('.restore button').length === 2`)
	eval[bool](t, b, `(window.copied = [], Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (t) => { window.copied.push(t); } } }), true)`)
	eval[bool](t, b, `(document.querySelectorAll('.restore button').forEach(e => e.click()), true)`)
	until(t, b, `window.copied.length === 2`)
	copied := eval[[]string](t, b, `window.copied`)
	command, text := copied[0], copied[1]
	if len(command) > len(text) {
		command, text = text, command
	}
	require.Regexp(t, `^mcp-pruner recover prn_[0-9a-f]{8}$`, command)
	original, err := h.run(strings.Fields(command)[1:]...)
	require.NoError(t, err, original)
	assert.Equal(t, original, text)
	calm(t, b, l.host)
}

// The page follows a session while it grows, and keeps what is selected.
func TestLiveUpdate(t *testing.T) {
	b, _, s, l := shop(t)
	choose(t, b, "events", "Read ")
	was := stat(t, b, "gross")
	for _, tool := range script(s.Project)[:3] {
		require.NoError(t, s.Turn(tool, true))
	}
	require.NoError(t, s.Turn(Tool{Why: "Done."}, true))
	until(t, b, `document.getElementById('window').getAttribute('aria-valuemax') === '13'`)
	until(t, b, fmt.Sprintf(`Number(document.querySelector('[data-stat="session-gross"]').dataset.value) > %f`, was))
	assert.Contains(t, eval[string](t, b, `document.querySelector('#events [aria-selected=true]').textContent`), "Read ")
	assert.Contains(t, eval[string](t, b, `document.querySelector('#sessions [aria-selected=true]').textContent`), "shop")
	calm(t, b, l.host)
}

// What an agent fetched again is listed, and charged.
func TestRereads(t *testing.T) {
	b, h, s, l := shop(t)
	choose(t, b, "events", "Read ")
	until(t, b, `document.querySelector('.restore code') !== null`)
	id := eval[string](t, b, `document.querySelector('.restore code').textContent`)
	text, err := h.run(append(strings.Fields(id)[1:], "--lines", "1-400")...)
	require.NoError(t, err, text)
	require.NoError(t, s.Turn(Tool{Why: "I need more of it.", Name: "Bash", Args: map[string]any{"command": id + " --lines 1-400"}, Out: text}, false))
	require.NoError(t, s.Turn(Tool{Why: "Done."}, true))
	until(t, b, `[...document.querySelectorAll('#events-kinds button')].some(e => e.textContent === 'fetched again')`)
	eval[bool](t, b, `([...document.querySelectorAll('#events-kinds button')].find(e => e.textContent === 'fetched again').click(), true)`)
	assert.Equal(t, 1, eval[int](t, b, `document.querySelectorAll('#events .row').length`))
	assert.Greater(t, stat(t, b, "rereads"), 1000.0)
	assert.InDelta(t, stat(t, b, "gross")-stat(t, b, "rereads"), stat(t, b, "net"), 1e-6)
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
