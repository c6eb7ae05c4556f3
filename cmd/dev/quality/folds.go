//go:build !tuning

package main

import (
	"fmt"
	"io"
)

// reportFolds writes that cross-validation was not run. It needs the build tag tuning, with which the ranking's
// parameters can be changed at run time.
func reportFolds(w io.Writer, _ []benchCase) {
	fmt.Fprint(w, "## Cross-validation\n\nNot run: build with `-tags tuning`.\n")
}
