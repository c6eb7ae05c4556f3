package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
)

// planted returns a sample of n lines with the features x, y and noise, each from 0 to 99. A line is gold if x > 30 and
// y > 70.
func planted(n int) *sample {
	random := rand.New(rand.NewSource(3))
	s := &sample{width: 3}
	for range n {
		x, y, noise := random.Int31n(100), random.Int31n(100), random.Int31n(100)
		s.rows = append(s.rows, x, y, noise)
		s.gold, s.weight = append(s.gold, x > 30 && y > 70), append(s.weight, 1)
	}
	return s
}

var small = boosting{trees: 30, rate: 0.3, bins: 32, minChild: 5, ridge: 1, rowShare: 0.7, colShare: 0.8}

func TestForestFindsWhatWasPlanted(t *testing.T) {
	f := grow(planted(3000), small)
	for _, c := range []struct {
		row  []int32
		gold bool
	}{{[]int32{60, 90, 0}, true}, {[]int32{10, 90, 50}, false}, {[]int32{60, 50, 99}, false}, {[]int32{35, 75, 7}, true}} {
		require.Equal(t, c.gold, f.Score(c.row) > 0, "%v: %d", c.row, f.Score(c.row))
	}
}

func TestSameSampleSameForest(t *testing.T) {
	require.Equal(t, grow(planted(500), small), grow(planted(500), small))
}

func TestSmallLeavesAreAvoided(t *testing.T) {
	s := planted(200)
	f := grow(s, boosting{trees: 1, rate: 1, bins: 32, minChild: 150, ridge: 1, rowShare: 1, colShare: 1})
	for _, n := range f.Trees[0].Nodes {
		require.EqualValues(t, learned.Never, n.Threshold, "no two parts of 200 lines have 150 each")
	}
}

func TestEdges(t *testing.T) {
	require.Equal(t, []int32{1, 2}, edgesOf([]int32{3, 1, 2, 1, 1}, 16), "the last value needs no edge")
	require.Empty(t, edgesOf([]int32{5, 5, 5}, 16))
	var many []int32
	for i := range int32(1000) {
		many = append(many, i)
	}
	require.Len(t, edgesOf(many, 16), 15)
}

func TestJudgeCountsAsTheBenchmarkDoes(t *testing.T) {
	e := &example{gold: []int{2, 4}}
	lines := []string{"a", "b c", "d", "e", "f"} // 2 + 3 + 2 + 2 + 2 tokens, newlines included
	o := judge(e, lines, []bool{false, true, false, false, false})
	require.InDelta(t, 0.5, o.recall, 1e-9)
	require.InDelta(t, 3.0/11, o.tokens, 1e-9)
	require.InDelta(t, (3.0+2*marker)/11, o.paid, 1e-9)
	require.False(t, o.whole)
	require.True(t, judge(e, lines, []bool{true, true, true, true, true}).whole)
}

func TestMeansOfGroups(t *testing.T) {
	m := meanOf([]outcome{{group: "a", recall: 1}, {group: "a", recall: 1}, {group: "b", recall: 0}}, recallOf)
	require.InDelta(t, 66.7, m.value, 0.1)
	require.InDelta(t, 0, m.low, 0.1)
	require.InDelta(t, 100, m.high, 0.1)
}

func TestBaselines(t *testing.T) {
	e := &example{question: "where are retries counted", text: "x", gold: []int{3, 1}}
	lines := []string{"one", "func countRetries() {", "two two two"}
	require.Equal(t, 1, bm25Order(e, lines)[0])
	require.Equal(t, []int{0, 2}, goldOrder(e, lines), "the shorter first")
	require.ElementsMatch(t, []int{0, 1, 2}, randomOrder(e, lines))
	require.Equal(t, []bool{true, false, false}, inOrder(lines, []int{2, 0, 1}, 0.2), "what does not fit is left out")
}

