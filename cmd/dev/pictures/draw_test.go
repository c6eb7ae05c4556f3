package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKeptLines(t *testing.T) {
	file := []string{"a", "", "b", "a", "c", "b"}
	assert.Equal(t, []bool{false, false, false, true, false, true}, keptLines(file, []string{`[pruned: 2 of 6 lines]`, "... 1-3", "a", "... 5", "b"}))
}

func TestDraw(t *testing.T) {
	picture := draw(strings.Split(strings.Repeat("x := y < z && 'a'\n", 300)+strings.Repeat("é", 200), "\n"), []string{"[1 of 301 lines]", "... 1-299", strings.Repeat("é", 200)})
	requireXML(t, picture)
	assert.True(t, strings.Contains(string(picture), "301 lines, "), "the size of the log")
	assert.Equal(t, "1,234,567", thousands(1234567))
}

// TestThePictureOfTheReadme proves that the picture in the repository is valid XML and has the style of this program.
func TestThePictureOfTheReadme(t *testing.T) {
	picture, err := os.ReadFile("../../../docs/pictures/before-after.svg")
	require.NoError(t, err)
	requireXML(t, picture)
	assert.True(t, strings.Contains(string(picture), style), "make pictures")
	assert.Contains(t, string(picture), "What the agent reads: 13 lines")
}

func requireXML(t *testing.T, picture []byte) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(picture)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else {
			require.NoError(t, err)
		}
	}
}
