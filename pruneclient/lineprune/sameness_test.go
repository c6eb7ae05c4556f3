package lineprune

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/prune/digests.txt")

// Same input, same bytes, in every process and on every machine: the digests stand
// in a file, and cover every bit of every score.
func TestResultsAreTheSameEverywhere(t *testing.T) {
	const file = "../../testdata/prune/digests.txt"
	var b strings.Builder
	for _, f := range loadCases(t) {
		for _, opts := range []Options{f.opts, {File: f.opts.File, Command: f.opts.Command}} {
			for _, q := range f.questions {
				fmt.Fprintf(&b, "%x %s budget %v: %s\n", digest(t, f.text, q.question, opts), f.name, opts.Budget, q.question)
			}
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "where the pruner was meant to change: go test ./pruneclient/lineprune -run SameEverywhere -update")
}

func digest(t *testing.T, text, question string, opts Options) []byte {
	t.Helper()
	opts.Explain = true
	res, err := Prune(context.Background(), text, question, Auto, opts)
	require.NoError(t, err)
	h := sha256.New()
	fmt.Fprintln(h, res.Kind, res.Total, res.Kept, res.Blocks, res.Warnings)
	put := func(x float64) { _ = binary.Write(h, binary.LittleEndian, math.Float64bits(x)) } // a hash takes everything
	put(res.Confidence)
	for _, line := range res.Lines {
		put(line.Score)
		fmt.Fprintln(h, line.Kept, line.Why)
	}
	return h.Sum(nil)[:8]
}

var fused = regexp.MustCompile(`\S+\.go:\d+\)\s+FN?M(ADD|SUB)[SD]`)

// Where the compiler may, it multiplies and adds in one step, which rounds once
// instead of twice: the reason why a score could differ between machines.
func TestNoSumIsFused(t *testing.T) {
	cmd := exec.Command("go", "build", "-gcflags=mcp-pruner/pruneclient/lineprune/...=-S",
		"./words", "./doc", "./structure", "./logs", "./detect", "./query", "./rank", "./choose", "./render")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	listing, err := cmd.CombinedOutput()
	require.NoError(t, err)
	require.True(t, strings.Contains(string(listing), "FMULD"), "the listing of the packages for arm64")
	require.Empty(t, fused.FindAllString(string(listing), -1))
}
