package replay

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScansEqualExpressions checks the functions that look for names against the expressions that define what they find.
func TestScansEqualExpressions(t *testing.T) {
	word := regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]{9,79}`)
	number := regexp.MustCompile(`[A-Za-z_]*\d[\w.-]*`)
	random := rand.New(rand.NewPCG(1, 2))
	pieces := strings.Split("a|_|A|bcdefgh|Zed|12|3|.|-|/|=|:| |\t|\n|\v|\"|@|#|é|"+strings.Repeat("xY1", 30), "|")
	matched := 0
	for range 200_000 {
		var b strings.Builder
		for range random.IntN(9) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		s := b.String()
		var names []string
		for _, name := range word.FindAllString(s, -1) {
			inner := strings.Trim(name, "_")
			if strings.Contains(inner, "_") || strings.ContainsAny(inner[min(1, len(inner)):], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && inner != strings.ToUpper(inner) {
				names = append(names, name)
			}
		}
		require.Equal(t, names, identifiers(s), "%q", s)
		require.Equal(t, number.FindAllString(s, -1), numbers(s), "%q", s)
		if keyed().MatchString(s) {
			matched++
			require.True(t, mayBeKeyed(s), "%q", s)
		}
	}
	require.Greater(t, matched, 1000)
	require.False(t, mayBeKeyed(`if a == nil { return fmt.Errorf("%w: %d", err, n) } // see 12`), "most lines are told without the expression")
}
