//go:build !tuning

package main

import (
	"fmt"
	"io"
)

// reportFolds needs a build that can change the ranking's parameters.
func reportFolds(w io.Writer, _ []benchCase) {
	fmt.Fprint(w, "## Cross-validation\n\nNot run: build with `-tags tuning`.\n")
}
