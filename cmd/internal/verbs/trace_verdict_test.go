package verbs

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
)

// verdicts are traces and what their verdicts are.
func verdicts(t *testing.T) map[string]struct {
	text []byte
	code int
	want []string // in what is shown
} {
	good := tracetest.New(t).Trace(60)
	lines := tracetest.Lines(good)
	torn := slices.Concat(good, lines[0][:200])
	r := tracetest.Decode(t, lines[20])
	r.Tool = "forged"
	forged := slices.Clone(lines)
	forged[20] = tracetest.Encode(r)
	return map[string]struct {
		text []byte
		code int
		want []string
	}{
		"good":   {good, traceOK, []string{"ok: 60 records"}},
		"torn":   {torn, traceOK, []string{"ok: 60 records", "line 61: torn: it is the last and breaks off after 200 bytes"}},
		"forged": {bytes.Join(forged, nil), traceInvalid, []string{"failed: read 60 records", "which was changed after it was written, or this was"}},
		"empty":  {nil, traceOK, []string{"ok, but empty: there is no record in it"}},
	}
}

// stats, list and report verify first and show the verdict, and what it is about.
func TestTheVerdictComesFirst(t *testing.T) {
	for name, c := range verdicts(t) {
		path := writtenTrace(t, c.text)
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

// CSV is for spreadsheets, which take some texts for formulas.
func TestNoNameIsAFormula(t *testing.T) {
	r := tracetest.Decode(t, tracetest.New(t).Trace(1))
	r.Client = `=HYPERLINK("x")`
	path := writtenTrace(t, tracetest.Encode(r))
	stdout, _, _ := runTrace(t, "list", "--csv", path)
	assert.Contains(t, stdout, `"'=HYPERLINK(""x"")"`)
	stdout, _, _ = runTrace(t, "list", "--json", path)
	assert.Contains(t, stdout, `"client":"=HYPERLINK(\"x\")"`)
}
