package learned

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func termsOf(s string) map[term]bool {
	set := map[term]bool{}
	eachTerm(s, func(t term, _ bool) { set[t] = true })
	return set
}

func TestTermsOfIdentifiers(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"parseHTTPBody", "parse_http_body"}, // the same name in two styles
		{"Tokens", "token"},
		{"retry-after", "after retry"},
	} {
		require.Equal(t, termsOf(c.a), termsOf(c.b), "%s and %s", c.a, c.b)
	}
	require.Contains(t, termsOf("HTTPServer"), hashOf("server"))
	require.Empty(t, termsOf("a = 12 + 0x1f"), "short words and numbers say nothing")
	require.NotEqual(t, termsOf("utf8Reader"), termsOf("reader"), "a compound is a term of its own")
}

func TestLogarithm(t *testing.T) {
	for n, want := range map[int]int32{0: 0, 1: 0, 2: 16, 3: 24, 4: 32, 6: 40, 1024: 160} {
		require.Equal(t, want, log16(n), "of %d", n)
	}
}
