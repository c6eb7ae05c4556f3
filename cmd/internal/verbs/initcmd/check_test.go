package initcmd

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
)

// A change that alters another setting, or that would not be found again, is refused.
func TestCheckFindsWhatAChangeAltered(t *testing.T) {
	lookup := func(name string) (string, bool) { return t.TempDir(), name == "HOME" }
	all, err := home{Home: setup.Home{Lookup: lookup}, system: "linux", path: "/opt/mcp-pruner"}.pieces("claude")
	require.NoError(t, err)
	before := []byte(`{"model": "opus", "permissions": {"deny": ["Bash"]}}`)
	after, err := all[0].install(before)
	require.NoError(t, err)
	require.NoError(t, all[0].check(before, after))
	for _, lost := range []string{`"Bash"`, `"opus"`} {
		altered := strings.Replace(string(after), lost, `"x"`, 1)
		assert.ErrorContains(t, all[0].check(before, []byte(altered)), "the change would alter other settings")
	}
	assert.ErrorContains(t, all[0].check(before, before), "the change would not be found again")
}
