package lineprune

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
