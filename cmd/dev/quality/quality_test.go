package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
)

func TestMissingBenchmarkIsSaidClearly(t *testing.T) {
	t.Setenv("PRUNEBENCH", "")
	require.ErrorIs(t, run(nil, nil), errNoData)
	err := run([]string{"-data", t.TempDir()}, nil)
	require.ErrorContains(t, err, "no cases (*.jsonl, *.jsonl.gz) in ")
}

const twoCases = `{"id":"a","task":"code","source_type":"code","repo":"x/one","question":"where is the retry","text":"alpha\nretry()\nomega","gold":[2],"meta":{"lang":"go"}}
{"id":"b","task":"code","source_type":"code","repo":"x/two","question":"where is omega","text":"alpha\nretry()\nomega","gold":[3],"meta":{"lang":"py"}}
`

func TestReportCoversMethodsTasksAndLanguages(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.jsonl"), []byte(twoCases), 0o600))
	var page bytes.Buffer
	require.NoError(t, run([]string{"-data", dir}, &page))
	for _, want := range []string{"2 cases of 2 repositories", "### code (2 cases)", "| grep ±2 |", "| **ours** |", "| go | 1 |", "## Default gates", "## Another repository's question", "### The gate on confidence", "## The same questions in more words", "with a typing error", "## Two questions at once", "## Doubt under a budget", "## Structure around a reranker's lines", "## Cross-validation"} {
		require.Contains(t, page.String(), want)
	}
}

func TestScore(t *testing.T) {
	c := benchCase{Text: "a\nb\nc\nd", Gold: []int{2, 4}}
	c.measure()
	s := c.score([]int{2, 3})
	require.Equal(t, score{recall: 0.5, share: 0.5, paid: 0.5 + 2*float64(markerTokens)/8}, s)
	require.Equal(t, score{recall: 1, all: 1, share: 1, paid: 1, whole: 1}, c.score([]int{1, 2, 3, 4}))
}

func TestSlips(t *testing.T) {
	written := map[string]string{}
	for _, slip := range slips {
		q, ok := slipped("which rockets launch", slip.write)
		require.True(t, ok)
		written[slip.name] = q
	}
	require.Equal(t, map[string]string{
		"a letter missing": "which rocets launch", "a letter twice": "which rocckets launch", "another letter": "which roclets launch",
		"two letters swapped": "which rokcets launch", "plural or singular": "which rocket launch",
		"-ing": "which rockets launching", "-ed": "which rockets launched",
	}, written)
	q, ok := slipped("Where does the loadUserConfiguration retry?", pluralOrSingular)
	require.True(t, ok)
	require.Equal(t, "Where does the loadUserConfiguration retrys?", q, "names stay")
	_, ok = slipped("why?", pluralOrSingular)
	require.False(t, ok)
}

// TestJoints: two questions are paired if they have the same text and task and their answers share no line.
func TestJoints(t *testing.T) {
	cases := []benchCase{
		{Task: "t", Text: "x", Question: "Where is a?", Gold: []int{1}}, {Task: "t", Text: "x", Question: "How is b?", Gold: []int{2}},
		{Task: "t", Text: "x", Gold: []int{1, 2}}, {Task: "u", Text: "x", Gold: []int{3}}, {Task: "t", Text: "y", Gold: []int{3}},
		{Task: "t", Text: "z", SourceType: "logs", Gold: []int{1}}, {Task: "t", Text: "z", SourceType: "logs", Gold: []int{2}},
	}
	pairs := joints(cases)
	require.Len(t, pairs, 1)
	require.Equal(t, "Where is a? How is b?", pairs[0].question())
}

// TestRerankedText: the order alone keeps only the lines with the highest scores; with the pruner's additions the
// enclosing definition is kept, too.
func TestRerankedText(t *testing.T) {
	var code strings.Builder
	for i := range 30 {
		fmt.Fprintf(&code, "func f%d() {\n\tone()\n\ttwo()\n\tthree%d()\n}\n", i, i)
	}
	c := benchCase{Text: code.String(), Question: "three7", SourceType: lineprune.Code}
	c.measure()
	r := rerank(&c, 0.99)
	require.True(t, r.alone[7*5+3])
	require.Equal(t, []int{0, 7 * 5}, r.definitions(r.alone), "the second line kept is the first of all")
	require.False(t, r.alone[7*5])
	require.Equal(t, 1.0, shareKept(r.definitions(r.alone), r.with))
	require.Positive(t, r.added)
}

func TestStrangersAskAboutOtherRepositories(t *testing.T) {
	cases := []benchCase{
		{Task: "t", Repo: "a", Question: "qa"}, {Task: "t", Repo: "b", Question: "qb"}, {Task: "t", Repo: "a", Question: "qc"},
		{Task: "t", Repo: "a", Question: "why?"}, {Task: "t", Repo: "b", Question: "why?"},
	}
	asked := func(cases []benchCase, named bool) (out []string) {
		for _, c := range strangers(cases, named) {
			out = append(out, c.Repo+" "+c.Question)
		}
		return out
	}
	require.ElementsMatch(t, []string{"a qb", "b qa", "b qc", "a qb"}, asked(cases[:3], false))
	require.ElementsMatch(t, []string{"a qb", "b qa", "b qc", "a qb", "a qb", "b qa", "b qc"}, asked(cases, true), "what is asked of both is about neither")
}
