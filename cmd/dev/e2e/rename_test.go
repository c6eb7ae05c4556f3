//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestARenameSeesEveryPlace proves, with every real client, that a search for all uses of a name comes whole through the hooks, as
// lines and as a list of files, in a session whose other searches and logs are cut.
func TestARenameSeesEveryPlace(t *testing.T) {
	const places = 160
	every(t, func(t *testing.T, c client) {
		w := newWorld(t, c)
		w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
		w.write(filepath.Join(w.dir, "tests.sh"), testLog+"\n", 0o755)
		for i := range places {
			w.write(filepath.Join(w.dir, fmt.Sprintf("module%03d.go", i)), fmt.Sprintf("package shop\n\nfunc use%d() { oldName(%d) }\n", i, i), 0o644)
		}
		w.ours(append([]string{"init", c.name}, hookedBy[c.name].options...)...)
		w.model.Play(c.shellTurn("I run the tests to see which one fails and why.", "sh tests.sh"),
			c.shellTurn("I rename oldName in every file: all its uses.", "grep -rn oldName ."),
			c.shellTurn("Now the files.", "grep -rl oldName ."), done)

		out := hookedBy[c.name].run(w)

		results := w.results()
		require.Len(t, results, 3, out)
		assert.NotContains(t, results[0].text, "TestCase17 ", "this log is cut")
		for _, r := range results[1:] {
			assert.Equal(t, places, strings.Count(r.text, "module"), "%.300s", r.text)
		}
	})
}
