package proxy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
)

// What a hook cut is not cut again, and once it is cleared, its id brings back the original and not what the hook left. A text
// that only looks like one is a result like any other.
func TestWhatAHookCutKeepsItsID(t *testing.T) {
	for name, known := range map[string]bool{"cut by a hook": true, "looks like it": false} {
		r := newRig(t, database(t), Both)
		id := "prn_00000000"
		if known {
			var err error
			id, err = archive.In(filesOf(r.engine).State).Put(passed("package", "the original"), "", 1)
			require.NoError(t, err)
		}
		cut := existing.Header(existing.Cut{Kept: make([]int, 900), Total: 2000}, existing.DefaultBack+" "+id) + "\n" +
			passed("package", "--- FAIL: TestTotals (0.00s)\n    totals_test.go:12: got 3, want 4\nFAIL\tpackage/totals\t0.01s")
		list := append([]step{{id: idForms["long"](1000), command: "go test ./...", output: cut}}, steps(40, idForms["long"])...)
		got := string(r.post(t, messagesPath, renderings[messagesPath](list[:1])))
		assert.Equal(t, known, strings.Contains(got, `package/number5\t`), "%s: it is not cut again", name)
		for n := 2; n <= 40; n++ {
			got = string(r.post(t, messagesPath, renderings[messagesPath](list[:n])))
		}
		assert.Equal(t, known, strings.Contains(got, "`"+existing.DefaultBack+" "+id+"` prints them]"), name)
	}
}
