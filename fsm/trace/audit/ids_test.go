package audit

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Marks that exceed the memory limit are sorted on disk, with the same result.
func TestMarksAreSortedOnDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	random := rand.New(rand.NewPCG(3, 4))
	s := newSorter()
	s.most = 64
	want := make(map[uint64][]place)
	for i := range 1000 {
		m := mark{id: random.Uint64N(300), at: place(i), flags: recovered}
		want[m.id] = append(want[m.id], m.at)
		require.NoError(t, s.add(m))
	}
	last, groups := -1, 0
	require.NoError(t, s.groups(func(group []mark) {
		groups++
		require.Greater(t, int(group[0].id), last)
		last = int(group[0].id)
		var at []place
		for _, m := range group {
			require.Equal(t, mark{group[0].id, m.at, recovered}, m)
			at = append(at, m.at)
		}
		require.Equal(t, want[group[0].id], at)
	}))
	assert.Equal(t, len(want), groups)
	s.close()
	files, err := filepath.Glob(filepath.Join(os.TempDir(), "mcp-pruner-trace-*"))
	require.NoError(t, err)
	assert.Empty(t, files, "temporary files are removed")
}

func TestDistinctNamesAreCounted(t *testing.T) {
	hash := func(s string) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(s))
		return h.Sum64()
	}
	for _, names := range []int{0, 3, recentNames - 1, recentNames + 10} {
		d := newDistinct(hash)
		for i := range names + names/2 {
			require.NoError(t, d.add(fmt.Sprint("ses_", i%names)))
		}
		n, err := d.count()
		require.NoError(t, err)
		assert.Equal(t, names, n)
	}
}
