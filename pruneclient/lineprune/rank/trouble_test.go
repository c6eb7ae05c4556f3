package rank

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The beginning of a test is found whether its verdict follows it or not, and of two tests of one name it is the later one's.
func TestWhereATestBegan(t *testing.T) {
	const tests = 50
	for _, order := range []struct {
		name string
		of   func(i int) int // the test on which verdict i is
	}{
		{"as they began", func(i int) int { return i }},
		{"the last first", func(i int) int { return tests - 1 - i }},
		{"each after its subtests", func(i int) int { return i ^ 3 }},
	} {
		r := testRuns{}
		for round := range 3 {
			for i := range tests {
				r.lines = append(r.lines, fmt.Sprintf("%sTest%d ", testBegins, i))
				r.began = append(r.began, int32(len(r.lines)-1))
				line, known := r.of(fmt.Sprintf("Test%d", i))
				require.True(t, known)
				require.Equal(t, int32(len(r.lines)-1), line)
			}
			for i := range tests {
				n := min(order.of(i), tests-1)
				line, known := r.of(fmt.Sprintf("Test%d", n))
				require.True(t, known, order.name)
				require.Equal(t, int32(round*tests+n), line, order.name)
				_, known = r.of("TestOther")
				require.False(t, known)
			}
		}
	}
}
