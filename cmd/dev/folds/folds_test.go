package folds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

func TestFoldsKeepRepositoriesTogether(t *testing.T) {
	of := func(source, id string) int { return Of(Repository(source, id)) }
	require.Equal(t, of("vorflux", "django__django-1"), of("gemini3pro", "django__django-9"), "one repository in two collections")
	require.Equal(t, of("entire", "2026-01-14-x"), of("entire", "062a8bdd-4322-4ffa-bc38-3e8b8bfb5a56"))
	require.NotEqual(t, of("vorflux", "django__django-1"), of("vorflux", "scikit-learn__scikit-learn-9"))
	require.NotEqual(t, of("FSM1/cipher-box", "a"), of("PackmindHub/context-evaluator", "b"))
	require.Equal(t, Count-1, Of("x"))
}

func TestRepositories(t *testing.T) {
	require.Equal(t, "scikit-learn/scikit-learn", Repository("vorflux", "scikit-learn__scikit-learn-141"))
	require.Equal(t, "entireio/cli", Repository("entire", "2026-01-27-3b1b"))
	require.Equal(t, "FSM1/cipher-box", Repository("FSM1/cipher-box", "x"))
}

func TestSeveralAgentsInOneList(t *testing.T) {
	use := func(tool string) sessions.Session {
		return sessions.Session{Steps: []sessions.Step{{Kind: sessions.Call}, {Kind: sessions.Use, Tool: tool}}}
	}
	require.True(t, Flattened(use("add_task")))
	require.False(t, Flattened(use("Task")))
}
