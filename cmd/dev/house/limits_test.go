package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "lower the limits in limits.txt to the sizes of today")

// slack is the number of per cent by which a size may be below its limit before the limit has to follow it.
const slack = 1

// TestTheHouseOnlyShrinks compares each size of the product with its limit. -update lowers limits and never raises one: who needs
// more writes the number by hand, with the decision that says what a user gets for it.
func TestTheHouseOnlyShrinks(t *testing.T) {
	all, err := sizes(top)
	require.NoError(t, err)
	text, err := os.ReadFile(limitsFile)
	require.NoError(t, err)
	limits, err := readLimits(string(text))
	require.NoError(t, err)
	require.Len(t, limits, len(all))
	for i, m := range all {
		l := limits[i]
		require.Equal(t, m.name, l.name)
		switch {
		case m.value > l.size:
			assert.Fail(t, "the house grew", "%s: %d, at most %d. Take something away; or raise the limit in cmd/dev/house/%s, with a decision that says what a user gets.",
				m.name, m.value, l.size, limitsFile)
		case *update:
			l.size = m.value
		default:
			assert.LessOrEqual(t, l.size-m.value, slack*l.size/100, "%s: %d is far below its limit of %d: go -C cmd/dev test ./house -update lowers it", m.name, m.value, l.size)
		}
		if l.reason != "" {
			found, err := filepath.Glob(filepath.Join(top, "docs/decisions", l.reason+"-*.md"))
			require.NoError(t, err)
			assert.Len(t, found, 1, "%s: no decision %s", l.name, l.reason)
		}
		limits[i] = l
	}
	if *update && !t.Failed() {
		require.NoError(t, os.WriteFile(limitsFile, []byte(headOf(string(text))+written(limits)), 0o644))
	}
}

const top = "../../.."

// headOf returns the comment at the top of the file of limits.
func headOf(text string) string {
	return regexp.MustCompile(`\A(?:#[^\n]*\n)*`).FindString(text)
}

func written(limits []limit) string {
	var b strings.Builder
	for _, l := range limits {
		fmt.Fprintf(&b, "%-45s| %6d | %s\n", l.name, l.size, l.reason)
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

func TestLimits(t *testing.T) {
	limits, err := readLimits("# a comment\nverbs | 42 | 164\nflags | 9 |\n")
	require.NoError(t, err)
	assert.Equal(t, []limit{{"verbs", 42, "164"}, {"flags", 9, ""}}, limits)
	for _, wrong := range []string{"verbs 42", "verbs | many |", "verbs | 42"} {
		_, err := readLimits(wrong)
		assert.ErrorContains(t, err, "line 1")
	}
	assert.True(t, generated([]byte("# The bill\n\nText.\nWritten by `make bill`; do not edit.\n")))
	assert.False(t, generated([]byte("# A page\n\nThe table is\n\n\n\n\n\n\nwritten by `make x`.\n")))
}
