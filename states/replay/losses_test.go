package replay

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// TestLossesAddUp checks that the losses and what was saved are together what a perfect pruner would have saved.
func TestLossesAddUp(t *testing.T) {
	for name, change := range map[string]func(*sessions.Step){
		"misses":             func(*sessions.Step) {},
		"whole: failed call": func(s *sessions.Step) { s.Err = s.Kind == sessions.Result },
	} {
		s := sample(t)
		for i := range s.Steps {
			change(&s.Steps[i])
		}
		f, err := compute(t.Context(), s, Settings{}, []Policy{Hook})
		require.NoError(t, err)
		limit, sum := 0.0, f.Outcome(Hook).Net(1)
		for _, r := range f.Results {
			if inLimit(r) {
				limit += .8 * float64(r.Tokens) * r.Weight
			}
		}
		var causes []string
		for _, l := range f.Losses(Hook) {
			sum += l.Cost
			causes = append(causes, l.Cause)
		}
		require.InDelta(t, limit, sum, 1e-6)
		require.Greater(t, limit, 0.0)
		require.Contains(t, causes, name)
	}
}

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
