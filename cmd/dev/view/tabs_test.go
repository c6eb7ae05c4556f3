package view

import (
	"encoding/json"
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

// openTab selects a tab and waits until it is drawn.
func openTab(t *testing.T, b *chromium.Browser, tab string) {
	t.Helper()
	eval[bool](t, b, `(document.getElementById('tab-`+tab+`').click(), true)`)
	until(t, b, `document.documentElement.dataset.tab === '`+tab+`'`)
}

// keepPrefix puts the report of context where the program keeps it.
func keepPrefix(t *testing.T, h Home) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(h.Dir, "state", "mcp-pruner", "context-claude.json"), []byte(ExamplePrefix), 0o600))
}

// TestPrefixTab: the areas are as large as the parts, and say whether they were used.
func TestPrefixTab(t *testing.T) {
	b, h := browser(t), played(t)
	keepPrefix(t, h)
	l := view(t, h)
	l.open(t, b)
	openTab(t, b, "prefix")
	areas := eval[map[string]float64](t, b, `Object.fromEntries([...document.querySelectorAll('#treemap button')].map(e => [e.className, (parseFloat(e.style.width) + 1) * (parseFloat(e.style.height) + 1)]))`)
	require.Len(t, areas, 3)
	assert.InEpsilon(t, 2, areas["used"]/areas["stays"], .02)
	assert.InEpsilon(t, 8.0/3, areas["unused"]/areas["stays"], .02)
	eval[bool](t, b, `(document.querySelector('#treemap .unused').click(), true)`)
	assert.Equal(t, "<img src=x onerror=alert(1)> of notes: 8,000 tokens, 47.1 %; used in none of 30 sessions.", eval[string](t, b, `document.getElementById('prefix-told').textContent`))
	assert.Contains(t, eval[string](t, b, `document.getElementById('prefix-parts').textContent`), "29 of 30")
	picture(t, b, "prefix.png")
	calm(t, b, l.host)
}

