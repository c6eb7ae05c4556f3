package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
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
	for _, want := range []string{"2 cases of 2 repositories", "### code (2 cases)", "| grep ±2 |", "| **ours** |", "| go | 1 |", "## Default gates", "## Another repository's question", "### The gate on confidence", "## The same questions in more words", "## Cross-validation"} {
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
