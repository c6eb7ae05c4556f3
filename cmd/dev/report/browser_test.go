// Package report checks the page that `mcp-pruner trace report` makes in a real browser.
package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/chromium"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
)

// browser is a page in a real headless Chromium.
type browser struct {
	*chromium.Browser
	t *testing.T
}

func startBrowser(t *testing.T) *browser {
	t.Helper()
	b, stop, err := chromium.Start(t.Context())
	if errors.Is(err, chromium.ErrNone) {
		t.Skip("the report was not checked in a browser: ", err)
	}
	require.NoError(t, err)
	t.Cleanup(stop)
	return &browser{b, t}
}

// open loads a page and returns how long it took until all was drawn.
func (b *browser) open(file string) time.Duration {
	b.t.Helper()
	took, err := b.Open("file://" + file)
	require.NoError(b.t, err)
	return took
}

// eval runs JavaScript and returns what it comes to.
func eval[T any](b *browser, script string) T {
	b.t.Helper()
	got, err := chromium.Eval[T](b.Browser, script)
	require.NoError(b.t, err, script)
	return got
}

// calm checks that the page complained of nothing and fetched nothing but itself.
func (b *browser) calm() {
	b.t.Helper()
	assert.Empty(b.t, b.Problems())
	assert.Empty(b.t, eval[[]string](b, `window.refused`), "refused by the policy")
	for _, url := range b.Fetched() {
		assert.True(b.t, strings.HasPrefix(url, "file://") && strings.HasSuffix(url, "report.html"), url)
	}
}

// verified calls use with a trace.
func verified(t *testing.T, text []byte, use func(*audit.Trace) error) {
	t.Helper()
	trace, err := audit.Verify([]*audit.Source{audit.NewSource("trace.jsonl", bytes.NewReader(text))}, audit.Options{All: true})
	require.NoError(t, err)
	require.NoError(t, use(trace))
}

// page makes the page of a trace that lists at most so many records, and its stats.
func page(t *testing.T, text []byte, most int) (file string, s audit.Stats) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "report.html")
	out, err := os.Create(file)
	require.NoError(t, err)
	verified(t, text, func(trace *audit.Trace) (err error) {
		s, err = audit.WritePage(out, trace, audit.Selection{}, []string{"trace.jsonl"}, most)
		return err
	})
	require.NoError(t, out.Close())
	return file, s
}

// shownStats is what `trace stats` prints of a trace.
func shownStats(t *testing.T, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	verified(t, text, func(trace *audit.Trace) error {
		c, err := trace.Summarize(audit.Selection{}, nil)
		require.NoError(t, err)
		return audit.WriteStats(&out, c.Stats)
	})
	return out.String()
}

// many is the number of records that the verb lists.
const many = 100_000

func (b *browser) figure(name string) float64 {
	b.t.Helper()
	return eval[float64](b, fmt.Sprintf(`Number(document.querySelector('[data-stat=%q]').dataset.value)`, name))
}

// A hundred thousand requests: the page is small, opens fast and says what trace stats says.
func TestReportInABrowser(t *testing.T) {
	b := startBrowser(t)
	file, s := page(t, tracetest.New(t).Trace(many), many)
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(5_000_000))
	fastest := time.Hour
	for range 3 { // whatever else the machine is doing
		fastest = min(fastest, b.open(file))
	}
	t.Logf("%d bytes, open and drawn in %v", info.Size(), fastest)
	assert.Less(t, fastest, time.Minute, "2 s on a machine that does nothing else")
	b.sameAs(s)
	b.calm()
}

