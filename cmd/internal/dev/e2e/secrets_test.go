//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTokenOfTheRun: the owned server takes requests from its client alone, by a token
// that is on no command line and in no command's environment.
func TestTokenOfTheRun(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		const look = `token=$(echo "$TMPDIR"/mcp-pruner-run-*/token)
echo "file $(stat -c %a "$token") $(wc -l <"$token")"
echo "command lines: $(cat /proc/[0-9]*/cmdline 2>/dev/null | grep -acf "$token")"
echo "environment: $(env | grep -cf "$token")"`
		w := newWorld(t, c, call("bash", map[string]any{"command": look}), done)
		o := w.run("--transport", "http", "--allow-bash")
		require.Zero(t, o.code, o.stderr)
		require.Len(t, w.results(), 1)
		text := w.results()[0].text
		assert.Contains(t, text, "file 600 1\ncommand lines: 0\nenvironment: 0")
		left, err := filepath.Glob(filepath.Join(filepath.Dir(w.dir), "mcp-pruner-run-*"))
		require.NoError(t, err)
		assert.Empty(t, left, "nothing is left of it")
	})
}

// TestPasswordOfThePruner: a URL with a password is on no command line, and the server
// has it all the same.
func TestPasswordOfThePruner(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		const look = `echo "command lines: $(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -ac 'open-sesam[e]')"`
		w := newWorld(t, c, readFocused(), call("bash", map[string]any{"command": look}), done)
		w.env = append(w.env, "JEEVES_PRUNER_URL="+strings.Replace(prunerURL(w), "http://", "http://ali:open-sesame@", 1))
		o := w.run(allowBash...)
		require.Zero(t, o.code, o.stderr)
		require.Len(t, w.results(), 2)
		assert.Contains(t, w.results()[1].text, "command lines: 0")
		assert.Contains(t, o.summary, "calls 2, pruned 1")
	})
}
