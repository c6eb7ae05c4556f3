package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A version near a measured one has its sizes, one between two measured ones the smaller size of what both have. Of others
// nothing is known.
func TestDefined(t *testing.T) {
	for version, want := range map[string]map[string]int{
		"2.1.49":       claudeDefinitions[0].Tokens,
		"2.1.38":       claudeDefinitions[0].Tokens,
		"2.1.69":       claudeDefinitions[0].Tokens,
		"2.1.69-beta1": claudeDefinitions[0].Tokens,
		"2.1.70":       {"Bash": 990},
		"2.1.308":      {"Bash": 990},
		"2.1.309":      claudeDefinitions[1].Tokens,
		"2.1.28":       {},
		"2.2.0":        {},
		"1.0.49":       {},
		"":             nil,
		"2.1":          nil,
		"two":          nil,
	} {
		assert.Equal(t, want, Claude.Defined(version), version)
	}
	assert.Empty(t, Cursor.Defined("1.0.0"))
	for _, c := range Clients {
		for _, d := range c.Definitions {
			_, ok := versionNumbers(d.Version)
			assert.True(t, ok, "%s %s", c.Name, d.Version)
		}
	}
}
