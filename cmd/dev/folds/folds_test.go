package folds

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFoldsImitateTheHalfKeptBack(t *testing.T) {
	require.Equal(t, Of("scikit-learn__scikit-learn-141"), Of("scikit-learn__scikit-learn-9"), "one repository")
	require.NotEqual(t, Of("django__django-1"), Of("scikit-learn__scikit-learn-9"))
	require.Equal(t, []int{0, 1, 2}, []int{Of("2026-01-14-x"), Of("2026-01-15-x"), Of("2026-01-29-x")}, "by time")
	require.Equal(t, Count-1, Of("062a8bdd-4322-4ffa-bc38-3e8b8bfb5a56"), "those without a date came last")
	for _, id := range []string{"", "x", "axi/release/run3"} {
		require.Contains(t, []int{0, 1, 2, 3}, Of(id))
	}
}