// sameAs compares every figure on the page with the stats.
func (b *browser) sameAs(s audit.Stats) {
	t := b.t
	t.Helper()
	for name, want := range map[string]int{
		"requests": s.Requests, "sessions": s.Sessions, "applied": s.Pruner.Applied, "net": s.Saved.Net, "balance": s.Saved.Net,
		"gross": s.Saved.Gross, "notShown": -s.Saved.NotShown, "questions": -s.Saved.Questions, "rereads": -s.Saved.Rereads - s.Saved.OfRereads,
		"p50": int(s.Latency.P50), "p95": int(s.Latency.P95),
	} {
		assert.InDelta(t, want, b.figure(name), 0, name)
	}
	assert.InDelta(t, s.Saved.NetShare, b.figure("share"), 1e-9)
	failed := 0
	for _, tool := range s.Tools {
		failed += tool.Failed
		row := eval[map[string]string](b, fmt.Sprintf(`({...[...document.querySelectorAll('[data-tool]')].find(e => e.dataset.tool === %s).dataset})`, quote(tool.Tool)))
		assert.Equal(t, fmt.Sprint(tool.Count), row["count"], tool.Tool)
		assert.Equal(t, fmt.Sprint(tool.Net), row["net"], tool.Tool)
	}
	assert.InDelta(t, failed, b.figure("failed"), 0)
	for _, state := range s.States {
		row := eval[map[string]string](b, fmt.Sprintf(`({...document.querySelector('[data-state-row="%s"][data-machine-row="%s"]').dataset})`, state.State, state.Machine))
		assert.Equal(t, map[string]string{
			"stateRow": state.State, "machineRow": state.Machine, "count": fmt.Sprint(state.Count), "p50": fmt.Sprint(state.P50), "p95": fmt.Sprint(state.P95),
			"p99": fmt.Sprint(state.P99), "max": fmt.Sprint(state.Max),
		}, row)
	}
	for _, p := range s.Paths {
		way := strings.Join(p.Triggers, " ")
		row := eval[[]float64](b, fmt.Sprintf(`(d => [Number(d.count), Number(d.share)])(document.querySelector('[data-way="%s"][data-way-machine="%s"]').dataset)`, way, p.Machine))
		assert.InDeltaSlice(t, []float64{float64(p.Count), p.Share}, row, 1e-9, way)
	}
}

func quote(s string) string {
	raw, _ := json.Marshal(s) // strings always marshal
	return string(raw)
}

// A trace of both transports: the page and the stats say which machine is meant.
func TestReportTellsMachinesApart(t *testing.T) {
	b := startBrowser(t)
	http := fsm.HTTPRequestTable()
	text := tracetest.New(t, tracetest.Kind{Table: http, Path: tracetest.Raw, Tool: "read", Weight: 30}, tracetest.Kind{Table: http, Path: tracetest.Pruned, Tool: "read", Weight: 20}).Trace(2000)
	file, s := page(t, text, many)
	b.open(file)
	b.sameAs(s)
	stdout := shownStats(t, text)
	for _, machine := range []string{"request", "request-http", "run"} {
		in := eval[string](b, `document.getElementById('paths').textContent + document.getElementById('states').textContent`)
		assert.Contains(t, in, machine)
		assert.Regexp(t, `(?m)^\d+ +[\d.]+% +`+machine+` `, stdout)
	}
	assert.Regexp(t, `(?m)^req:respond_raw +request-http `, stdout)
	eval[bool](b, `(() => { [...document.querySelectorAll('#tabs button')].find(e => e.textContent === 'request-http').click();
		document.querySelector('[data-machine="request-http"] [data-state="req:respond_pruned"]').dispatchEvent(new Event('click')); return true })()`)
	pruned := 0
	for _, p := range s.Paths {
		if p.Machine == "request-http" && slices.Contains(p.States, "req:respond_pruned") {
			pruned += p.Count
		}
	}
	assert.InDelta(t, pruned, b.figure("requests"), 0, "not those of the other machine that has such a state")
	b.calm()
}