// TestTraceTab: the trace of the hooks is the one that `trace stats` sums up.
func TestTraceTab(t *testing.T) {
	b, h := browser(t), played(t)
	l := view(t, h)
	l.open(t, b)
	openTab(t, b, "trace")
	out, err := h.run("trace", "stats", "--json", filepath.Join(h.Dir, "state", "mcp-pruner", "hook-trace.jsonl"))
	require.NoError(t, err, out)
	var stats struct {
		Requests int `json:"requests"`
		Saved    struct {
			Net int `json:"net"`
		} `json:"saved_tokens"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &stats))
	require.Positive(t, stats.Requests)
	for name, want := range map[string]int{"requests": stats.Requests, "net": stats.Saved.Net} {
		assert.InDelta(t, want, eval[float64](t, b, `Number(document.querySelector('[data-stat=`+name+`]').dataset.value)`), 0, name)
	}
	assert.Contains(t, eval[string](t, b, `document.getElementById('verdict').textContent`), "In order")
	assert.Positive(t, eval[int](t, b, `document.querySelectorAll('.drawing:not([hidden]) .state').length`))
	picture(t, b, "trace.png")
	calm(t, b, l.host)
}

// TestReplayTab: the bars are the figures of `replay --json`; losses lie left of the zero line and gains right of it, and nothing
// sticks out.
func TestReplayTab(t *testing.T) {
	b, h := browser(t), newHome(t)
	s, err := h.Scripted("s1", "shop", begun, 1, false)
	require.NoError(t, err)
	l := view(t, h)
	l.open(t, b)
	openTab(t, b, "replay")
	out, err := h.run("replay", "--json", s.Path)
	require.NoError(t, err, out)
	var report struct {
		Policies map[string]map[string]float64 `json:"policies"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	type bar struct {
		Name              string
		X                 float64
		Left, Width, Zero float64
		Class, Value      string
	}
	bars := eval[[]bar](t, b, `[...document.querySelectorAll('[data-bar]')].map(e => { const i = e.querySelector('i'); return { Name: e.dataset.bar, X: Number(e.dataset.x),
		Left: parseFloat(i.style.left), Width: parseFloat(i.style.width), Zero: parseFloat(e.querySelector('b').style.left), Class: i.className, Value: e.querySelector('.value').textContent } })`)
	require.NotEmpty(t, bars)
	first := map[string]bar{}
	for _, x := range bars {
		if _, ok := first[x.Name]; !ok {
			first[x.Name] = x
		}
		assert.GreaterOrEqual(t, x.Left, -.01, x.Name)
		assert.LessOrEqual(t, x.Left+x.Width, 100.01, x.Name)
		if x.X < 0 {
			assert.Equal(t, "loss", x.Class, x.Name)
			assert.InDelta(t, x.Zero, x.Left+x.Width, .02, x.Name)
			assert.True(t, strings.HasPrefix(x.Value, "-"), x.Value)
		} else {
			assert.Equal(t, "gain", x.Class, x.Name)
			assert.InDelta(t, x.Zero, x.Left, .02, x.Name)
			assert.True(t, strings.HasPrefix(x.Value, "+"), x.Value)
		}
	}
	assert.InDelta(t, report.Policies["hook"]["net_pct"], first["net"].X, 1e-9)
	assert.InDelta(t, report.Policies["hook"]["gross_pct"], first["gross"].X, 1e-9)
	assert.Equal(t, 7, eval[int](t, b, `[...document.querySelectorAll('#replay h2')].filter(e => e.textContent.startsWith('Policy')).length`))
	picture(t, b, "replay.png")
	calm(t, b, l.host)
}

// TestCopies: the verbs' standing copies work from a file, and hold texts only when that was asked for.
func TestCopies(t *testing.T) {
	b, h := browser(t), played(t)
	keepPrefix(t, h)
	const secret = "openLedger counts retries" // of a file that an agent read
	trace := filepath.Join(h.Dir, "state", "mcp-pruner", "hook-trace.jsonl")
	for name, c := range map[string]struct {
		args  []string
		tabs  []string
		texts bool
	}{
		"view.html":   {[]string{"view", "--html", "view.html"}, []string{"sessions", "prefix", "trace"}, false},
		"texts.html":  {[]string{"view", "--texts", "--html", "texts.html"}, []string{"sessions", "prefix", "trace"}, true},
		"trace.html":  {[]string{"trace", "report", "-o", "trace.html", trace}, []string{"trace"}, false},
		"replay.html": {[]string{"replay", "--html", "replay.html"}, []string{"replay"}, false},
	} {
		out, err := h.run(c.args...)
		require.NoError(t, err, "%s: %s", name, out)
		file := filepath.Join(h.Dir, "shop", name)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
		assert.Equal(t, c.texts, strings.Contains(string(text), "opens the ledger and counts retries"), "%s: %s", name, secret)
		_, err = b.Open("file://" + file)
		require.NoError(t, err)
		require.Empty(t, eval[string](t, b, `document.documentElement.dataset.error || ''`), name)
		assert.Equal(t, c.tabs, eval[[]string](t, b, `[...document.querySelectorAll('[role=tab]')].map(e => e.id.slice(4))`), name)
		assert.Equal(t, c.texts, strings.Contains(eval[string](t, b, `document.getElementById('about').textContent`), "keep it to yourself"), name)
		if c.tabs[0] == "sessions" {
			selectSession(t, b, "shop")
			choose(t, b, "events", "Read ")
			until(t, b, fmt.Sprintf(`document.getElementById('event').textContent.includes(%q)`, map[bool]string{true: "lines kept", false: "This copy holds no texts."}[c.texts]))
			for _, tab := range c.tabs {
				openTab(t, b, tab)
			}
		}
		calm(t, b, "")
	}
}

// TestLooks: light and dark, wide and narrow; nothing sticks out, and every tab can be used.
func TestLooks(t *testing.T) {
	b, h := browser(t), played(t)
	keepPrefix(t, h)
	l := view(t, h)
	l.open(t, b)
	backgrounds := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 360} {
			require.NoError(t, b.Screen(scheme, width, 900))
			for _, tab := range []string{"sessions", "prefix", "trace"} {
				openTab(t, b, tab)
				if tab == "sessions" {
					selectSession(t, b, "shop")
					choose(t, b, "events", "Read ")
					until(t, b, `document.querySelectorAll('#lines .row').length > 5`)
					assert.Empty(t, eval[string](t, b, `[...document.querySelectorAll('#calls .row span:not(.wide)')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent).join()`),
						"%s at %d: numbers of model calls are cut off", scheme, width)
				}
				assert.LessOrEqual(t, eval[int64](t, b, `document.documentElement.scrollWidth`), width, "%s %s at %d: the page is wider than the window", tab, scheme, width)
				picture(t, b, fmt.Sprintf("%s-%s-%d.png", tab, scheme, width))
			}
			backgrounds[eval[string](t, b, `getComputedStyle(document.body).backgroundColor`)] = true
		}
	}
	assert.Len(t, backgrounds, 2, "light and dark look the same")
	calm(t, b, l.host)
}

