package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Some parts of the page are written by hand. A change of their sources must also be made in the page.
func TestPageHasTheTextsOfItsSources(t *testing.T) {
	page, err := os.ReadFile("../../../docs/BILL.md")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(page), head), "head.md")
	require.True(t, strings.HasSuffix(string(page), goals), "goals.md")
	require.Contains(t, string(page), askingHead)
}
