package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxCircle is how many files of a package may need each other: a reader holds no more at once.
const maxCircle = 4

func TestFilesOfAPackageNeedFewOthersInCircles(t *testing.T) {
	product, err := load("../../..")
	require.NoError(t, err)
	for _, c := range circles(product) {
		assert.LessOrEqual(t, len(c.files), maxCircle, "files that need each other: %s", c)
	}
}
