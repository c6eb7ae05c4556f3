package existing

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// A test's log is short apart from one line, which loses its middle; the failure stays.
func TestALongLineOfATestLogLosesItsMiddle(t *testing.T) {
	page := "response: <html>" + strings.Repeat("<td>cell</td>", 400) + "</html>"
	log := func(line string) string {
		var b strings.Builder
		for i := range 12 {
			fmt.Fprintf(&b, "ok   tests/shop_%d.py::test_totals\n", i)
		}
		return b.String() + line + "\nFAILED tests/shop_3.py::test_page - assert 200 == 500\n1 failed, 12 passed in 0.31s\n"
	}
	cut := func(command, line string) string {
		call := history.ParseCall("Bash", map[string]any{"command": command})
		body := NewBody(history.Bash, log(line))
		r := Result{Call: call, Body: body, Question: "Why does the page's test fail?"}
		c, err := Prune(context.Background(), r)
		require.NoError(t, err)
		if c.Whole() {
			return "(whole)"
		}
		text := Text(body, c, ExampleWay)
		assert.Equal(t, "prn_3ddf8b97", CutID(text), text)
		return text
	}
	text := cut("pytest tests", page)
	assert.Contains(t, text, "response: <html><td>")
	assert.Contains(t, text, "</td></html>\n")
	assert.Contains(t, text, "bytes of this line left out")
	assert.Contains(t, text, "assert 200 == 500")
	assert.Less(t, len(text), 2500)

	for name, whole := range map[string]string{
		"a command that runs no tests":       cut("curl -s localhost:8000", page),
		"a record":                           cut("pytest tests", "{"+page),
		"a middle that says what went wrong": cut("pytest tests", strings.Replace(page, "cell</td><td>", "Expected: 5</td><td>", 200)),
		"a line that is not long by far":     cut("pytest tests", page[:1400]),
	} {
		assert.NotContains(t, whole, "left out", name)
	}
}
