package lineprune

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/prune/kept.txt")

// The golden file lists the lines kept of every text in testdata/prune, so that a person who changes a
// constant or a word list sees the effect in the diff.
func TestKeptLinesAreAsWritten(t *testing.T) {
	const file = "../../testdata/prune/kept.txt"
	var b strings.Builder
	for _, f := range loadCases(t) {
		for _, opts := range []Options{f.opts, {File: f.opts.File, Command: f.opts.Command}} {
			for _, q := range f.questions {
				res := prune(t, f.text, q.question, Auto, opts)
				fmt.Fprintf(&b, "%s, %s: %s\n\t%s\n", f.name, budgetName(opts.Budget), q.question, keptRanges(res))
			}
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "where the pruner was meant to change: go test ./pruneclient/lineprune -run KeptLines -update, and read the difference")
}

func budgetName(budget float64) string {
	if budget == 0 {
		return "no budget"
	}
	return fmt.Sprintf("budget %v", budget)
}

// keptRanges renders the kept lines of a result: "logs, 7 of 120 lines, confidence 0.82: 3-7 12".
func keptRanges(res Result) string {
	if res.Whole() {
		return fmt.Sprintf("%s, all %d lines, confidence %.2f: %s", res.Kind, res.Total, res.Confidence, res.Note)
	}
	var ranges []string
	for i := 0; i < len(res.Kept); {
		from := i
		for i++; i < len(res.Kept) && res.Kept[i] == res.Kept[i-1]+1; i++ {
		}
		if i == from+1 {
			ranges = append(ranges, fmt.Sprint(res.Kept[from]))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d-%d", res.Kept[from], res.Kept[i-1]))
		}
	}
	note := ""
	if res.Note != "" {
		note = "; " + res.Note
	}
	return fmt.Sprintf("%s, %d of %d lines, confidence %.2f: %s%s", res.Kind, len(res.Kept), res.Total, res.Confidence, strings.Join(ranges, " "), note)
}

var fused = regexp.MustCompile(`\S+\.go:\d+\)\s+FN?M(ADD|SUB)[SD]`)

// On some processors the compiler fuses a multiplication and an addition into one instruction, which rounds
// once instead of twice. Scores would then differ between machines.
func TestNoSumIsFused(t *testing.T) {
	if testing.Short() {
		t.Skip("the packages are compiled for another processor")
	}
	cmd := exec.Command("go", "build", "-gcflags=./...=-S",
		"./doc", "./structure", "./rank", ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	listing, err := cmd.CombinedOutput()
	require.NoError(t, err)
	require.True(t, strings.Contains(string(listing), "FMULD"), "the listing of the packages for arm64")
	require.Empty(t, fused.FindAllString(string(listing), -1))
}
