//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	numbered  = regexp.MustCompile(`(?m)^(?:long\.txt:\d+:1:)?line (\d{6})$`)
	leftOut   = regexp.MustCompile(`(?m)^\.\.\. ?(\d+)-(\d+)$`)
	nextStart = regexp.MustCompile(`next_start_line=(\d+)`)
	ofMatches = regexp.MustCompile(`(\d+) of 60000 matches shown`)
)

// TestLongResultsArriveAsSent proves that no client shortens a long result of ours, because our results stay below the
// client's limit. The model gets every line, except those that the notice or the gap mark of a cut result names.
func TestLongResultsArriveAsSent(t *testing.T) {
	every(t, func(t *testing.T, c client) {
		w := newWorld(t, c,
			call("read", map[string]any{"file_path": "long.txt"}),
			call("read", map[string]any{"file_path": "shorter.txt"}), // within the limits of some clients
			call("bash", map[string]any{"command": "cat long.txt"}),
			call("grep", map[string]any{"pattern": "line", "path": "long.txt"}), done)
		var text strings.Builder
		for i := range 60_000 {
			fmt.Fprintf(&text, "line %06d\n", i+1)
		}
		w.write(filepath.Join(w.dir, "long.txt"), text.String(), 0o644)
		w.write(filepath.Join(w.dir, "shorter.txt"), text.String()[:4000*len("line 000001\n")], 0o644)
		w.withServer()
		results := w.fresh()
		require.Len(t, results, 4)

		for _, read := range results[:2] {
			next := found(t, nextStart, read.text)[0]
			assert.Equal(t, span(1, next-1), lines(t, read.text), "read")
		}

		bash := results[2].text
		gap := found(t, leftOut, bash)
		assert.Equal(t, append(span(1, gap[0]-1), span(gap[1]+1, 60_000)...), lines(t, bash), "bash")

		grep := results[3].text
		assert.Equal(t, span(1, found(t, ofMatches, grep)[0]), lines(t, grep), "grep")
	})
}

// found returns the numbers in the first match of an expression.
func found(t *testing.T, expr *regexp.Regexp, text string) (numbers []int) {
	t.Helper()
	match := expr.FindStringSubmatch(text)
	require.NotNil(t, match, "%s in a text that ends with %s", expr, text[max(0, len(text)-500):])
	for _, digits := range match[1:] {
		n, err := strconv.Atoi(digits)
		require.NoError(t, err)
		numbers = append(numbers, n)
	}
	return numbers
}

// lines returns the numbers of the lines in a text.
func lines(t *testing.T, text string) (numbers []int) {
	for _, match := range numbered.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(match[1])
		require.NoError(t, err)
		numbers = append(numbers, n)
	}
	return numbers
}

func span(first, last int) (numbers []int) {
	for n := first; n <= last; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}
