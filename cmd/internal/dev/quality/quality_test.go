package main

import (
	"bytes"
	"os"
	"os/exec"
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

// TestShown: lines that read the same are told apart by the marks between them, old
// marks and new ones; the header and notes are no lines of the text.
func TestShown(t *testing.T) {
	c := benchCase{Text: "a\n}\nb\n}\nc\n}"}
	c.measure()
	require.Equal(t, []int{3, 4, 6}, c.shown("[pruned: 3 of 6 lines]\n... 1-2\nb\n}\n... 5\n}"))
	require.Equal(t, []int{3, 4}, c.shown("⟦PRUNÉ: prune_id=prn_1 lignes 1-2 (2) raison=hors focus⟧\nb\n}\n⟦PRUNÉ: prune_id=prn_1 lignes 5-6 (2) raison=hors focus⟧"))
	require.Equal(t, []int{1, 2, 3, 4, 5, 6}, c.shown(c.Text+"\n[not pruned: short]"))
}

// TestComparePrograms asks the same build twice.
func TestComparePrograms(t *testing.T) {
	build := filepath.Join(t.TempDir(), "mcp-pruner")
	out, err := exec.Command("go", "build", "-o", build, "mcp-pruner/cmd/mcp-pruner").CombinedOutput()
	require.NoError(t, err, string(out))
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.jsonl"), []byte(twoCases), 0o600))
	var page bytes.Buffer
	require.NoError(t, run([]string{"-data", dir, "-older", build, "-newer", build}, &page))
	require.Regexp(t, `(?m)^\| all \|( [\d.]+ → [\d.]+ \(\+0\.0\) \|){4} 100\.0 → 100\.0 \(\+0\.0\) \| [\d.]+ → [\d.]+ \(\+0\.0\) \|$`, page.String())
	require.ErrorContains(t, run([]string{"-data", dir, "-older", "/no/such/program"}, nil), "/no/such/program")
}
