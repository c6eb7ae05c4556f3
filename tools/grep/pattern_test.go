package grep

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What grep -E reads as rg does is left to grep; for anything else there is Go's regexp.
func TestPatternsForGrep(t *testing.T) {
	for pattern, ere := range map[string]string{
		`func (\w+)\(`:     `func ([[:alnum:]_]+)\(`,
		`(?i)\bword\b`:     `\bword\b`,
		`(?:a|b){2,3}?`:    `(a|b){2,3}`,
		`(?P<n>a)*?`:       `(a)*`,
		`^\s*\d+\S$`:       `^[[:space:]]*[0-9]+[^[:space:]]$`,
		`[\w.-]+`:          `[[:alnum:]_.-]+`,
		`[^]a-z]`:          `[^]a-z]`,
		`\x41\.`:           `A\.`,
		`größe`:            `größe`,
		`[\]a]`:            "", // a backslash is itself in a POSIX class
		`[é-ü]`:            "", // no order beyond ASCII
		`[a-c-e]`:          "",
		`[[:alpha:]]`:      "", // ASCII in rg
		`[\s\S]`:           "",
		`\p{Lu}|\PL`:       "",
		`a(?i)b`:           "",
		`x[\w]*(?s:.)[\W]`: "",
	} {
		p, err := Search{Pattern: pattern}.parse()
		require.NoError(t, err, pattern)
		assert.Equal(t, ere, p.ere, pattern)
	}
	fixed, err := Search{Pattern: "a.b", Fixed: true}.parse()
	require.NoError(t, err)
	assert.Equal(t, "a.b", fixed.ere)
	assert.False(t, fixed.matches([]byte("axb")))
}
