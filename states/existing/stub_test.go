package existing

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheLongestBeginningThatFits checks that fit, which stops at the first beginning that is too long, finds the longest that is
// not: no longer one has fewer tokens.
func TestTheLongestBeginningThatFits(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pieces := strings.Split("a|b|q|xj|str|Aeio|THE|  | |...|.|/|é|\xff|12", "|")
	cut := 0
	for range 20_000 {
		var b strings.Builder
		for range random.IntN(40) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		text, tokens, end := b.String(), random.IntN(15), 0
		for i := range text {
			if atMost(text[:i]+shortened) <= tokens {
				end = i
			}
		}
		want := ""
		switch {
		case atMost(text) <= tokens:
			want = text
		case end >= fewestLetters:
			want = strings.TrimRight(text[:end], " ") + shortened
			cut++
		}
		require.Equal(t, want, fit(text, tokens, false), "%q in %d tokens", text, tokens)
	}
	require.Greater(t, cut, 1000)
	require.Equal(t, []int{2, 4, 3, 5}, []int{atMost("banana"), atMost("strngx"), atMost("str ng"), atMost("a/b...")})
}

// TestAStubNamesNoUselessBeginning checks that a subject of which too little fits is left out: "/hom..." names no file.
func TestAStubNamesNoUselessBeginning(t *testing.T) {
	const long = "/opt/bin/mcp-pruner recover prn_3ddf8b97"
	require.Equal(t, "[cleared Read: 7 lines; `"+long+"` prints them]", Stub("Read", "/home/me/src/app/internal/proxy/server.go", 7, long))
	require.Equal(t, "[cleared Bash: 7 lines; `"+long+"` prints them]", Stub("Bash", "cd /home/me/src/app && go test ./...", 7, long))
}
