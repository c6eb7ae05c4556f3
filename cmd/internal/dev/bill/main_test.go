package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The parts of the page that are written by hand are changed in their sources and in the page alike.
func TestPageHasTheTextsOfItsSources(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/BILL.md")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(page), head), "head.md")
	require.True(t, strings.HasSuffix(string(page), goals), "goals.md")
	require.Contains(t, string(page), askingHead)
}
