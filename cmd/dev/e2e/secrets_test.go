//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTokenOfTheRun proves that the token of a run's own server is in a file that only the user can read, and neither
// on a command line nor in the environment of a command. The file is removed after the run.
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

// TestPasswordOfThePruner proves that the pruner's key and the password in its URL are not on any command line. They
// are in no environment that a command can read, except the client's, which got them from the user. The server still
// gets them.
func TestPasswordOfThePruner(t *testing.T) {
	const look = `for p in /proc/[0-9]*; do for f in environ cmdline; do
if { tr '\0' '\n' <$p/$f | grep -aq 'sesam[e]-MARK'; } 2>/dev/null; then echo "HOLDS $f $(tr '\0' ' ' <$p/cmdline | cut -d' ' -f1)"; fi
done; done 2>/dev/null; echo LOOKED`
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			each(t, func(t *testing.T, c client) {
				mark := filepath.Base(filepath.Dir(t.TempDir())) + strconv.Itoa(os.Getpid()) // other tests have secrets, too
				w := newWorld(t, c, readFocused(), call("bash", map[string]any{"command": strings.ReplaceAll(look, "MARK", mark)}), done)
				w.env = append(w.env, "DEEPINFRA_API_KEY=key-sesame-"+mark,
					"JEEVES_PRUNER_URL="+strings.Replace(prunerURL(w), "http://", "http://ali:sesame-"+mark+"@", 1))
				o := w.run("--allow-bash", "--transport", transport)
				require.Zero(t, o.code, o.stderr)
				require.Len(t, w.results(), 2)
				text := w.results()[1].text
				assert.Contains(t, text, "LOOKED")
				for line := range strings.Lines(text) {
					if holds, found := strings.CutPrefix(line, "HOLDS "); found {
						assert.Equal(t, "environ "+filepath.Join(filepath.Dir(w.dir), "bin", c.name), strings.TrimSpace(holds))
					}
				}
				assert.Contains(t, o.summary, "calls 2, pruned 1")
			})
		})
	}
}