// TestOpensOnTheLastSession: on a phone's width, too, the page opens on the user's last session, which is not that of a sub-agent.
func TestOpensOnTheLastSession(t *testing.T) {
	b, h := browser(t), newHome(t)
	for i, name := range []string{"first", "last", "subagents"} {
		s, err := h.Scripted(name, name, begun, 1, name == "last")
		require.NoError(t, err)
		at := begun.Add(time.Duration(i) * time.Hour)
		require.NoError(t, os.Chtimes(s.Path, at, at))
	}
	require.NoError(t, b.Screen("dark", 360, 800))
	l := view(t, h)
	l.open(t, b)
	until(t, b, `document.getElementById('session-name').textContent.startsWith('last') && !document.querySelector('#sessions').textContent.includes('reading')`)
	assert.Contains(t, eval[string](t, b, `document.getElementById('sessions').textContent`), "sub-agent")
	assert.Regexp(t, `\+[\d.]+k, \d+\.\d %, \+\$\d\.\d\d`, eval[string](t, b, `document.getElementById('sessions').textContent`), "in tokens, percent and money")
	assert.Zero(t, eval[int](t, b, `[...document.querySelectorAll('#sessions .low')].filter(e => e.scrollWidth > e.clientWidth).length`), "figures are cut off")
	picture(t, b, "opened-dark-360.png")
	calm(t, b, l.host)
}

// TestByKeyboard reaches a line's reason, another tab and a part of the prefix with keys alone.
func TestByKeyboard(t *testing.T) {
	b, h := browser(t), played(t)
	keepPrefix(t, h)
	l := view(t, h)
	l.open(t, b)
	require.NoError(t, b.Screen("light", 1280, 900))
	until(t, b, `document.querySelectorAll('#sessions .row').length === 1 && !document.querySelector('#sessions').textContent.includes('reading')`)
	at := func() string {
		return eval[string](t, b, `document.activeElement.id || document.activeElement.textContent`)
	}
	tabTo := func(want string) {
		t.Helper()
		for range 60 {
			require.NoError(t, b.Key("\t"))
			if at() == want {
				return
			}
		}
		t.Fatalf("no key leads to %s", want)
	}
	tabTo("sessions")
	require.NoError(t, b.Key(chromium.Down))
	until(t, b, `document.getElementById('session-name').textContent.startsWith('shop')`)
	tabTo("window")
	require.NoError(t, b.Key(chromium.Left))
	assert.Contains(t, eval[string](t, b, `document.getElementById('window').getAttribute('aria-valuetext')`), "Call 8 of 9")
	tabTo("events")
	require.NoError(t, b.Key(chromium.Down))
	tabTo("Copy the command")
	until(t, b, `document.querySelectorAll('#lines .row').length > 5`)
	tabTo("lines")
	require.NoError(t, b.Key(chromium.Down))
	until(t, b, `document.querySelector('.full').textContent.length > 5`)
	eval[bool](t, b, `(document.getElementById('tab-sessions').focus(), true)`)
	require.NoError(t, b.Key(chromium.Right))
	until(t, b, `document.documentElement.dataset.tab === 'prefix'`)
	assert.Equal(t, "tab-prefix", at())
	tabTo("system prompt")
	assert.Contains(t, eval[string](t, b, `document.getElementById('prefix-told').textContent`), "3,000 tokens")
	calm(t, b, l.host)
}

