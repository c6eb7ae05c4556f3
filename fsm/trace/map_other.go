//go:build !unix

package trace

import (
	"errors"
	"os"
)

// mapFile: without shared memory there are no notes, and the lines of a killed process'
// last batch are lost.
func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return nil }
