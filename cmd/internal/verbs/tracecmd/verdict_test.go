package tracecmd

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// verdicts are traces and what their verdicts are.
func verdicts(t *testing.T) map[string]struct {
	text []byte
	code int
	want []string // in what is shown
} {
	good := newGenerator(t).trace(60)
	lines := split0(good)
	torn := slices.Concat(good, lines[0][:200])
	r := parsed(t, lines[20])
	r.Tool = "forged"
	forged := slices.Clone(lines)
	forged[20] = seal(r)
	return map[string]struct {
		text []byte
		code int
		want []string
	}{
		"good":   {good, exitOK, []string{"ok: 60 records"}},
		"torn":   {torn, exitOK, []string{"ok: 60 records", "line 61: torn: it is the last and breaks off after 200 bytes"}},
		"forged": {bytes.Join(forged, nil), exitBad, []string{"failed: read 60 records", "which was changed after it was written, or this was"}},
		"empty":  {nil, exitOK, []string{"ok, but empty: there is no record in it"}},
	}
}

// stats, list and report verify first and show the verdict, and what it is about.
func TestTheVerdictComesFirst(t *testing.T) {
	for name, c := range verdicts(t) {
		path := filepath.Join(t.TempDir(), "trace.jsonl")
		require.NoError(t, os.WriteFile(path, c.text, 0o600))
		sum := fmt.Sprintf("sha256 %x", sha256.Sum256(c.text))
		stats, _, code := runTrace(t, "stats", path)
		assert.Equal(t, c.code, code, name)
		_, list, code := runTrace(t, "list", path)
		assert.Equal(t, c.code, code, name)
		for _, shown := range []string{stats, list} {
			for _, want := range c.want {
				assert.Contains(t, shown, want, name)
			}
			assert.True(t, strings.HasPrefix(shown, c.want[0]), name)
			assert.Contains(t, shown, sum, name)
			assert.Equal(t, len(c.text) > 0, strings.Contains(shown, "versions: 0.1.0 60"), name)
		}
		assert.Contains(t, stats, "requests and", name)
	}
}

// The report has its verdict, in a real browser, on a good, a torn, a forged and an
// empty trace; it saves its records as CSV and JSON.
func TestReportShowsItsVerdict(t *testing.T) {
	b := startBrowser(t)
	for name, c := range verdicts(t) {
		file, _ := report(t, c.text)
		b.open(file)
		require.Empty(t, eval[string](b, `document.documentElement.dataset.error || ''`), name)
		shown := eval[string](b, `document.getElementById('verdict').textContent`)
		for _, want := range c.want {
			assert.Contains(t, shown, want, name)
		}
		assert.Contains(t, shown, fmt.Sprintf("%x", sha256.Sum256(c.text)), name)
		assert.Equal(t, len(c.text) > 0, strings.Contains(shown, "Versions: 0.1.0 60"), name)
		assert.Equal(t, c.code == exitBad, eval[bool](b, `document.getElementById('verdict').classList.contains('bad')`), name)
		assert.Less(t, eval[float64](b, `document.getElementById('verdict').getBoundingClientRect().top`),
			eval[float64](b, `document.getElementById('figures').getBoundingClientRect().top`), "the verdict stands first")
		b.screenshot("verdict-" + name + ".png")
	}
	file, s := report(t, newGenerator(t).trace(40))
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

// CSV is for spreadsheets, which take some texts for formulas.
func TestNoNameIsAFormula(t *testing.T) {
	r := parsed(t, split0(newGenerator(t).trace(1))[0])
	r.Client = `=HYPERLINK("x")`
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, seal(r), 0o600))
	stdout, _, _ := runTrace(t, "list", "--csv", path)
	assert.Contains(t, stdout, `"'=HYPERLINK(""x"")"`)
	stdout, _, _ = runTrace(t, "list", "--json", path)
	assert.Contains(t, stdout, `"client":"=HYPERLINK(\"x\")"`)
}
