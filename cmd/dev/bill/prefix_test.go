package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// Three sessions are judged: two save 10 and 20 of bills of 100, the third loses 6. The first has too few before it, and of the last
// nothing is known.
func TestPrefixRow(t *testing.T) {
	all := []replay.PrefixSaving{
		{Earlier: 9, Off: 9, Net: 99, Bill: 100, Known: 10, Prefix: 50},
		{Earlier: 10, Off: 500, Net: 10, Bill: 100, Known: 30, Prefix: 50},
		{Earlier: 11, Off: 900, Net: 20, Bill: 100, Known: 30, Prefix: 50},
		{Earlier: 12, Net: -6, Bill: 100, Known: 30, Prefix: 50, Hurt: true},
		{Earlier: 13, Bill: 900, Prefix: 100},
	}
	require.Equal(t, "| s | a/b | 5 | 3 | 500 | 8.0 % | 26.7 % | 33.3 % | 66.7 % |\n", prefixRow("s", "a/b", all))
	require.Equal(t, "| s | a/b | 1 | 0 | - | - | - | - | 80.0 % |\n", prefixRow("s", "a/b", all[:1]))
	require.Equal(t, "-", share(1, 0))
}

func TestOnlyTheBlockIsReplaced(t *testing.T) {
	page := "a\n" + prefixBegin + "old\n" + prefixEnd + "\nb\n"
	got, err := inContext(page, "new\n")
	require.NoError(t, err)
	require.Equal(t, "a\n"+prefixBegin+"new\n\n"+prefixEnd+"\nb\n", got)
	again, err := inContext(got, "new\n")
	require.NoError(t, err)
	require.Equal(t, got, again)
	for _, broken := range []string{"", prefixBegin, prefixEnd + prefixBegin} {
		_, err = inContext(broken, "new\n")
		require.Error(t, err)
	}
}

func TestPrefixPageHasTheTextOfItsSource(t *testing.T) {
	page, err := os.ReadFile("../../../docs/evidence/PREFIX.md")
	require.NoError(t, err)
	require.Contains(t, string(page), prefixBegin+prefixHead)
}
