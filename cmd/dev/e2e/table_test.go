package e2e

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheTablesPage: the page of clients is written by a run of them. Its own words are changed in testdata/defaults/table.md, too.
func TestTheTablesPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/clients/table.md")
	require.NoError(t, err)
	around, err := os.ReadFile("testdata/defaults/table.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`\| client \| version \| its default model .*\n\|---.*\n(?:\| \[.* \d{4}-\d\d-\d\d \|\n)+`)
	require.Equal(t, string(around), rows.ReplaceAllString(string(page), "TABLE\n"))
}