// crowd is a home with 999 sessions of 20 model calls and one of 10,000.
func crowd(t *testing.T) Home {
	t.Helper()
	h := newHome(t)
	fill := func(id, project string, calls int) {
		s, err := h.Play(id, project, begun)
		require.NoError(t, err)
		var lines strings.Builder
		for i := range calls {
			fmt.Fprintf(&lines, `{"type":"assistant","sessionId":%q,"cwd":%q,"timestamp":%q,"message":{"id":"m%d","role":"assistant","model":"claude-opus-4-5","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"ls %d"}}],"usage":{"input_tokens":4,"cache_read_input_tokens":%d,"cache_creation_input_tokens":20,"output_tokens":30}}}`+"\n"+
				`{"type":"user","sessionId":%q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"one\ntwo\nthree of them"}]}}`+"\n",
				id, s.Project, begun.Add(time.Duration(i)*time.Second).Format(time.RFC3339), i, i, i, 17000+20*i, id, i)
		}
		f, err := os.OpenFile(s.Path, os.O_APPEND|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(lines.String())
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	for i := range 999 {
		fill(fmt.Sprintf("s%03d", i), fmt.Sprintf("project%d", i%7), 20)
	}
	fill("long", "long", 10_000)
	return h
}

// TestManyRequests opens 1,000 sessions, the last of them with 10,000 requests. The figures are logged; the limit is far above them, for
// machines that do other things as well.
func TestManyRequests(t *testing.T) {
	b, h := browser(t), crowd(t)
	l := view(t, h)
	began := time.Now()
	l.open(t, b)
	t.Logf("opened and drawn in %v; first paint %v ms after the page was asked for", time.Since(began),
		eval[float64](t, b, `performance.getEntriesByName('first-contentful-paint')[0]?.startTime || 0`))
	until(t, b, `document.getElementById('session-name').textContent.startsWith('long')`)
	t.Logf("the last session is shown %v after the browser was sent there", time.Since(began))
	until(t, b, `document.getElementById('sessions-sum').textContent.startsWith('1,000 sessions, 29,980 calls')`)
	picture(t, b, "thousand.png")
	t.Logf("all 1,000 sessions read %v after the browser was sent there", time.Since(began))
	assert.Less(t, eval[int](t, b, `document.querySelectorAll('#sessions .row').length`), 40, "only the rows in sight are drawn")
	eval[bool](t, b, `(document.getElementById('of-text').value = 'long', document.getElementById('of-text').dispatchEvent(new Event('input')), true)`)
	began = time.Now()
	selectSession(t, b, "long")
	until(t, b, `document.getElementById('window').getAttribute('aria-valuemax') === '10000'`)
	t.Logf("a session of 10,000 requests opened in %v", time.Since(began))
	frames := await[[]float64](t, b, `new Promise(done => { const box = document.getElementById('calls'), times = []; let last = performance.now(), n = 0;
		requestAnimationFrame(function step(now) { times.push(now - last); last = now; box.scrollTop += 900; if (++n < 120) requestAnimationFrame(step); else done(times.sort((a, b) => a - b)); }); })`)
	t.Logf("scrolling: median frame %.1f ms, 95 of 100 below %.1f ms", frames[len(frames)/2], frames[len(frames)*95/100])
	assert.Less(t, eval[int](t, b, `document.querySelectorAll('#calls .row').length`), 40)
	calm(t, b, l.host)
}

// TestUsage: wrong flags are refused with what to do.
func TestUsage(t *testing.T) {
	h := newHome(t)
	for want, args := range map[string][]string{
		"--texts is for --html":               {"view", "--texts"},
		"want an integer from 0 to 65535":     {"view", "--port", "70000"},
		"no such file":                        {"view", "--html", "no/folder.html"},
		"stat " + h.Dir + "/none: no such fi": {"view", "--html", "-", h.Dir + "/none"},
		"stat none.db: no such file":          {"view", "--html", "-", "--store", "none.db"}, // nothing is created
		"name the database without its passw": {"view", "--html", "-", "--store", "postgres://u:secret@h/d"},
		"a ledger in a file has no subjects":  {"view", "--html", "-", "--subject", "alice"},
	} {
		cmd := exec.Command(h.Program, args...)
		cmd.Env, cmd.Dir = h.Env(), h.Dir
		out, err := cmd.CombinedOutput()
		require.Error(t, err, want)
		assert.Contains(t, string(out), want)
		assert.NotContains(t, string(out), "secret")
	}
	assert.NoFileExists(t, filepath.Join(h.Dir, "none.db"))
}