// Filters apply to all of the page; arrows and states filter too.
func TestReportFilters(t *testing.T) {
	b := startBrowser(t)
	file, s := page(t, tracetest.New(t).Trace(3000), many)
	b.open(file)
	choose := func(name, begins string) {
		eval[bool](b, fmt.Sprintf(`(() => { const f = document.getElementById('filters'), s = f.elements[%q];
			s.value = [...s.options].find(o => o.textContent.startsWith(%q)).value; f.dispatchEvent(new Event('input', {bubbles: true})); return true })()`, name, begins))
	}
	var bash audit.Tool
	for _, tool := range s.Tools {
		if tool.Tool == "bash" {
			bash = tool
		}
	}
	choose("tool", "bash")
	assert.InDelta(t, bash.Count, b.figure("requests"), 0)
	assert.InDelta(t, bash.Net, b.figure("net"), 0)
	assert.InDelta(t, bash.Latency.P95, b.figure("p95"), 0)
	choose("end", "tool_error: timeout")
	timeouts := 0
	for _, o := range s.Outcomes {
		if o.Why == "timeout" && o.Outcome == "tool_error" {
			timeouts += o.Count
		}
	}
	assert.InDelta(t, timeouts, b.figure("requests"), 0)
	choose("tool", "all")
	choose("end", "all")
	assert.InDelta(t, s.Requests, b.figure("requests"), 0)

	clicked := eval[float64](b, `(() => { const g = [...document.querySelectorAll('.drawing:not([hidden]) .arrow')].find(g => g.querySelector('title').textContent.includes('--pruned-->'));
		const n = Number(g.dataset.count); g.dispatchEvent(new Event('click')); return n })()`)
	assert.InDelta(t, s.Pruner.Applied, clicked, 0)
	assert.InDelta(t, clicked, b.figure("requests"), 0)
	assert.Contains(t, eval[string](b, `document.getElementById('through').textContent`), "pruned")
	told := eval[string](b, `document.getElementById('told').textContent`)
	assert.Regexp(t, fmt.Sprintf(`^T19: req:calling_pruner --pruned--> req:respond_pruned\n +%d times p50 .* p95 `, s.Pruner.Applied), strings.ReplaceAll(told, ",", ""))
	eval[bool](b, `document.querySelector('[data-state="req:tool_error"]').dispatchEvent(new Event('click'))`)
	assert.InDelta(t, b.figure("failed"), b.figure("requests"), 0)

	// The runs have a drawing of their own.
	require.NoError(t, chromedp.Do(b, chromedp.Click(`#tabs button:nth-child(2)`), chromedp.Click(`button[type=reset]`)))
	require.Eventually(t, func() bool { return b.figure("requests") == float64(s.Requests) }, time.Minute, 10*time.Millisecond)
	assert.Equal(t, "run", eval[string](b, `document.querySelector('.drawing:not([hidden])').dataset.machine`))
	b.calm()
}

// Light and dark, wide and narrow: all text can be read, and nothing sticks out.
func TestReportLooks(t *testing.T) {
	b := startBrowser(t)
	file, _ := page(t, tracetest.New(t).Trace(2000), many)
	backgrounds := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390} {
			require.NoError(t, b.Screen(scheme, width, 900))
			b.open(file)
			assert.LessOrEqual(t, eval[int64](b, `document.documentElement.scrollWidth`), width, "%s at %d: the page is wider than the window", scheme, width)
			assert.GreaterOrEqual(t, eval[float64](b, contrast), 4.5, "%s at %d: text does not stand out", scheme, width)
			assert.Empty(t, eval[[]string](b, smallText), "%s at %d: text is too small", scheme, width)
			assert.True(t, eval[bool](b, firstInView), "%s at %d: the picture does not show where it begins", scheme, width)
			assert.Empty(t, eval[[]string](b, hiddenCells), "%s at %d: a request is off the screen", scheme, width)
			backgrounds[eval[string](b, `getComputedStyle(document.body).backgroundColor`)] = true
			b.screenshot(fmt.Sprintf("%s-%d.png", scheme, width))
		}
	}
	assert.Len(t, backgrounds, 2, "light and dark look the same")
	b.calm()
}

