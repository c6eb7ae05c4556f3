package replay

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// TestRepeatedIDs checks that of calls with one id each result has its own.
func TestRepeatedIDs(t *testing.T) {
	s := sample(t)
	var steps []sessions.Step
	for _, step := range s.Steps {
		small := step
		switch step.Kind {
		case sessions.Use:
			small.Args = map[string]any{"file_path": "small.go"}
			steps = append(steps, small)
		case sessions.Result:
			small.Out = "package small\n"
			steps = append(steps, small)
		}
		steps = append(steps, step)
	}
	s.Steps = steps
	for i, p := range mustPredict(t, s) {
		require.Equal(t, i == 1, p.Pruned, "result %d", i)
	}
}

func mustPredict(t *testing.T, s sessions.Session) []Prediction {
	t.Helper()
	list, err := Predict(t.Context(), s, nil)
	require.NoError(t, err)
	return list
}