// world writes cases of both benchmarks, and sessions in each of which a file is read and changed. It returns their
// folder.
func world(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var cases []any
	for i := range 6 {
		cases = append(cases, map[string]any{
			"question": fmt.Sprintf("fix how widget %d spins", i), "text": program(i), "task": "read", "tool": "Read",
			"args": map[string]any{"file_path": fmt.Sprintf("w%d.go", i)}, "gold": []int{12, 13},
			"source": "vorflux", "repo": "a/b", "session": sessionName(i), "step": 3,
		})
	}
	writeLines(t, filepath.Join(dir, "sessionbench", "dev", "cases.jsonl.gz"), cases)
	writeLines(t, filepath.Join(dir, "prunebench", "dev", "ask.jsonl.gz"), []any{
		map[string]any{"question": "what spins?", "text": program(7), "task": "ask", "repo": "c/d", "gold": []int{12}, "meta": map[string]any{"path": "x.go"}},
		map[string]any{"question": "nothing", "text": program(8), "task": "ask", "repo": "c/d", "gold": []int{}},
	})
	var sessions []any
	for i := range 6 {
		args := map[string]any{"file_path": fmt.Sprintf("w%d.go", i)}
		old := fmt.Sprintf("\treturn widget%d.spin(12)", i)
		sessions = append(sessions, map[string]any{"id": sessionName(i), "src": "s", "steps": []any{
			map[string]any{"k": "call"},
			map[string]any{"k": "say", "text": fmt.Sprintf("I will look at how widget %d spins", i)},
			map[string]any{"k": "use", "id": "1", "tool": "Read", "args": args},
			map[string]any{"k": "result", "id": "1", "tool": "Read", "args": args, "out": program(i)},
			map[string]any{"k": "call"},
			map[string]any{"k": "use", "id": "2", "tool": "Edit", "args": map[string]any{"file_path": args["file_path"], "old_string": old, "new_string": "\treturn 0"}},
			map[string]any{"k": "result", "id": "2", "tool": "Edit", "out": "done"},
		}})
	}
	writeLines(t, filepath.Join(dir, "sessions", "swe-bench.jsonl.gz"), sessions)
	return dir
}

// sessionName returns the id of session i. Sessions 4 and 5 are of another repository than sessions 0 to 3.
func sessionName(i int) string {
	if i > 3 {
		return fmt.Sprintf("django__django-%d", i)
	}
	return fmt.Sprintf("a__b-%d", i)
}

// program returns a text of 80 lines of code.
func program(i int) string {
	var out strings.Builder
	for n := 1; n <= 80; n++ {
		fmt.Fprintf(&out, "\treturn widget%d.spin(%d)\n", i, n)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func writeLines(t *testing.T, name string, lines []any) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	f, err := os.Create(name)
	require.NoError(t, err)
	defer f.Close()
	z := gzip.NewWriter(f)
	enc := json.NewEncoder(z)
	for _, line := range lines {
		require.NoError(t, enc.Encode(line))
	}
	require.NoError(t, z.Close())
}

func TestTrainingFromFilesToWeightsAndReport(t *testing.T) {
	o := options{data: world(t), weights: t.TempDir(), report: filepath.Join(t.TempDir(), "LEARNED.md"), date: "2000-01-02", boosting: small}
	o.trees, o.minChild = 3, 0.5
	require.NoError(t, run(t.Context(), o))
	for _, name := range []string{learned.CallFile, learned.SessionFile} {
		text, err := os.ReadFile(filepath.Join(o.weights, name))
		require.NoError(t, err)
		require.Contains(t, string(text), "make train on 2000-01-02")
		require.Contains(t, string(text), "6 cases of sessionbench, 1 of prunebench and 6 results")
		f, err := learned.ParseForest(string(text), learned.Names())
		require.NoError(t, err)
		require.Len(t, f.Trees, 3)
	}
	report, err := os.ReadFile(o.report)
	require.NoError(t, err)
	require.Contains(t, string(report), "by `make train` on 2000-01-02")
	require.Contains(t, string(report), "6 cases; of 6 the session is at hand.")
	for _, method := range []string{byRandom, byBM25, byRules, byCall, bySession, byOracle} {
		require.Contains(t, string(report), "| "+method)
	}
}

func TestFoldsKeepSessionsAndRepositoriesTogether(t *testing.T) {
	a := &example{group: "a__b-1", repo: "a/b"}
	same := &example{group: "a__b-1", repo: "a/b", question: "another"}
	sibling := &example{group: "a__b-2", repo: "a/b"}
	require.Equal(t, foldsOf["session"](a), foldsOf["session"](same))
	require.Equal(t, foldsOf["repository"](a), foldsOf["repository"](sibling))
}
