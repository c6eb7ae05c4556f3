package lineprune

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Matches in tests and documentation rank behind source code, but stay where they alone answer.
func TestTestsAndPagesStayWhereTheyAloneAnswer(t *testing.T) {
	var source strings.Builder
	for i := range 80 {
		fmt.Fprintf(&source, "store/shard%d.go:%d:\tshard.lock(ctx, %d)\n", i/8, 10+i%8*3, i)
	}
	for _, answer := range []string{
		"docs/locking.md:41:A shard whose lock expires is handed to its replica.\n",
		"CHANGELOG.md:7:- A shard whose lock expires is handed to its replica.\n",
		"store/shard_test.go:90:\trequire.True(t, replica.owns(expiredLock(shard)), \"lock expires: replica takes over\")\n",
	} {
		res := prune(t, source.String()+answer, "what happens to the replica when a lock expires", Grep, Options{})
		require.False(t, res.Whole(), res.Note)
		require.Contains(t, res.Kept, 81, answer)
		require.Less(t, len(res.Kept), 41)

		withSource := answer + source.String() + "store/lease.go:7:\tif lock.expires(now) { replica.take(shard) }\n"
		res = prune(t, withSource, "what happens to the replica when a lock expires", Grep, Options{Budget: 0.02})
		require.Equal(t, []int{82}, res.Kept, "source code comes first")
	}
}

// A match gets less from a hit that 100 lines of the file lie away from it than from one on the line above,
// but at least nine tenths, most of which comes from their file.
func TestDistantMatchesShareLess(t *testing.T) {
	shared := func(line int) float64 {
		text := strings.Repeat("store/other.go:5:\tkeep(going)\n", 5) + fmt.Sprintf("store/shard.go:1:\tlease.expire(now)\nstore/shard.go:%d:\tkeep(going)\n", line)
		s, err := Look(t.Context(), text, "where does the lease expire", Grep, Options{})
		require.NoError(t, err)
		return (s.Score[6] - s.Score[0]) / (s.Score[5] - s.Score[0])
	}
	near, far := shared(2), shared(101)
	require.Greater(t, near, far)
	require.Greater(t, far, 0.9*near)
}

// What a reranker chooses comes with an outline of at most 3 % of the tokens.
func TestOutlineAroundARerankersLines(t *testing.T) {
	var code strings.Builder
	for i := range 100 {
		fmt.Fprintf(&code, "func handler%d(parcel Parcel) {\n%s}\n", i, strings.Repeat("\tparcel.move(on, and, on, and, on)\n", 8))
	}
	opts := Options{MaxPruneRatio: 0.99, LimitRatio: true}
	s, err := Look(t.Context(), code.String(), "parcels", Code, opts)
	require.NoError(t, err)
	var order []int
	for i := range 900 {
		order = append(order, (i+3)%900)
	}
	outline, all := 0, 0
	lines := doc.Lines(code.String())
	for _, line := range lines {
		all += tokens.Line(line)
	}
	for _, n := range s.Keep(order).Kept {
		if n > 18 { // the order keeps nine lines, of the first two functions
			outline += tokens.Line(lines[n-1])
		}
	}
	require.Positive(t, outline)
	require.LessOrEqual(t, outline*100, all*3)
}

// Definitions around a reranker's lines are kept beyond the share of the outline; others then are not.
func TestDefinitionsOfARerankersLinesComeFirst(t *testing.T) {
	const functions, chosen, lines = 100, 60, 10
	code := "import parcels\n"
	var order []int
	for i := range functions {
		code += fmt.Sprintf("func handler%d(parcel Parcel) {\n%s}\n", i, strings.Repeat("\tparcel.move(on, and, on, and, on)\n", lines-2))
		if i < chosen {
			order = append(order, i*lines+4)
		}
	}
	s, err := Look(t.Context(), code, "parcels", Code, Options{MaxPruneRatio: 0.94, LimitRatio: true})
	require.NoError(t, err)
	var want []int
	for _, i := range order {
		want = append(want, i-2, i+1) // the definition is three lines above, and lines count from 1
	}
	require.Equal(t, want, s.Keep(order).Kept)
}