// contrast is the least contrast of text with the card it stands on, by WCAG.
const contrast = `(() => {
	const light = (c) => { const [r, g, b] = c.match(/[\d.]+/g).map(Number).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b };
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05) };
	const card = getComputedStyle(document.querySelector('.card')).backgroundColor;
	return Math.min(...[...document.querySelectorAll('td, th, h2, .sub, .figures b, .figures span, .num')].map(e => ratio(getComputedStyle(e).color, card)));
})()`

// firstInView says whether the state that a machine begins in is within its frame.
const firstInView = `(() => {
	const d = document.querySelector('.drawing:not([hidden])'), frame = d.getBoundingClientRect(), box = d.querySelector('.state').getBoundingClientRect();
	return box.left >= frame.left && box.right <= frame.right;
})()`

// hiddenCells names cells of the list of requests that are beside the window; wide
// windows scroll the last column, which is as long as a way.
const hiddenCells = `[...document.querySelectorAll('#requests td')].filter(e => innerWidth < 500 && e.getBoundingClientRect().right > innerWidth).map(e => e.textContent)`

// smallText names elements whose text is drawn under 9 pixels high, the drawing
// scaled as it is.
const smallText = `[...document.querySelectorAll('td, th, p, span, b, label, svg text')].filter(e => e.textContent.trim() && e.getClientRects().length && e.getBoundingClientRect().height < 9).map(e => e.outerHTML.slice(0, 80))`

// screenshot keeps a picture in the folder that TRACE_SCREENSHOTS names.
func (b *browser) screenshot(name string) {
	dir := os.Getenv("TRACE_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture, err := b.Screenshot()
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name), picture, 0o600))
}

// Names come from clients: none may become markup or script.
func TestReportIsSafeFromHostileNames(t *testing.T) {
	b := startBrowser(t)
	hostile := `</script><img src=x onerror="document.title='owned'">{{.}}` + "\u2028'\"`${1}"
	r := tracetest.Decode(t, tracetest.New(t).Trace(1))
	r.Tool, r.Client, r.Session, r.ID, r.Steps[0].Why = hostile, hostile, hostile, hostile, "x"
	file, s := page(t, tracetest.Encode(r), many)
	stdout := shownStats(t, tracetest.Encode(r))
	b.open(file)
	assert.Contains(t, eval[string](b, `document.title`), "Trace report")
	assert.Zero(t, eval[int](b, `document.querySelectorAll('img, iframe').length`))
	require.Len(t, s.Tools, 1)
	assert.Equal(t, hostile, s.Tools[0].Tool)
	assert.Contains(t, eval[string](b, `document.getElementById('requests').textContent`), hostile)
	b.calm()
	assert.NotContains(t, stdout, "\u2028", "a terminal gets no control characters")
}

// A later version may have machines that this one has no table of, and whoever writes
// a record names its states as they like.
func TestReportCountsMachinesItHasNoTableOf(t *testing.T) {
	b := startBrowser(t)
	for name, record := range map[string]trace.Record{
		"another machine": {Machine: "gateway", Steps: []trace.Step{{From: "gate:open", Trigger: "pass", To: "gate:shut"}}},
		"odd names":       {Machine: "request a\"b", Steps: []trace.Step{{From: `req:"] x`, Trigger: "go on", To: "req:<b>"}}},
	} {
		record.Writer, record.Seq, record.ID, record.Start = "0123456789abcdef", 1, "req_1", time.UnixMilli(1e12)
		record.Steps[0].Micros = 2500
		file, s := page(t, trace.AppendRecord(nil, &record), many)
		b.open(file)
		require.Empty(t, eval[string](b, `document.documentElement.dataset.error || ''`), name)
		state := s.States[0]
		require.Equal(t, string(record.Steps[0].From), state.State)
		require.Equal(t, []string{state.State, state.Machine, "2500"}, eval[[]string](b,
			`(({stateRow, machineRow, p50}) => [stateRow, machineRow, p50])(document.querySelector('[data-state-row]').dataset)`), name)
		require.Contains(t, eval[string](b, `document.getElementById('told').textContent`), "Not drawn, because this version's table does not have them: 1 transition.", name)
	}
	b.calm()
}

