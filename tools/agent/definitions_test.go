package agent

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A version near a measured one has its sizes, one between two measured ones the smaller size of what both have. Of others
// nothing is known.
func TestDefined(t *testing.T) {
	at := func(version string) map[string]int {
		i := slices.IndexFunc(claudeDefinitions, func(d Definitions) bool { return d.Version == version })
		return claudeDefinitions[i].tokens()
	}
	for version, want := range map[string]map[string]int{
		"2.1.18":       at("2.1.38"),
		"2.1.49":       at("2.1.49"),
		"2.1.69":       at("2.1.49"),
		"2.1.69-beta1": at("2.1.49"),
		"2.1.349":      at("2.1.329"),
		"2.1.17":       {},
		"2.2.0":        {},
		"1.0.49":       {},
		"":             nil,
		"2.1":          nil,
		"two":          nil,
	} {
		assert.Equal(t, want, Claude.Defined(version), version)
	}
	between := Claude.Defined("2.1.300")
	assert.Equal(t, 749, between["Bash"], "the smaller of 749 and 1010")
	assert.NotContains(t, between, "CronCreate", "2.1.329 does not define it")
	assert.Empty(t, Cursor.Defined("1.0.0"))
	for _, c := range Clients {
		for _, d := range c.Definitions {
			_, ok := versionNumbers(d.Version)
			assert.True(t, ok, "%s %s", c.Name, d.Version)
			for name, size := range d.tokens() {
				assert.Positive(t, size, "%s %s", d.Version, name)
			}
		}
	}
}
