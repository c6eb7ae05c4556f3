package settings

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Questions, paths and commands are recorded only by the word "full".
func TestDetailIsOffUnlessItIsFull(t *testing.T) {
	for _, program := range []Program{Stdio, HTTP} {
		for value, full := range map[string]bool{"": false, "metadata": false, "full": true} {
			var env []string
			if value != "" {
				env = append(env, "MCP_PRUNER_TRACE_DETAIL="+value)
			}
			s, _, err := Load(program, nil, FromEnv(env))
			require.NoError(t, err)
			assert.Equal(t, full, s.TraceFull, "%q", value)
		}
		for _, value := range []string{"Full", "true", "1", "all"} {
			s, _, err := Load(program, nil, FromEnv([]string{"MCP_PRUNER_TRACE_DETAIL=" + value}))
			assert.ErrorContains(t, err, `want metadata or full`)
			assert.False(t, s.TraceFull, "%q", value)
		}
	}
}
