//go:build unix

package results

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/exact"
)

const page = "../../../docs/evidence/RESULTS.md"

// least is the smallest number of results that the page may have.
const least = 60

const pageHead = `# What is left of real results

Written by ` + "`go -C cmd/dev test ./results -run TestResults -update`" + `; not to be edited.

The folder [testdata/results](../../testdata/results) holds %d results of clients' tools, as the clients hand them over: files, searches, commands,
listings, tables, logs, JSON, YAML and the records of other servers. Each file says what was asked for and shows what each door leaves of the result:
the *hook*, this program's *server* (or the gateway, for a tool of another server), the *proxy* with ` + "`--policy prune`" + `, and the verb *prune*. Most
results are outputs of real programs; those of other servers are written in these servers' form with invented values. Hook and proxy ran with
` + "`MCP_PRUNER_OTHER_TOOLS=all`" + `; without it they leave the results of other servers whole.

The test of ` + "`cmd/dev/results`" + ` passes every result through every door, and fails for any of them where

- a line that was asked for is missing, or the output is empty,
- a line is not a line of the result, or does not stand in its place with its true number,
- a gap is not counted,
- a row stands without its heading: a match without its file, a value without its record's id, a cell without the table's head.

The same holds for texts made at random from these (` + "`TestAnyResult`" + `). The same command writes the files; read the
difference as a model would. Tokens are o200k, headers and markers included.

| result | client | tool | tokens | hook | server | proxy | prune |
|---|---|---|---|---|---|---|---|
`

// table is what the page shows: for each result, the tokens that each door leaves.
func table(all []*Sample) string {
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, len(all))
	for _, s := range all {
		fmt.Fprintf(&b, "| %s | %s | `%s` | %d |", s.name, s.client, s.tool, exact.Count(s.text))
		for _, door := range doors {
			fmt.Fprintf(&b, " %s |", s.size(door))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// size returns the tokens of a door's output, or that it is the whole result.
func (s *Sample) size(door string) string {
	text := s.golden(door)
	if same, ok := strings.CutPrefix(text, "(as "); ok {
		text = s.golden(strings.TrimSuffix(same, ")\n"))
	}
	if strings.HasPrefix(text, whole) {
		return "whole"
	}
	return fmt.Sprint(exact.Count(text))
}

// comparePage compares the page with the files.
func comparePage(t *testing.T) {
	t.Helper()
	all := samples(t)
	assert.GreaterOrEqual(t, len(all), least)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(table(all)), 0o644))
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, table(all), string(text), "go -C cmd/dev test ./results -update")
}
