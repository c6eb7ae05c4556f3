//go:build unix

package tools

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bsdGrep passes on only the options that the manual of macOS' grep lists.
const bsdGrep = `#!/bin/sh
value=
for arg; do
	if [ -n "$value" ]; then value=; continue; fi
	case $arg in
	--) break ;;
	-[ABCDdefm]) value=next ;;
	--null | -[EFGHILORSUVabchilnopqrsuvwxyz]) ;;
	*) echo "grep: illegal option $arg" >&2; exit 2 ;;
	esac
done
exec REAL "$@"
`

// Without rg, a search uses no option that the grep of macOS and the BSDs lacks.
func TestGrepOfMacOS(t *testing.T) {
	real, err := exec.LookPath("grep")
	require.NoError(t, err)
	stand := fakeProgram(t, strings.Replace(bsdGrep, "REAL", real, 1))
	for _, refused := range []string{"-P", "-Z", "--include=x", "-T"} {
		out, err := exec.Command(stand, refused, "-e", "x", "--", "/dev/null").CombinedOutput()
		assert.Error(t, err, refused)
		assert.Contains(t, string(out), "grep: ", refused)
	}
	root := t.TempDir()
	write(t, root, "a", "Word one\nsecond word\n")
	write(t, root, "marked", "\xef\xbb\xbfword\n") // goes to standard input
	grep := newTools(t, Settings{Root: root, LookPath: programs(map[string]string{"rg": "", "grep": stand})})["grep"]
	for args, want := range map[string]string{
		`{"pattern":"word"}`:        "a:2:8:second word\nmarked:1:1:word",
		`{"pattern":"(?i)\\bword"}`: "a:1:1:Word one\na:2:8:second word\nmarked:1:1:word",
		`{"pattern":"word","fixed_string":true,"case_sensitive":true}`:    "a:2:8:second word\nmarked:1:1:word",
		`{"pattern":"w[a-z]{2}d","output_mode":"files","paths":["a"]}`:    "a",
		`{"pattern":"word","output_mode":"count","case_sensitive":false}`: "a:2\nmarked:1",
		`{"pattern":"second","context_lines":1}`:                          "a-1-Word one\na:2:1:second word",
	} {
		out, err := call(t, grep, args)
		require.NoError(t, err, args)
		assert.Equal(t, want, out.Text(), args)
	}
}