// What is left out of a large report is said on it.
func TestAReportOfManyRecordsCountsThemAll(t *testing.T) {
	b := startBrowser(t)
	file, stats := page(t, tracetest.New(t).Trace(3000), 1000)
	b.open(file)
	b.sameAs(stats)
	notes := func() string {
		return strings.TrimSpace(eval[string](b, `document.getElementById('notes').textContent`))
	}
	assert.Equal(t, "The figures cover all records, the list of requests and the filters only the last 1,000.", notes())
	eval[bool](b, `(() => { const f = document.getElementById('filters'); f.elements.slower.value = '0.001'; f.dispatchEvent(new Event('input', {bubbles: true})); return true })()`)
	assert.Equal(t, "Filtered: only the last 1,000 records; 2,000 older ones left out (--since, --until, --tool and --client choose from all).", notes())
	assert.Less(t, b.figure("requests"), 1000.0)
	b.calm()
}

// The page shows the verdict first, on a good, a torn, a forged and an empty trace; it saves its records as CSV and JSON.
func TestReportShowsItsVerdict(t *testing.T) {
	b := startBrowser(t)
	good := tracetest.New(t).Trace(60)
	lines := tracetest.Lines(good)
	r := tracetest.Decode(t, lines[20])
	r.Tool = "forged"
	forged := slices.Concat(bytes.Join(lines[:20], nil), tracetest.Encode(r), bytes.Join(lines[21:], nil))
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"good":   {good, "ok: 60 records"},
		"torn":   {append(slices.Clone(good), lines[0][:200]...), "line 61: torn: it is the last and breaks off after 200 bytes"},
		"forged": {forged, "which was changed after it was written, or this was"},
		"empty":  {nil, "ok, but empty: there is no record in it"},
	} {
		file, s := page(t, c.text, many)
		b.open(file)
		require.Empty(t, eval[string](b, `document.documentElement.dataset.error || ''`), name)
		shown := eval[string](b, `document.getElementById('verdict').textContent`)
		assert.Contains(t, shown, c.want, name)
		assert.Contains(t, shown, fmt.Sprintf("%x", sha256.Sum256(c.text)), name)
		assert.Equal(t, len(c.text) > 0, strings.Contains(shown, "Versions: 0.1.0 60"), name)
		assert.Equal(t, !s.Verdict.OK, eval[bool](b, `document.getElementById('verdict').classList.contains('bad')`), name)
		assert.Equal(t, name != "forged", s.Verdict.OK)
		assert.Less(t, eval[float64](b, `document.getElementById('verdict').getBoundingClientRect().top`),
			eval[float64](b, `document.getElementById('figures').getBoundingClientRect().top`), "the verdict stands first")
		b.screenshot("verdict-" + name + ".png")
	}
	file, s := page(t, tracetest.New(t).Trace(40), many)
	b.open(file)
	saved := eval[[]string](b, `(() => { // what the buttons save
		const made = [];
		window.Blob = class { constructor(parts) { made.push(parts.join('')); } };
		URL.createObjectURL = () => 'data:,';
		HTMLAnchorElement.prototype.click = () => {};
		document.getElementById('csv').click(); document.getElementById('json').click();
		return made; })()`)
	require.Len(t, saved, 2)
	assert.Equal(t, s.Records+1, strings.Count(saved[0], "\r\n"))
	assert.True(t, strings.HasPrefix(saved[0], "start,machine,id,"), saved[0])
	assert.Equal(t, s.Records, strings.Count(saved[1], `"triggers"`))
	b.calm()
}
