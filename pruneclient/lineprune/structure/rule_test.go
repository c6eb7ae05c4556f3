package structure

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRules checks the tests of a line's bytes, which end at the first wrong one, against what they mean.
func TestRules(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	underlines, rules := 0, 0
	for range 100_000 {
		bytes := make([]byte, random.IntN(9))
		some := []string{"- ", "-=|+: \rx", "~~ \r", "|--", "=\r "}[random.IntN(5)]
		for i := range bytes {
			bytes[i] = some[random.IntN(len(some))]
		}
		line := string(bytes)
		text := strings.TrimRight(line, " \r")
		underline := len(text) >= 3 && strings.IndexByte("=-~^", text[0]) >= 0 && strings.Trim(text, text[:1]) == ""
		require.Equal(t, underline, Underline(line), "%q", line)
		columns := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("|+ ", r) })
		rule := strings.Contains(text, "--") && strings.Trim(text, "|-+: =") == "" && len(columns) > 1
		require.Equal(t, rule, isRule(line), "%q", line)
		if underline {
			underlines++
		}
		if rule {
			rules++
		}
	}
	require.Greater(t, min(underlines, rules), 1000)
}
